"""Texts that give orders, to a model that obeys them: nothing is changed, leaks, or is said unchecked.

Here a text for each place, kind and goal; `make soak` tries every one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent.hostile import Hostile
from tests.agent.obeyed import (
    EVERY,
    changes_nothing,
)


def spread() -> Iterator[tuple[int, Hostile]]:
    """Yield few texts that have each place, kind and goal among them, the one with most news first."""
    had: set[str] = set()

    def news(of: tuple[int, Hostile]) -> int:
        return len({of[1].place, of[1].kind, *of[1].goals} - had)

    while news(best := max(enumerate(EVERY), key=news)):
        had |= {best[1].place, best[1].kind, *best[1].goals}
        yield best


SOME = tuple(spread())
SEEN: dict[str, list[bool]] = {one.place: [] for one in EVERY}


@pytest.mark.parametrize(("number", "one"), SOME, ids=[one.id for _, one in SOME])
def test_a_model_that_obeys_a_hostile_text_changes_nothing(
    number: int, one: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    SEEN[one.place].append(changes_nothing(one, number, capsys))


def test_most_texts_reach_the_model_that_obeys_them() -> None:
    if not all(SEEN.values()):
        pytest.skip("it counts what the tests above saw, so it needs all of them")
    seen = [saw for place in SEEN.values() for saw in place]
    assert sum(seen) >= 0.6 * len(
        seen
    )  # of the encoded kinds as many are here as of the plain ones
