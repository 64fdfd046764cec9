"""Whether one line of ours bears a piece of a sentence: its words, in their order, turned as ours are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.agent.checking.clauses import denied
from bot.agent.checking.ground import Ground
from bot.agent.checking.phrase import Phrase
from bot.agent.checking.stems import alike, stem
from bot.agent.checking.turns import WHEN, WHY

_HYPOTHESIS = 0.6  # share of the words of an excluded hypothesis that a piece holds which denies it
_LEFT = frozenset({"all", "both", *WHY, "would"})  # turns of ours that a piece may leave out
_SENSES = frozenset({"can", "may", "would", "most", "both"})  # a figure is held to these apart
_OPEN = frozenset({"whether", "may"})
_FIRST = re.compile(r"[A-Za-z-][\w-]*")
_TITLED = re.compile(r"(?:risk|verify|to check)\b", re.IGNORECASE)


def bears(ground: Ground, said: Phrase) -> bool:
    """Say whether a line of ours says what a piece says.

    It holds all words of the piece in the order of the piece, but for those that tell when or where;
    nothing stands with them that turns them and that the piece leaves out, and the piece adds none.
    An excluded hypothesis is denied.
    """
    words = frozenset(said.words) - ground.meant
    if not words or not all(
        word in ground.stems or (word[0] == "#" and ground.tells(word)) for word in words
    ):
        return False
    if ground.kind == "excluded" and len(words) < _HYPOTHESIS * (len(ground.stems) - 1):
        return False
    if ground.kind == "open" and not said.turns & _OPEN and not said.denied:
        return False
    return any(_says(ground, said, run) for run in _runs(ground, said))


def _runs(ground: Ground, said: Phrase) -> Iterator[frozenset[int]]:
    """Yield the pieces of a line that hold the words, for each place at which they may begin."""
    held = [word for word in said.words if word in ground.stems or word[0] == "#"]
    fixed = _as_ours([word for word in held if word not in said.free] or held, ground)
    free = frozenset(n for word, n in ground.words if word in said.free)
    for start, (word, _) in enumerate(ground.words):
        if alike(fixed[0], word) and (run := _run(ground, fixed, start)):
            yield run | (frozenset() if run & free else free)


def _as_ours(words: list[str], ground: Ground) -> list[str]:
    """Return words in their order, two of them side by side in ours where they may change places."""
    for n in range(len(words) - 1):
        ours, swapped = (words[n], words[n + 1]), (words[n + 1], words[n])
        if swapped in ground.pairs and ours not in ground.pairs:
            words[n], words[n + 1] = words[n + 1], words[n]
    return words


def _run(ground: Ground, words: list[str], start: int) -> frozenset[int]:
    """Return the pieces of a line that hold the words in their order from a place on; none where it does not."""
    found: list[int] = []
    at = start
    for word in words:
        at = next((n for n in range(at, len(ground.words)) if alike(word, ground.words[n][0])), -1)
        if at < 0:
            return frozenset()
        found.append(at)
    run = frozenset(ground.words[n][1] for n in found)
    return frozenset() if _skips(ground, found) else run


def _skips(ground: Ground, found: list[int]) -> bool:
    """Say whether a number is left out before a word that is not: "10 % full" is not full."""
    last = {ground.words[n][1]: n for n in found}
    return any(
        word[0] == "#" and n not in found and n < last.get(unit, 0)
        for n, (word, unit) in enumerate(ground.words)
    )


def _says(ground: Ground, said: Phrase, run: frozenset[int]) -> bool:
    """Say whether the pieces of a line that hold the words say the same with them."""
    if (
        not said.measured
        and ground.part != "cost"
        and any(ground.units[n].said.shared for n in run)
    ):
        return False
    if ground.units[min(run)].joint == "goal" or not _one_subject(ground, said, run):
        return False
    if ground.kind == "todo" and not _steps(ground, said, run):
        return False
    *lenders, last = sorted(run)
    if len(said.pieces) < 2 and all(_begins(ground.units[n].said, said) for n in lenders):
        run = frozenset({last})  # the others lend it its subject
    ours = denied(" ".join(ground.units[n].said.text for n in sorted(run)))
    if said.denied != (ours != (ground.kind == "excluded")):
        return False
    return _turned_alike(ground, said, run)


def _turned_alike(ground: Ground, said: Phrase, run: frozenset[int]) -> bool:
    """Say whether the same turns both; a time or a condition of ours holds for the whole line."""
    held = [ground.units[n] for n in sorted(run)]
    marked = any(one.marked for one in held[1:])
    ours = frozenset[str]().union(
        *(one.said.turns for one in held), {one.joint for one in held[1:]}
    )
    asked = (
        WHEN if ground.kind == "todo" else WHEN - {"while", "idle"}
    )  # elsewhere it sets two facts side by side
    when = asked & frozenset[str]().union(*(one.said.turns | {one.joint} for one in ground.units))
    exempt = _SENSES if said.measured else frozenset[str]()
    if (ours - WHEN | when) - said.turns - _LEFT - exempt - {"add", "which"}:
        return False
    if marked and len(said.pieces) < 2 and not said.measured:
        return False
    exempt |= {"would"} if ground.kind == "todo" and _TITLED.match(ground.text) else set()
    return not said.turns - ours - when - exempt - (WHY if marked else frozenset())


def _begins(unit: Phrase, said: Phrase) -> bool:
    held = [word in said.words for word in unit.words]
    return held == sorted(held, reverse=True)


def _one_subject(ground: Ground, said: Phrase, run: frozenset[int]) -> bool:
    """Say whether a clause that is held by several pieces of a line leaves out the subject of none."""
    if len(said.pieces) > 1:
        return True
    known = frozenset(said.words)
    for n in range(min(run), max(run) + 1):
        unit = ground.units[n]
        label = unit.marked and frozenset(ground.units[n - 1].said.words) <= known  # "GPU 0: ..."
        if n in run and n != min(run) and not label and unit.said.words[0] not in known:
            return False
        known |= frozenset(unit.said.words)
    return True


def _steps(ground: Ground, said: Phrase, run: frozenset[int]) -> bool:
    """Say whether a piece takes a step as we do: it begins with our verb, or it says all that we say."""
    if _TITLED.match(ground.text):
        return not min(run) or "would" in said.turns
    unit = ground.units[min(run)].said
    begins, ours = _FIRST.search(said.text), _FIRST.search(unit.text)
    if begins and ours and stem(begins[0]) == stem(ours[0]) == unit.words[0]:
        return True
    return frozenset(unit.words) <= frozenset(said.words)
