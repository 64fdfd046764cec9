"""Where an understudy goes on: what had reached its goal is not done again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tools.change.keeper import _begin

NAMES: dict[str, Any] = {"__name__": "keeper"}
exec(compile(_begin({}).stdin.rpartition("print(")[0], "keeper", "exec"), NAMES)


def resumed(state: str, act: str | None, *, back: bool = False, failed: bool = False) -> list[Any]:
    """Return what is begun, and what is only written down."""
    book = {"act": act, "back": back, "failed": {"how": "other"} if failed else None}
    done: list[Any] = []
    heir = NAMES["Service"].__new__(NAMES["Service"])
    heir.change = SimpleNamespace(
        state=state, book=book, act=done.append, note=lambda **changed: done.append(changed)
    )
    heir.resume()
    return done


@pytest.mark.parametrize(
    ("act", "on", "reached"),
    [
        ("drain", "draining", "drained"),
        ("stop", "stopping", "stopped"),
        ("start", "starting", "ready"),
    ],
)
def test_an_act_is_begun_again_unless_it_was_done(act: str, on: str, reached: str) -> None:
    assert resumed(on, act) == [act]
    assert resumed(reached, act) == [{"act": None}], "a server that is ready would be started again"
    assert resumed(reached, None) == []


@pytest.mark.parametrize("state", ["stopped", "ready"])
def test_what_is_to_be_undone_is_undone_whatever_was_reached(state: str) -> None:
    assert resumed(state, "start", back=True) == ["restore"]
    assert resumed(state, "start", failed=True) == ["restore"]
    assert resumed("drained", "drain", back=True) == ["withdraw"]
    assert resumed("kept", "keep", back=True) == []
