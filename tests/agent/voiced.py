"""What must hold of an evaluation with a scripted voice, over some cases or over all."""

from __future__ import annotations

from bot.evaluate import AGENT, PLAYBOOK, Evaluation
from bot.evaluation import Summary

HONEST_KEPT = 0.8  # of the sentences of whoever retells; half of a dozen may be too much at once


def changes_no_verdict(made: Evaluation) -> None:
    """Assert that the voice turned nothing, whatever it said."""
    sums = Summary.of(made.ways[AGENT])
    assert made.turned_wrong() == []
    assert sums.category == Summary.of(made.ways[PLAYBOOK]).category
    assert sums.turns == 3 * sums.cases


def is_believed(made: Evaluation) -> None:
    """Assert that most of what it said was told, and within what an investigation may take."""
    sums = Summary.of(made.ways[AGENT])
    assert sums.kept >= HONEST_KEPT * (sums.kept + sums.dropped)
    for row in made.ways[AGENT]:
        assert row.spent.tokens_in <= 15_000, row.case
        assert row.spent.tokens_out <= 1_500, row.case


def is_caught(made: Evaluation) -> None:
    """Assert that nothing of what it said was told."""
    assert [row.case for row in made.ways[AGENT] if row.kept] == []
    assert all(row.dropped >= 5 for row in made.ways[AGENT])
