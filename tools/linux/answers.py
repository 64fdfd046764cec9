"""Answers of our scripts on the host: JSON of a known shape, and Unreadable where it is another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tools.errors import Unreadable
from tools.probe import Facts, told

F = TypeVar("F", bound=Facts)


def read_answer(stdout: str, reading: Callable[[dict[str, Any]], F]) -> F:
    """Return what a reading makes of a script's answer.

    Raises Absent and Failed as the script says, and Unreadable for JSON of any other shape: what
    comes from a host, or from a pasted file, may be anything.
    """
    try:
        said = told(stdout)
        return reading(said)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError) as why:
        raise Unreadable(f"not the answer of this version's script ({type(why).__name__})") from why
