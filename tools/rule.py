"""A rule: one hypothesis, what it needs to know, and how it is judged.

The annotations of a rule's parameters are its needs: `links: PciLinks` must be there, `log:
ServerLog | None` is used if it is there. Facts of one type from several looks come merged. The
docstring's first line is the hypothesis, shown to people as it is. A rule returns a Finding
(confirmed), returns Cleared or None (ruled out, with or without words of its own), or raises
Undecided (unchecked, with the reason).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tools.knowledge import CAUSES, Category, Cause
from tools.physics.slower_link import INPUT_ALONE, SOURCE, decode_loss_pct, prefill_loss_pct
from tools.probe import Facts

Aspect = Literal["decode", "prefill", "ttft", "tail", "throughput", "start", "crash"]
Interval = tuple[float, float, float]  # low, middle, high


@dataclass(frozen=True)
class Effect:
    """What a cause costs, in percent of the rate; negative is a loss. `source` says where from.

    Where model, GPUs and load are known, the step model's price goes before it, unless it was
    `measured` on this very server. `times_slower` is for that price: how many times slower than it
    should be the link between the GPUs was found.
    """

    decode_pct: Interval | None = None
    prefill_pct: Interval | None = None
    source: str = ""
    measured: bool = False
    times_slower: float | None = None

    @classmethod
    def of_slow_link(cls, times_slower: float, tp: int | None) -> Effect:
        """Return the rule of thumb for a link `times_slower` than it should be, `tp` GPUs in a group.

        It is empty where `tp` is not known.
        """
        if not tp:
            return cls()
        if tp == 1:
            return cls(*INPUT_ALONE, "one GPU: input and loading alone")
        return cls(
            decode_loss_pct(times_slower),
            prefill_loss_pct(times_slower),
            SOURCE,
            times_slower=times_slower,
        )


@dataclass(frozen=True)
class Where:
    """Of the looks that gave facts of one type, those alone that hold something.

    Facts of a type come merged from several looks; a look under load proves what one at rest does
    not, so a finding may name the looks that count: `Where(gpus, lambda look: bool(look.busy()))`.
    """

    facts: Facts
    holds: Callable[[Any], bool]


Shown = Facts | Where


@dataclass(frozen=True)
class Finding:
    """A hypothesis that the facts confirm.

    `shown_by` are the facts that show it (evidence ids follow from them; empty means all that the
    rule was given). `slows` are the aspects of serving that it explains. What is left empty of
    category, remedy, risk and verify is taken from the catalogue of causes. `benign` marks what is
    true and costs nothing: a false alarm explained, or an oddity. `quotes` are lines of raw
    evidence. `confidence` is 0 to 1: .9 a look that proves, .7 strong, .5 leaning.
    """

    statement: str
    shown_by: tuple[Shown, ...] = ()
    confidence: float = 0.8
    slows: frozenset[Aspect] = frozenset()
    effect: Effect = field(default_factory=Effect)
    category: Category | None = None
    remedy: tuple[str, ...] = ()
    risk: str = ""
    verify: str = ""
    quotes: tuple[str, ...] = ()
    benign: bool = False


@dataclass(frozen=True)
class Cleared:
    """A hypothesis that the facts exclude, with what excludes it in a few words.

    `why` completes "not the cause: ..." ("P2P works between all pairs and NCCL uses it"). `tested`
    are the aspects of serving that somebody measured with and without it, and found the same: that
    weighs more than what facts suggest.
    """

    why: str
    shown_by: tuple[Shown, ...] = ()
    tested: frozenset[Aspect] = frozenset()


Outcome = Finding | Cleared | None


@dataclass(frozen=True)
class Need:
    """One parameter of a rule: which facts, and whether it can do without them."""

    name: str
    facts: type[Facts]
    optional: bool


@dataclass(frozen=True)
class Rule:
    """A hypothesis with its cause in the catalogue, its needs, and the function that judges it."""

    cause: Cause
    hypothesis: str
    needs: tuple[Need, ...]
    judge: Callable[..., Outcome]

    @cached_property
    def required(self) -> tuple[Need, ...]:
        """Return the needs that it cannot do without."""
        return tuple(need for need in self.needs if not need.optional)

    @property
    def name(self) -> str:
        """Name the rule by its function."""
        return getattr(self.judge, "__name__", repr(self.judge))


def rule(*, cause: str) -> Callable[[Callable[..., Outcome]], Rule]:
    """Make a rule of a function; `cause` is an id of the catalogue."""

    def make(judge: Callable[..., Outcome]) -> Rule:
        hints = get_type_hints(judge)
        hints.pop("return", None)
        doc = (judge.__doc__ or "").strip().splitlines()
        if not doc:
            raise TypeError(f"rule {judge} needs a docstring: its first line is the hypothesis")
        needs = tuple(_need(name, hint) for name, hint in hints.items())
        if all(need.optional for need in needs):
            raise TypeError(f"rule {judge} needs at least one kind of facts that must be there")
        return Rule(CAUSES[cause], doc[0], needs, judge)

    return make


def _need(name: str, hint: object) -> Need:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    facts = [kind for kind in kinds if kind is not NoneType]
    if len(facts) != 1 or not (isinstance(facts[0], type) and issubclass(facts[0], Facts)):
        raise TypeError(
            f"parameter {name} must be annotated with Facts or Facts | None, not {hint}"
        )
    return Need(name, facts[0], optional=NoneType in kinds)
