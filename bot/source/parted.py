"""Flags that are not as they were asked, the ones that matter most first, and what set each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.source.ground import Ground
from bot.source.hurried import Following, Unfollowed
from bot.source.known import known_of
from bot.source.uncollected import uncollected
from tools.engine.source_tree import SourceTexts
from tools.errors import ToolsError
from tools.evidence import Evidence
from tools.knowledge.traps import traps_for
from tools.provenance.answer import FlagAnswer
from tools.provenance.explanation import Explanation
from tools.provenance.trapped import conditions_of
from tools.sglang.overrides import override_of
from tools.verdict import Verdict

SHOWN = 3  # flags that a verdict tells of
_WORTH = 2  # of a flag that is told: below it a value was merely filled in


@dataclass(frozen=True)
class Parted:
    """What set them: every flag that is not as it was asked, of which the first few are told in full.

    `look` is the evidence id of the source, and `unseen` what was not known of the launch. `unfollowed`
    says why there are none, where the source was not followed to its end.
    """

    flags: tuple[FlagAnswer, ...] = ()
    told: int = 0
    look: str = ""
    unseen: tuple[str, ...] = ()
    unfollowed: str = ""


def ground_in(looks: Sequence[Evidence], pause: Callable[[], None] | None = None) -> Ground | None:
    """Return source and launch as the looks hold them; None where they hold no source.

    Raises Absent where the command line was not seen.
    """
    look = source_in(looks)
    if look is None or not isinstance(look.facts, SourceTexts):
        return None
    texts = {
        path: data.decode("utf-8", errors="replace") for path, data in look.facts.contents.items()
    }
    return Ground(texts, known_of(looks), pause)


def source_in(looks: Sequence[Evidence]) -> Evidence | None:
    """Return the look that holds the parts of the source that can be followed again."""
    return next(
        (one for one in looks if isinstance(one.facts, SourceTexts) and one.facts.parts), None
    )


def parted(looks: Sequence[Evidence], verdict: Verdict) -> Parted | None:
    """Return what set the flags of a launch, or that there was no time to follow it.

    None where the looks do not hold what tells it.
    """
    look = source_in(looks)
    try:
        ground = ground_in(looks, Following())
        if look is None or ground is None:
            return None
        with uncollected():
            return _parted(ground, verdict, look.id)
    except Unfollowed as why:
        return Parted(unfollowed=str(why))
    except ToolsError:
        return None


def _parted(ground: Ground, verdict: Verdict, look: str) -> Parted:
    explanation = ground.explained()
    names = by_relevance(explanation, verdict)
    told = sum(_worth(name, explanation, verdict) >= _WORTH for name in names[:SHOWN])
    flags = [
        explanation.one(name) if place < told else explanation.brief(name)
        for place, name in enumerate(names)
    ]
    return Parted(tuple(flags), told, look, (*ground.unseen, *explanation.unseen))


def by_relevance(explanation: Explanation, verdict: Verdict) -> list[str]:
    """Return the fields that are not as they were asked; those that the verdict names come first."""
    names = explanation.changed()
    return sorted(names, key=lambda name: -_worth(name, explanation, verdict))


def _worth(name: str, explanation: Explanation, verdict: Verdict) -> int:
    found = explanation.resolution
    said = explanation.given.resolved or {}
    value = said.get(name, found.resolved.get(name))
    version = explanation.tree.version()
    trapped = traps_for((name,), version, conditions_of(explanation.given, found.resolved))
    worth = 3 * bool(trapped) + 3 * (name in found.passed) + 2 * isinstance(value, bool)
    worth += 2 * bool(override_of(name, version)) - 2 * (found.asked.get(name) is None)
    return worth + max(_named(name, verdict), default=0)


def _named(name: str, verdict: Verdict) -> Iterator[int]:
    """Yield how much a flag matters to what the verdict says."""
    flag = f"--{name.replace('_', '-')}"
    for place, one in enumerate((*verdict.findings, *verdict.asides)):
        said = " ".join((one.finding.statement, *one.finding.quotes))
        if name in said or flag in said:
            yield 8 if place == 0 else 4
