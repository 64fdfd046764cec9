"""What `compare --json` prints: one object, the two sides and how they differ."""

from __future__ import annotations

from typing import Any

from bot.comparing.both import Looked
from bot.narrator.why_faster import headline
from bot.report import SCHEMA, look
from tools.comparison import Comparison, Difference, Gap, Rate
from tools.comparison.gain import percents
from tools.physics.interval import Interval


def report(looked: tuple[Looked, Looked], question: str, told: Comparison | None) -> dict[str, Any]:
    """Return it as plain data. Changes are of the second against the first, in percent.

    `comparison` is null where a host could not be asked; `trouble` of that side says why.
    """
    return {
        "schema": SCHEMA,
        "question": question,
        "sides": [_side(one) for one in looked],
        "comparison": _comparison(told) if told else None,
    }


def _side(one: Looked) -> dict[str, Any]:
    verdict = one.end.verdict
    return {
        "name": one.given.name,
        "host": one.given.host,
        "trouble": one.trouble,
        "serves": str(one.end.deployment),
        "verdict": {
            "category": verdict.category,
            "cause": verdict.cause,
            "headline": verdict.headline,
            "confidence": verdict.confidence,
        },
        "evidence": [look(part) for part in one.end.evidence],
    }


def _comparison(told: Comparison) -> dict[str, Any]:
    gaps = [gap for gap in (told.decode, told.prefill) if gap]
    return {
        "headline": headline(told),
        "faster": _faster(told),
        "speed": [_rate(one) for one in told.rates],
        "gaps": [_gap(one) for one in gaps],
        "differences": [_difference(one, told) for one in told.differences],
        "on_both": [
            {"id": one.rule.cause.id, "statement": one.finding.statement} for one in told.shared
        ],
        "same": list(told.same),
        "not_seen": [list(names) for names in told.unseen],
        "not_comparable": told.why,
        "next_test": told.next_test or None,
    }


def _faster(told: Comparison) -> str | None:
    """Name who decodes faster; where decode does not part them, who reads cold prompts faster."""
    apart = next((gap for gap in (told.decode, told.prefill) if gap and gap.apart), None)
    if apart is None:
        return None
    return told.there.name if apart.second_is_faster else told.here.name


def _rate(one: Rate) -> dict[str, Any]:
    return {
        "name": one.name,
        "unit": one.unit,
        "values": [value and value.rounded(2) for value in (one.here, one.there)],
        "change_pct": _pct(one.gain),
        "apart": one.apart,
        "not_comparable": one.incomparable,
        "evidence": [list(ids) for ids in one.looks],
    }


def _gap(one: Gap) -> dict[str, Any]:
    return {
        "of": one.of,
        "running": one.running,
        "apart": one.apart,
        "change_pct": _pct(one.whole),
        "explained": [
            {"what": part.what, "points": one.points(gain).rounded()} for part, gain in one.parts
        ],
        "left_points": one.points(one.left).rounded(),
    }


def _difference(one: Difference, told: Comparison) -> dict[str, Any]:
    names = (told.here.name, told.there.name)
    return {
        "what": one.what,
        "group": one.group,
        "values": [one.here, one.there],
        "decode_pct": _pct(one.gain.decode) if one.gain else None,
        "prefill_pct": _pct(one.gain.prefill) if one.gain else None,
        "source": one.source,
        "cause": one.cause or None,
        "statement": one.statement,
        "found_on": None if one.ill is None else names[one.ill],
        "evidence": [list(ids) for ids in one.looks],
    }


def _pct(gain: Interval | None) -> Interval | None:
    return percents(gain).rounded() if gain else None
