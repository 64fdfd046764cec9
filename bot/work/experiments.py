"""An approved change is carried out: the machine does it, the thread watches, the end is told in letters."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from bot.audience import Audience
from bot.experiment.books import Held, Overtaken, Unwritten
from bot.experiment.hands import Hands
from bot.experiment.machine import POLL_S, Experiment, NotApproved
from bot.experiment.on_host import OnHost
from bot.experiment.record import Record
from bot.experiment.result import headline, picture, result
from bot.letter import Attached, Letter
from bot.settings import Settings
from bot.store import Run, Store, StoreError
from bot.store.run import RunState
from bot.work import told
from bot.work.ends import End, Ends
from bot.work.hosts import Names, Reach
from bot.work.stops import Stops
from tools.change import Proposal
from tools.host import Host

Anew = Callable[[Run, Proposal], Sequence[Letter]]
OnIt = Callable[[Host], Hands]
MOST_RESTARTS = 5  # then it is taken back, for what it does may be what ends the process
_TOO_OFTEN = "I was restarted too often while I was at it, so it is taken back."
_BY_ITSELF = (
    "The host brings the old server back by itself when it hears nothing of me for long enough."
)
_LOG = logging.getLogger("perfsleuth.work")


def _nothing_anew(_run: Run, _proposal: Proposal) -> Sequence[Letter]:
    return ()


class Experiments:
    """Carries out runs of kind experiment. Each may be begun again at any moment.

    `poll_s` lies between two looks at the keeper. `anew` makes the letters that propose a change
    again, where the host changed since its approval.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        audience: Audience,
        ends: Ends,
        stops: Stops,
        host_of: Reach,
        names: Names,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
        *,
        anew: Anew = _nothing_anew,
        on_host: OnIt = OnHost,
        poll_s: float = POLL_S,
    ) -> None:
        self._store, self._settings = store, settings
        self._audience, self._ends, self._stops = audience, ends, stops
        self._host_of, self._names = host_of, names
        self._meanwhile, self._anew = meanwhile, anew
        self._on_host, self._poll_s = on_host, poll_s

    def carry_out(self, run: Run) -> None:
        """Do it, and tell its end. Raises StoreError where the books cannot be written now."""
        host = self._host_of(run.host or "", self._settings)
        hands = self._on_host(host)
        self._audience.began(run, len(self._store.experiments.said(run.id)))
        try:
            with self._stops.watching(run.id, hands) as watch:
                record = self._done(run, hands, lambda: watch.by and self._name(watch.by))
        except Overtaken as why:
            _LOG.warning("run %d: %s", run.id, why)
            return
        except (Held, NotApproved) as why:
            said = str(why)
            self._ends.end(
                run, lambda one: End(one, "failed", [told.trouble_letter(one, said, again=False)])
            )
            return
        finally:
            host.close()
        self._ends.end(run, lambda one: self._end(one, record))

    def _done(self, run: Run, hands: Hands, stopped: Callable[[], str | None]) -> Record:
        machine = Experiment(
            self._store.experiments,
            hands,
            tell=lambda step: self._audience.tell(run, step),
            stopped=stopped,
            sleep=self._sleep,
            poll_s=self._poll_s,
        )
        hurry = _TOO_OFTEN if run.restarts >= MOST_RESTARTS else ""
        try:
            return machine.carry_out(run.id, hurry=hurry)
        except Unwritten as unwritten:
            raise unwritten.why from None
        except (Held, Overtaken, NotApproved, StoreError):
            raise
        except Exception as why:  # noqa: BLE001 - whatever it was, a server may stand still: bring the old one back
            kind = type(why).__name__
            _LOG.error(
                "run %d fell over %s", run.id, kind, exc_info=_LOG.isEnabledFor(logging.DEBUG)
            )
        reason = f"A fault of mine ended it ({kind})."
        try:
            return machine.carry_out(run.id, hurry=reason)
        except Unwritten as unwritten:
            raise unwritten.why from None
        except (Held, Overtaken, NotApproved, StoreError):
            raise
        except Exception as why:  # noqa: BLE001 - the same, and it cannot be taken back by us
            _LOG.error("run %d fell over %s again", run.id, type(why).__name__)
            return machine.give_up(run.id, f"{reason} {_BY_ITSELF}")

    def _sleep(self, seconds: float) -> None:
        with self._meanwhile():
            time.sleep(seconds)

    def _name(self, user: str) -> str:
        return self._names(user) or user

    def _end(self, run: Run, record: Record) -> End:
        letters = [_result_letter(run, record)]
        if chart := _chart_letter(run, record):
            letters.append(chart)
        if record.trouble and record.trouble.kind == "host_changed":
            letters += self._anew(run, record.proposal)
        return End(run, _state(record), letters, record.phase, headline(record))


def _state(record: Record) -> RunState:
    if record.phase == "needs_person":
        return "failed"
    return "stopped" if record.stop_by else "done"


def _result_letter(run: Run, record: Record) -> Letter:
    return Letter(
        key=f"run:{run.id}:verdict",
        kind="verdict",
        channel=run.channel,
        thread=run.thread,
        run=run.id,
        parts=tuple(result(record)),
    )


def _chart_letter(run: Run, record: Record) -> Letter | None:
    shown = picture(record)
    if shown is None:
        return None
    title, alt = shown
    attached = Attached(
        kind="chart",
        run=run.id,
        name=f"{run.host}-run{run.id}-before-after.png",
        title=title,
        alt=alt,
    )
    return told.file_letter(run, attached, f"run:{run.id}:chart")
