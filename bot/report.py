"""What `--json` prints: one object, the contract of schema 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.narrator import Explanation
from tools.evidence import Evidence
from tools.judgement import Confirmed, RuledOut, Unchecked
from tools.verdict import Verdict

if TYPE_CHECKING:
    from bot.source.parted import Parted

SCHEMA = 1
EXCERPT = 400  # characters of raw answer shown with each look


def report(
    host: str | None,
    question: str,
    verdict: Verdict,
    evidence: tuple[Evidence, ...],
    explanation: Explanation | None = None,
    parted: Parted | None = None,
) -> dict[str, Any]:
    """Return the report as plain data; `causes` are those that the verdict stands for.

    `explanation` and `ideas` are there only where a model was asked: no rule stands behind them.
    `provenance` is what explain-flag says of each flag that is not as it was asked.
    """
    open_findings = () if verdict.cause else verdict.findings
    return {
        "schema": SCHEMA,
        "host": host,
        "question": question,
        "verdict": {
            "category": verdict.category,
            "cause": verdict.cause,
            "headline": verdict.headline,
            "causes": [_cause(one) for one in verdict.findings] if verdict.cause else [],
            "ruled_out": [_ruled_out(one) for one in verdict.ruled_out],
            "unchecked": [_unchecked(one) for one in verdict.unchecked],
            "next_test": verdict.next_test,
            "claims": [
                {
                    "about": one.about,
                    "holds": one.holds,
                    "text": one.text,
                    "evidence": list(one.evidence),
                }
                for one in verdict.answers
            ],
            "asides": [_cause(one) for one in (*verdict.asides, *open_findings)],
            "headroom": verdict.headroom.as_json() if verdict.headroom else None,
            "provenance": [one.as_json() for one in parted.flags] if parted else [],
        },
        "evidence": [look(one) for one in evidence],
        **(_explained(explanation) if explanation else {}),
    }


def _explained(explanation: Explanation) -> dict[str, Any]:
    return {
        "explanation": [
            {"text": line.text, "evidence": list(line.cites)} for line in explanation.lines
        ],
        "ideas": [
            {"text": one.text, "test": one.test, "evidence": list(one.looks)}
            for one in explanation.ideas
        ],
        "remarks": list(explanation.remarks),
    }


def _cause(one: Confirmed) -> dict[str, Any]:
    finding, cause = one.finding, one.rule.cause
    return {
        "id": cause.id,
        "category": one.category,
        "confidence": finding.confidence,
        "statement": finding.statement,
        "evidence": list(one.evidence),
        "effect": {
            "decode_pct": finding.effect.decode_pct,
            "prefill_pct": finding.effect.prefill_pct,
        },
        "remedy": list(finding.remedy or cause.remedy),
        "risk": finding.risk or cause.risk,
        "verify": finding.verify or cause.verify,
    }


def _ruled_out(one: RuledOut) -> dict[str, Any]:
    return {
        "id": one.rule.cause.id,
        "why": one.why or f"Not so: {one.rule.hypothesis}",
        "evidence": list(one.evidence),
    }


def _unchecked(one: Unchecked) -> dict[str, Any]:
    return {"id": one.rule.cause.id, "why": one.why, "how": one.how}


def look(one: Evidence) -> dict[str, Any]:
    """Return one look as plain data: what was asked, the trouble with it, how its answer begins."""
    text = one.output.stdout if one.output else ""
    return {
        "id": one.id,
        "probe": one.title,
        "source": one.source,
        "trouble": one.trouble,
        "excerpt": text[:EXCERPT] + ("…" if len(text) > EXCERPT else ""),
    }
