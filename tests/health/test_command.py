"""A sweep by hand says what it could not ask, of one host as of many."""

from __future__ import annotations

import pytest

from bot.health import command
from tools.errors import Unreachable


@pytest.fixture(autouse=True)
def nobody_answers(monkeypatch, tmp_path):
    hosts = tmp_path / "hosts.toml"
    hosts.write_text("")
    monkeypatch.setenv("PERFSLEUTH_HOSTS", str(hosts))

    def away(name, settings):
        raise Unreachable(f"{name} cannot be reached: No route to host")

    monkeypatch.setattr(command, "reach", away)


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        (["CT1"], "CT1 could not be asked: CT1 cannot be reached: No route to host"),
        (["CT1", "CT2"], "None of the 2 hosts could be asked: CT"),
    ],
)
def test_who_could_not_be_asked_is_counted_in_words(hosts, said, capsys):
    with pytest.raises(Unreachable) as raised:
        command.health(hosts, as_json=False)
    assert str(raised.value).startswith(said)
    told = capsys.readouterr().out
    assert told.count("CT1 cannot be reached") == len(
        hosts
    )  # in a table, and below it; of one once
    assert "new" not in told.lower()
