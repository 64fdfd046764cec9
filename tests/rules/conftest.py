"""How a rule is tried: give it facts, in any order; what is not given is not known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.probe import Facts
from tools.rule import Outcome, Rule

Judged = Callable[..., Outcome]


@pytest.fixture
def judged() -> Judged:
    def judge(one: Rule, *known: Facts) -> Outcome:
        given = {need.name: _of(need.facts, known) for need in one.needs}
        lacking = [n.name for n in one.needs if not n.optional and given[n.name] is None]
        assert not lacking, f"the rule needs {lacking}"
        return one.judge(**given)

    return judge


def _of(kind: type[Facts], known: tuple[Facts, ...]) -> Facts | None:
    return next((facts for facts in known if type(facts) is kind), None)
