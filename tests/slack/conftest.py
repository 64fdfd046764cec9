"""What all tests of Slack share: a busy machine answers late, and that is not what they ask about."""

from __future__ import annotations

import pytest

from bot.slack.reception import perf


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a command take its time: after 3 s Slack would show an error, so that the bot gives up before."""
    assert perf.WITHIN_S < 3.0
    monkeypatch.setattr(perf, "WITHIN_S", 60.0)
