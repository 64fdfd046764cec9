"""Carries out what was accepted, in a worker thread: it goes on after a restart and always ends in a letter."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time

from bot import log
from bot.approvals import Approvals
from bot.audience import Audience
from bot.experiment.on_host import OnHost
from bot.health.sweep import Gate, open_gate
from bot.letter import Attached
from bot.reach import reach
from bot.settings import Settings
from bot.store import Run, Store, StoreError
from bot.traces import span
from bot.work import told
from bot.work.agents import agents_of
from bot.work.campaigns import Campaigns
from bot.work.content import Content
from bot.work.ends import End, Ends
from bot.work.experiments import Experiments, OnIt
from bot.work.fetched import Fetch, nothing
from bot.work.files import Files
from bot.work.first_replies import FirstReplies
from bot.work.followups import Followups
from bot.work.helping import Helping
from bot.work.hosts import Hosts, Names, Reach
from bot.work.offering import Offering
from bot.work.plans import Plans
from bot.work.proposals import Anew, Proposals
from bot.work.stops import Stops
from bot.work.sweeps import Sweeps
from bot.work.turn import Turn
from bot.work.watching import Watching
from tools.errors import ToolsError
from tools.host import Host

RESTARTS = 5  # a run that ended the process that often is not begun once more
# An experiment takes back what it did, however often; a sweep goes on where it was.
_RESTARTS = {"experiment": 1 << 30, "sweep": 20}
_LOG = logging.getLogger("perfsleuth.work")


def _unnamed(_user: str) -> str:
    return ""


class Work:
    """All that needs time. `carry_out` may be called again for the same run, at any moment.

    `host_of` reaches a host by its name, `fetch` brings the files of a message, `names` tells what
    people call a user, `on_host` gives a host into the hands of an experiment. `enqueue` takes the
    follow-ups that waited for a run; it is set once there are jobs. `announced_s` is how long work
    waits at most for first replies, in its thread and in others.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        audience: Audience,
        host_of: Reach = reach,
        *,
        fetch: Fetch = nothing,
        names: Names = _unnamed,
        announced_s: float = 0.0,
        on_host: OnIt = OnHost,
        through: Gate = open_gate,
    ) -> None:
        self._store = store
        self._first_replies = FirstReplies(store, announced_s)
        self._ends = Ends(store, audience)
        self._content = Content(store, settings)
        self._turn = Turn()
        stops = Stops(store)
        fetching = self._turn.fetching(fetch)

        def asked(name: str, known: Settings) -> Host:
            return self._turn.asking(host_of(name, known))

        agents = agents_of(settings, store)
        approvals = Approvals(store, names, time)
        offering = Offering(store, settings, audience, self._ends, stops, asked, names, approvals)
        hosts = Hosts(
            store, settings, audience, self._ends, stops, asked, names, agents, self._turn.another
        )
        followups = Followups(
            store, settings, self._ends, stops, asked, names, agents, self._turn.another
        )
        sweeps = Sweeps(store, settings, self._ends, asked, self._turn, through=through)
        watching = Watching(store, settings, audience, asked, self._turn, through)
        self.helping = Helping(sweeps.help, watching.look)
        self._kinds = {
            "sweep": sweeps.carry_out,
            "host": hosts.carry_out,
            "files": Files(store, settings, audience, self._ends, fetching).carry_out,
            "followup": followups.carry_out,
            "plan": Plans(offering, settings.hosts).carry_out,
            "campaign": Campaigns(
                store, settings, audience, self._ends, stops, asked, names
            ).carry_out,
            "proposal": Proposals(offering, store).carry_out,
            "experiment": Experiments(
                store,
                settings,
                audience,
                self._ends,
                stops,
                asked,
                names,
                self._turn.another,
                anew=Anew(store, lambda run: self._ends.enqueue(run)),
                on_host=on_host,
            ).carry_out,
        }

    @property
    def enqueue(self) -> Callable[[Run], None]:
        """Take a run that may begin now."""
        return self._ends.enqueue

    @enqueue.setter
    def enqueue(self, enqueue: Callable[[Run], None]) -> None:
        self._ends.enqueue = enqueue

    def carry_out(self, run_id: int) -> None:
        """Do one run to its end. Raises StoreError where even its end cannot be written."""
        self._first_replies.wait()
        with self._turn.mine():
            self._carry_out(run_id)

    def _carry_out(self, run_id: int) -> None:
        run = self._store.runs.begin(run_id)
        if run is None:
            return  # it has ended, or waits for another
        if run.restarts >= _RESTARTS.get(run.kind, RESTARTS):
            self._fail(
                run, "I began this several times, and each time it ended me. I leave it now."
            )
            return
        try:
            with log.of_run(run.id), span(run.kind, run=run.id, host=run.host or ""):
                self._kinds[run.kind](run)
        except StoreError:
            raise
        except ToolsError as why:
            self._fail(run, str(why))
        except Exception as why:  # noqa: BLE001 - a person waits: whatever happened, the thread gets its end
            kind = type(why).__name__
            _LOG.error(
                "run %d fell over %s", run.id, kind, exc_info=_LOG.isEnabledFor(logging.DEBUG)
            )
            self._fail(run, f"A fault of mine ended this ({kind}). My log has the place.")

    def content(self, attached: Attached) -> bytes | None:
        """Return the bytes of a file that a letter carries; None where there are none."""
        with self._turn.mine():
            return self._content.of(attached)

    def _fail(self, run: Run, sentence: str) -> None:
        again = "Please ask again, or tell whoever runs me."
        self._ends.end(
            run, lambda one: End(one, "failed", [told.trouble_letter(one, sentence, again)])
        )
