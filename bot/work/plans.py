"""A plan is made: the host is looked at, and the few changes that may be approved as one are shown; or why none."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import ValidationError

from bot.letter import Letter
from bot.narrator import Line
from bot.proposal import NotPossible
from bot.store import Run
from bot.tuning.planning import NothingHelps, plan_for
from bot.tuning.tuning import Tuning
from bot.work import told
from bot.work.offering import UNREAD, Offering

_STOPPED = "Stopped: nothing is planned, and nothing was changed."


class Plans:
    """Carries out runs of kind plan; `hosts` are the names that are known."""

    def __init__(self, offering: Offering, hosts: Collection[str]) -> None:
        self._offering, self._hosts = offering, tuple(hosts)

    def carry_out(self, run: Run) -> None:
        """Look, and tell what is planned; that nothing is predicted to help is an end like any other."""
        try:
            tuning = Tuning.model_validate_json(run.message)
        except ValidationError:
            self._offering.end(run, [_said(run, UNREAD)])
            return
        try:
            plan = self._offering.made(
                run, lambda host, scope, tell: plan_for(host, tuning, scope, self._hosts, tell)
            )
        except NothingHelps as why:
            self._offering.end(run, [_said(run, why.sentence, why.left_out)])
        except NotPossible as why:
            self._offering.end(run, [_said(run, str(why))])
        else:
            if plan is None:
                self._offering.stopped(run, _STOPPED)
            else:
                self._offering.show(run, plan, self._offering.card)


def _said(run: Run, text: str, left_out: Sequence[tuple[str, str]] = ()) -> Letter:
    whys = [Line("item", f"{name}: {why.rstrip('.')}.") for name, why in left_out]
    heading = [Line("heading", "Not tried")] if whys else []
    return told.answer_letter(run, [Line("verdict", text), *heading, *whys])
