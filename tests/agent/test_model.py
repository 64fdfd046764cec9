"""A model is asked over real HTTP: what is sent, what comes back, and who is asked next."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.agent.agent import Agent
from bot.agent.asking.endpoint import same_server
from bot.agent.asking.model import Models
from bot.agent.asking.reply import Call, Said
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble
from bot.settings import ModelSettings, Settings
from tests.fakes.models import (
    DOWN,
    HANGS,
    LONG_CONTEXT,
    Answer,
    Asked,
    FakeModel,
    calls,
    fails,
    says,
)

ROOT = Path(__file__).parents[2]
LOOK = {
    "type": "function",
    "function": {
        "name": "ReadGpus",
        "description": "Read the GPUs.",
        "parameters": {"type": "object", "properties": {"lines": {"type": "integer"}}},
    },
}


def of(*fakes: FakeModel, **more: Any) -> list[ModelSettings]:
    return [
        ModelSettings(name=f"openai:fake-{n}", base_url=fake.base_url, **{"timeout_s": 10, **more})
        for n, fake in enumerate(fakes)
    ]


def models(*fakes: FakeModel, environ: dict[str, str] | None = None, **more: Any) -> Models:
    return Models(of(*fakes, **more), Spending(), environ or {})


@pytest.fixture
def silent() -> Iterator[FakeModel]:
    with FakeModel(HANGS) as fake:
        yield fake


def test_a_conversation_with_tools_goes_there_and_back_whole() -> None:
    with FakeModel(
        [calls(("ReadGpus", {"lines": 3}), ("ReadGpus", {"lines": 4})), "Done."]
    ) as fake:
        asks = models(fake)
        first = asks.ask("You plan.", [Said("user", "Why? 为什么 \ud800")], [LOOK])
        assert [(call.name, call.args) for call in first.calls] == [
            ("ReadGpus", {"lines": 3}),
            ("ReadGpus", {"lines": 4}),
        ]
        assert (first.finish, first.bad, first.model) == ("tool_calls", (), "openai:fake-0")
        answers = [Said("tool", "two GPUs", call_id=call.id) for call in first.calls]
        said = [Said("user", "Why?"), Said("assistant", "", first.calls), *answers]
        assert asks.ask("You plan.", said, [LOOK]).text == "Done."
    body = fake.asked[1].body
    assert [message["role"] for message in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    ids = [call["id"] for call in body["messages"][2]["tool_calls"]]
    assert (
        ids
        == [message["tool_call_id"] for message in body["messages"][3:]]
        == [call.id for call in first.calls]
    )
    assert json.loads(body["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {"lines": 3}
    assert (body["stream"], body["max_tokens"], body["temperature"]) == (False, 1500, 0)
    assert fake.asked[0].path == "/v1/chat/completions"
    assert fake.asked[0].tools == ["ReadGpus"]
    assert fake.asked[0].last == "Why? 为什么 ?"


def test_ids_of_calls_never_repeat_in_a_conversation() -> None:
    with FakeModel(calls(("ReadGpus", {}))) as fake:
        asks = models(fake)
        ids = [asks.ask("s", [Said("user", "x")], [LOOK]).calls[0].id for _ in range(3)]
    assert len(set(ids)) == 3


def test_the_answer_is_as_short_as_asked_and_never_longer_than_set() -> None:
    with FakeModel() as fake:
        asks = models(fake, max_output_tokens=900)
        asks.ask("s", [Said("user", "x")], max_output_tokens=100)
        asks.ask("s", [Said("user", "x")], max_output_tokens=5000)
    assert [asked.body["max_tokens"] for asked in fake.asked] == [100, 900]


def test_what_only_one_kind_of_server_knows_is_sent_as_it_is() -> None:
    with FakeModel() as fake:
        models(
            fake, extra={"chat_template_kwargs": {"enable_thinking": False}}, temperature=0.6
        ).ask("s", [Said("user", "x")])
    assert fake.asked[0].body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (fake.asked[0].body["temperature"], fake.asked[0].body["max_tokens"]) == (0.6, 1500)


def test_a_key_of_the_environment_goes_to_its_own_server_alone() -> None:
    environ = {"MY_KEY": " key-of-mine ", "OPENAI_API_KEY": "key-of-openai"}
    with FakeModel() as own, FakeModel() as other:
        models(own, key="MY_KEY", environ=environ).ask("s", [Said("user", "x")])
        models(other, environ=environ).ask("s", [Said("user", "x")])
    assert own.asked[0].headers["Authorization"] == "Bearer key-of-mine"
    assert other.asked[0].headers["Authorization"] == "Bearer none"


@pytest.mark.parametrize("name", ["openai:gpt-x", "anthropic:claude-x"])
def test_a_key_that_is_not_set_is_asked_for_by_name(name: str) -> None:
    with pytest.raises(ModelTrouble, match=r"needs its key: set (OPENAI|ANTHROPIC)_API_KEY\.$"):
        Models([ModelSettings(name=name)], Spending(), {}).ask("s", [Said("user", "x")])
    with pytest.raises(ModelTrouble, match=r"needs its key: set THE_KEY\.$"):
        Models([ModelSettings(name=name, key="THE_KEY")], Spending(), {"THE_KEY": " "}).ask(
            "s", [Said("user", "x")]
        )


def test_a_key_that_is_no_key_is_not_repeated() -> None:
    one = ModelSettings(name="openai:x", key="THE_KEY", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelTrouble) as why:
        Models([one], Spending(), {"THE_KEY": "schlüssel\nx"}).ask("s", [Said("user", "x")])
    assert "THE_KEY" in str(why.value)
    assert "schl" not in str(why.value)


def test_the_first_model_that_answers_is_used_and_one_that_is_away_is_left_alone() -> None:
    with FakeModel(DOWN) as away, FakeModel("I answer.") as there:
        asks = models(away, there)
        assert [asks.ask("s", [Said("user", "x")]).model for _ in range(2)] == ["openai:fake-1"] * 2
    assert len(away.asked) == 3  # the library's tries, for the first question alone


def test_all_models_of_a_process_share_what_is_known_of_one_that_is_away() -> None:
    with FakeModel(fails(401)) as away:
        agent = Agent.of(Settings(models=tuple(of(away))), {})
        assert agent is not None
        for _ in range(3):
            with pytest.raises(ModelTrouble, match="refused the key"):
                agent.on("").models.ask("s", [Said("user", "x")])
    assert len(away.asked) == 1


def test_without_a_model_there_is_no_agent() -> None:
    assert Agent.of(Settings(), {}) is None


def test_where_none_answers_each_reason_is_told_in_one_sentence(silent: FakeModel) -> None:
    with FakeModel(DOWN) as down:
        one = [
            *of(down),
            ModelSettings(name="openai:slow", base_url=silent.base_url, timeout_s=0.3),
        ]
        with pytest.raises(ModelTrouble) as why:
            Models(one, Spending(), {}).ask("s", [Said("user", "x")])
    assert str(why.value) == (
        "No model answers: openai:fake-0 is in trouble itself (HTTP 500); openai:slow did not answer in time (0.3 s)."
    )
    assert why.value.away


def test_a_text_too_long_for_one_model_goes_to_the_next() -> None:
    with FakeModel(LONG_CONTEXT) as small, FakeModel("I had room.") as large:
        asks = models(small, large)
        assert [asks.ask("s", [Said("user", "x")]).text for _ in range(2)] == ["I had room."] * 2
    assert len(small.asked) == 2  # it is not away: a shorter text may fit


def test_the_server_under_diagnosis_is_asked_gently() -> None:
    together, release = threading.Barrier(2), threading.Event()

    def slow(asked: Asked) -> Answer:
        release.wait(0.2)
        return Answer(hang_s=0.05)

    with FakeModel(slow) as fake:
        asks = Models(
            of(fake, max_output_tokens=4000, temperature=1.0),
            Spending(),
            {},
            diagnosed=(("CT129", "127.0.0.1"), fake.port),
        )
        assert "at most 800 tokens" in asks.notice

        def ask() -> None:
            together.wait()
            asks.ask("s", [Said("user", "x")])

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert fake.at_once == 1
    assert [(asked.body["max_tokens"], asked.body["temperature"]) for asked in fake.asked] == [
        (800, 0)
    ] * 2


def test_another_server_is_asked_as_set_and_nothing_is_said_of_it() -> None:
    with FakeModel() as fake:
        asks = Models(
            of(fake, max_output_tokens=4000), Spending(), {}, diagnosed=(("CT129",), 30000)
        )
        assert asks.notice == ""
        asks.ask("s", [Said("user", "x")])
    assert fake.asked[0].body["max_tokens"] == 4000


@pytest.mark.parametrize(
    ("address", "host", "port", "same"),
    [
        ("http://ct129:30000/v1", "CT129", 30000, True),
        ("http://ct129:30000/v1", "root@ct129", 30000, True),
        ("http://ct129:30000/v1", "CT129", None, True),
        ("http://ct129:30000/v1", "CT129", 30001, False),
        ("http://ct129.invalid/v1", "ct129.invalid", 80, True),
        ("https://ct129.invalid/v1", "ct129.invalid", 443, True),
        ("http://[::1]:30000/v1", "[::1]", 30000, True),
        ("http://127.0.0.1:30000/v1", "localhost", 30000, True),
        ("http://10.0.0.1:30000/v1", "10.0.0.2", 30000, False),
        (None, "CT129", 30000, False),
        ("http://ct129:30000/v1", "", None, False),
    ],
)
def test_an_address_leads_to_a_host_by_name_or_by_number(
    address: str | None, host: str, port: int | None, same: bool
) -> None:
    assert same_server(address, host, port) is same


def test_an_alias_of_ssh_is_known_by_the_address_behind_it(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host ct129\n  HostName 127.0.0.1\n")
    with FakeModel() as fake:
        settings = Settings.model_validate(
            {"hosts": {"CT129": {"ssh": "ct129", "ssh_config": config}}, "models": of(fake)}
        )
        agent = Agent.of(settings, {})
        assert agent is not None
        assert agent.on("CT129", fake.port).models.notice
        assert not agent.on("CT129", fake.port + 1).models.notice
        assert not agent.on("CT130.invalid", fake.port).models.notice


def imported(script: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}\nprint(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name.split(".")[0] for name in done.stdout.split()}


ASKING = """
from bot.agent.asking.model import Models
from bot.agent.asking.reply import Said
from bot.agent.asking.trouble import ModelTrouble
from bot.agent.asking.spending import Spending
from bot.settings import ModelSettings
try:
    Models([ModelSettings(name="{}:x", base_url="http://127.0.0.1:9/v1", timeout_s=60)], Spending(), {{}}).ask("s", [Said("user", "x")])
except ModelTrouble as why:
    assert "cannot be reached" in str(why), why
"""


@pytest.mark.parametrize(
    ("provider", "wanted", "other"),
    [
        ("openai", "langchain_openai", "langchain_anthropic"),
        ("anthropic", "langchain_anthropic", "langchain_openai"),
    ],
)
def test_only_the_configured_provider_is_imported(provider: str, wanted: str, other: str) -> None:
    found = imported(ASKING.format(provider))
    assert wanted in found
    assert not found & {other, other.removeprefix("langchain_"), "langgraph"}


def test_nothing_of_langchain_is_imported_before_a_question_is_asked() -> None:
    found = imported("import bot.agent.agent, bot.agent.asking.check")
    assert not {
        name
        for name in found
        if name.startswith("langchain") or name in ("openai", "anthropic", "langsmith")
    }


def test_only_one_file_imports_langchain() -> None:
    doors = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "bot").rglob("*.py"))
        if any(
            word in path.read_text(encoding="utf-8")
            for word in ("import langchain", "from langchain", "from langsmith")
        )
    ]
    assert doors == ["bot/agent/asking/model.py"]


def test_a_provider_that_is_unknown_or_not_installed_is_one_sentence() -> None:
    for name, says_ in (
        ("nobody:x", "LangChain knows the provider nobody"),
        ("groq:x", "LangChain's package for groq"),
    ):
        with pytest.raises(ModelTrouble, match=says_):
            Models([ModelSettings(name=name)], Spending(), {}).ask("s", [Said("user", "x")])


def test_nothing_goes_elsewhere_though_the_environment_asks_for_it() -> None:
    with FakeModel("Yes.") as fake, socket.create_server(("127.0.0.1", 0)) as elsewhere:
        away = f"http://127.0.0.1:{elsewhere.getsockname()[1]}"
        environ = {
            **os.environ,
            **dict.fromkeys(("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"), "true"),
            **dict.fromkeys(("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"), away),
            **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), away),
            "LANGSMITH_API_KEY": "k",
        }
        script = ASKING.format("openai").replace("127.0.0.1:9", f"127.0.0.1:{fake.port}")
        # A tracer sends from a thread of its own, some time after.
        script += "\nimport time; time.sleep(1.5)\nimport os; os._exit(0)"
        subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environ, check=True)
        assert len(fake.asked) == 1
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_anthropic_is_asked_in_its_own_way() -> None:
    with FakeModel(
        [calls(("ReadGpus", {"lines": 3}), text="I look."), says("Half a", "length")],
        anthropic=True,
    ) as fake:
        one = ModelSettings(
            name="anthropic:claude-x", base_url=fake.base_url, key="THE_KEY", timeout_s=10
        )
        asks = Models([one], Spending(), {"THE_KEY": "key-of-mine"})
        first = asks.ask("You plan.", [Said("user", "Why?")], [LOOK], max_output_tokens=300)
        assert (first.text, first.calls) == (
            "I look.",
            (Call("ReadGpus", {"lines": 3}, first.calls[0].id),),
        )
        assert first.tokens_in > 0
        said = [
            Said("user", "Why?"),
            Said("assistant", first.text, first.calls),
            Said("tool", "2", call_id=first.calls[0].id),
        ]
        assert asks.ask("You plan.", said, [LOOK]).finish == "length"
    assert fake.asked[0].headers["Authorization"] == "Bearer key-of-mine"
    assert fake.asked[0].system == "You plan."
    assert fake.asked[0].body["max_tokens"] == 300
    assert fake.asked[1].body["messages"][-1]["content"][0]["tool_use_id"] == first.calls[0].id


def test_an_error_of_anthropic_is_one_sentence_without_the_key() -> None:
    with FakeModel(fails(401, "invalid x-api-key: key-of-mine"), anthropic=True) as fake:
        one = ModelSettings(
            name="anthropic:claude-x", base_url=fake.base_url, key="THE_KEY", timeout_s=10
        )
        with pytest.raises(ModelTrouble) as why:
            Models([one], Spending(), {"THE_KEY": "key-of-mine"}).ask("s", [Said("user", "x")])
    assert str(why.value) == "anthropic:claude-x refused the key: correct THE_KEY."
