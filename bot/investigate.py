"""The one loop: plan, ask, judge. It yields what happens, so that anybody can watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from bot.narrator import title
from bot.planner import Planner
from bot.question import Question
from tools.deployment import Deployment
from tools.engine import Claim
from tools.errors import ToolsError
from tools.evidence import AnyProbe, Evidence, ask
from tools.host import STOPPED, Host
from tools.known import Known
from tools.physics.headroom import headroom
from tools.probes import PROBES
from tools.probes.source_texts import ReadSourceTexts
from tools.rules import RULES
from tools.side_by_side import side_by_side
from tools.verdict import Verdict, judge

if TYPE_CHECKING:
    from bot.source.look import SourceLook
    from bot.source.parted import Parted

ROUNDS = 12  # of the playbook two or three, and of a model as many as it has turns
BOUND_S = 120.0


@dataclass(frozen=True)
class Asking:
    """A round of probes is about to be put to the host."""

    probes: tuple[AnyProbe, ...]


@dataclass(frozen=True)
class Learned:
    """One look came back."""

    look: Evidence


@dataclass(frozen=True)
class Judged:
    """The end: what is served on what, all looks, and the verdict.

    `parted` says what set the flags that are not as they were asked, where the looks hold the source
    and it was followed (`with_source`), which takes a second or two.
    """

    deployment: Deployment
    evidence: tuple[Evidence, ...]
    verdict: Verdict
    parted: Parted | None = None

    def with_source(self, unfollowed: str = "") -> Judged:
        """Return it with what the engine's source says, as far as the looks hold it.

        `unfollowed` says why they do not, where following it took too long.
        """
        from bot.source.parted import Parted, parted

        if unfollowed:
            return replace(self, parted=Parted(unfollowed=unfollowed))
        return replace(self, parted=parted(self.evidence, self.verdict))


@dataclass(frozen=True)
class Noted:
    """A sentence about how it goes, for whoever watches; it is no evidence.

    `probe` is the look beyond the playbook that brought no answer, where it is about one.
    """

    text: str
    probe: AnyProbe | None = None


Event = Asking | Learned | Noted | Judged


def _never() -> bool:
    return False


def investigate(
    question: Question,
    planner: Planner,
    host: Host,
    *,
    known: Sequence[Evidence] = (),
    bound_s: float = BOUND_S,
    stopped: Callable[[], bool] = _never,
    source: SourceLook | None = None,
) -> Iterator[Event]:
    """Ask until the planner knows enough or the bounds are reached, then judge all that was learned.

    `known` looks are not asked again. `stopped` is looked at between rounds; who stops a round that
    is under way closes the host as well. What a stop lost was never seen, and so is no look. With
    `source`, the engine's source is one more look, as soon as it is known what the server runs with.
    """
    evidence, started = list(known), monotonic()
    for _ in range(ROUNDS):
        if stopped() or monotonic() - started > bound_s:
            break
        if source is not None and source.due(evidence):
            yield from _of_source(source, question, host, evidence)
        probes = planner.next(question, evidence)
        yield from map(Noted, planner.remarks())
        if not probes:
            break
        yield Asking(tuple(probes))
        told = ask(host, probes, after=len(evidence))
        looks = _answered(told, len(evidence), beyond=planner.beyond)
        evidence += looks
        yield from map(Learned, looks)
        if planner.beyond:
            yield from _lost(told)
        elif all(look.output is None or look.output.lost for look in looks):
            break  # nobody answers; asking more would only make the person wait
    if source is not None and not stopped() and source.due(evidence, over=True):
        yield from _of_source(source, question, host, evidence)
    end = conclude(question, evidence)
    yield end.with_source(source.unfollowed) if source is not None else end


def _of_source(
    source: SourceLook, question: Question, host: Host, evidence: list[Evidence]
) -> Iterator[Event]:
    """Take the source, which is added to the evidence; where it cannot be had, say so."""
    yield Asking((ReadSourceTexts(),))
    try:
        look = source.take(host, evidence, conclude(question, evidence).verdict)
    except ToolsError as why:
        if STOPPED not in str(why):
            text = str(why).rstrip(".")
            yield Noted(f"Which lines of the engine's source set its flags is not told: {text}.")
        return
    evidence.append(look)
    yield Learned(look)


def _answered(looks: Sequence[Evidence], after: int, *, beyond: bool) -> list[Evidence]:
    """Return the looks that count: one beyond the playbook that brought no answer is none."""
    kept = [
        look for look in looks if not _lost_of(look) or not (beyond or _lost_of(look) == STOPPED)
    ]
    return [replace(look, id=f"E{number}") for number, look in enumerate(kept, start=after + 1)]


def _lost_of(look: Evidence) -> str:
    return look.output.lost if look.output else ""


def _lost(looks: Sequence[Evidence]) -> Iterator[Noted]:
    """Say which looks beyond the playbook brought no answer."""
    for look in looks:
        if (why := _lost_of(look)) and why != STOPPED:
            what = f"{title(look.probe)}: no answer ({why.rstrip('.')})"
            yield Noted(f"{what}. The verdict does without it.", look.probe)


def conclude(question: Question, looks: Sequence[Evidence]) -> Judged:
    """Judge what is known, for this question; rates that the person claims are a look like any other."""
    evidence = [*looks, *_claim(question, len(looks) + 1)]
    if together := side_by_side(looks):
        evidence.append(
            Evidence(f"E{len(evidence) + 1}", None, "the benchmarks side by side", None, together)
        )
    known = Known(evidence)
    measured = headroom(known.of_serving().get, claimed_tok_s=question.before_tok_s)
    verdict = judge(evidence, RULES, PROBES, question.interest, measured)
    return Judged(Deployment.of(known), tuple(evidence), verdict)


def _claim(question: Question, number: int) -> list[Evidence]:
    claim = Claim(
        now_tok_s=question.now_tok_s,
        before_tok_s=question.before_tok_s,
        in_parallel=question.in_parallel,
        for_each=question.for_each,
    )
    if claim == Claim(for_each=question.for_each):
        return []
    return [Evidence(f"E{number}", None, "the question", None, claim)]
