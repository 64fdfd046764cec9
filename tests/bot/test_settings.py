"""hosts.toml: what cannot be used is named with its place, in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.question import Question
from bot.settings import SettingsError, load


def read(folder: Path, text: str) -> str:
    path = folder / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as why:
        load({"PERFSLEUTH_HOSTS": str(path)})
    return str(why.value).removeprefix(f"{path}: ").removeprefix(f"{path} ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hosts = 3", "[hosts] must be a table."),
        ("[hosts]\nx = 3", "[hosts.x] must be a table."),
        ("[host.x]\nlocal = true", "host is unknown here: a host is [hosts.NAME]."),
        ("[hosts.x]\nlogs = 'x'", "[hosts.x]: logs is unknown here"),
        ("[access]\nask = 'U1'", "[access]: ask must be a list."),
        ("[hosts.ct]\n[hosts.CT]", "ct and CT are one name: case makes no difference."),
        ("[hosts.x]\nport = 70000", "[hosts.x]: port: "),
        ("[hosts.x]\nlog = '-rf'", "[hosts.x]: log: must be a whole path on the host, from / on."),
        (
            '[hosts.x]\nlog = "/a\\u0000b"',
            "[hosts.x]: log: must be one line of text, and not empty.",
        ),
        ("[hosts.x]\nsource = 'sglang'", "[hosts.x]: source: must be a whole path"),
        ('[hosts.x]\npython = "a\\nb"', "[hosts.x]: python: must be one line of text"),
        ("[hosts.x]\nssh = ''", "[hosts.x]: ssh: must be one line of text"),
        ("a = " + "[" * 5000, "is no valid TOML: "),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    said = read(tmp_path, text)
    assert says in said
    assert len(said.splitlines()) == 1


def test_a_port_that_none_can_have_is_no_port() -> None:
    assert Question.of("is ct129:99999 slow?").port is None
    assert Question.of("is ct129:30000 slow?").port == 30000


def test_a_rate_that_none_can_have_is_no_rate_and_a_long_question_costs_no_time() -> None:
    asked = Question.of("it does " + "9" * 400 + " tok/s. " + "1" * 100_000)
    assert asked.now_tok_s is None
    assert len(asked.text) <= 4000
