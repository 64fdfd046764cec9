"""Over the wire nothing is read that was not asked for: no redirect, no flood, no drip, no other role."""

from __future__ import annotations

import gzip
import json
import threading
import time
from typing import Any

import pytest

from bot.agent.asking.model import Models
from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble
from bot.agent.asking.wire import LONGEST
from bot.settings import ModelSettings
from tests.fakes.models import Answer, FakeModel, says


def ask(model: FakeModel, provider: str = "openai", timeout_s: float = 10) -> Reply:
    one = ModelSettings(
        name=f"{provider}:fake", base_url=model.base_url, key="THE_KEY", timeout_s=timeout_s
    )
    return Models([one], Spending(), {"THE_KEY": "sk-none"}).ask("s", [Said("user", "x")])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_redirect_leads_the_question_nowhere(provider: str, status: int) -> None:
    theirs = provider == "anthropic"
    with FakeModel("Yes.", anthropic=theirs) as elsewhere:
        leads = Answer("", status, headers={"Location": f"{elsewhere.base_url}/x"})
        said = rf"sends the request elsewhere \(HTTP {status}"
        with (
            FakeModel(leads, anthropic=theirs) as model,
            pytest.raises(ModelTrouble, match=said),
        ):
            ask(model, provider)
        assert elsewhere.asked == []
        assert len(model.asked) == 1


def body(text: str) -> bytes:
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**whole, "choices": [{"index": 0, **says(text)}]}).encode()


@pytest.mark.parametrize("flood", [
    Answer(body("x" * LONGEST)),
    Answer(gzip.compress(body("x" * LONGEST)), headers={"Content-Encoding": "gzip"}),
])  # fmt: skip
def test_a_flood_is_not_read_to_its_end_however_it_is_packed(flood: Answer) -> None:
    with FakeModel(flood) as model, pytest.raises(ModelTrouble, match="no answer of a model"):
        ask(model)
    assert model.asked[0].headers["Accept-Encoding"] == "identity"


def test_what_drips_is_left_and_its_thread_ends() -> None:
    before = set(threading.enumerate())
    with FakeModel(Answer(body("x" * 900), drip_s=0.1)) as model:
        with pytest.raises(ModelTrouble, match="did not answer in time"):
            ask(model, timeout_s=0.5)
        end = time.monotonic() + 60  # all of it would drip for longer
        while time.monotonic() < end and any(
            one.name == "model" for one in set(threading.enumerate()) - before
        ):
            time.sleep(0.05)
        left = {one.name for one in set(threading.enumerate()) - before}
        assert "model" not in left


@pytest.mark.parametrize("role", ["user", "system"])
def test_an_answer_in_another_role_is_none(role: str) -> None:
    said: dict[str, Any] = says("I am you.")
    said["message"]["role"] = role
    with FakeModel(said) as model:
        reply = ask(model)
    assert (reply.text, reply.calls) == ("", ())
    assert reply.bad
