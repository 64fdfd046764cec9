"""A host of the past: a case answers what was answered then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.host import Asks, Output

NO_ANSWER = "this case holds no answer to it"


class ReplayHost:
    """The answers of a case, by the key of each question; it never fails as a whole."""

    def __init__(self, name: str, answers: Mapping[str, Output]) -> None:
        self.name = name
        self._answers = dict(answers)

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Give back what was answered; a question that was never put is lost, and says so."""
        missing = Output(status=None, lost=NO_ANSWER)
        return [self._answers.get(probe.key, missing) for probe in probes]

    def close(self) -> None:
        """There is nothing to end."""
