"""The jobs: accepted runs are carried out, one at a time for each host; DBOS's only door."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable

from bot import queue
from bot.queue import APPLICATION_VERSION, JobsError
from bot.quiet import quieten
from bot.settings.people import Limits
from bot.settings.service import Service
from bot.store.database import IDLE_S
from bot.store.jobs_place import jobs_url
from bot.store.lock import Lock, hold
from bot.store.run import Run

__all__ = ["APPLICATION_VERSION", "POLL_S", "Jobs", "JobsError"]

POLL_S = 0.1  # measured: see docs/decisions/0007
_PAUSES_S = (2.0, 5.0, 15.0, 60.0)  # before a run that could not be carried out is tried again
_LOG = logging.getLogger("perfsleuth.jobs")

_live: Jobs | None = None


class Jobs:
    """One in a process. `carry_out` is called in a worker thread with the number of a run.

    It must stand being called again for the same run: after a crash, or when it raised. At most
    `limits.at_once` run at once in a process, and one for each host over all processes. Beyond
    that DBOS picks the hosts by chance; the runs of one host keep their order, also one whose replica
    died. All methods wait for the database: call them in a thread, never in an event loop.
    """

    def __init__(
        self,
        service: Service,
        limits: Limits,
        carry_out: Callable[[int], None],
        lock: Lock | None = None,
    ) -> None:
        self._service = service
        self._limits = limits
        self._carry_out = carry_out
        self._lock = lock  # of the executor's name, where it is held already
        self._running: set[int] = set()
        self._guard = threading.Lock()
        self._draining = threading.Event()
        self._launched = False

    def launch(self) -> None:
        """Begin to work, first on what a dead process of the same executor was doing.

        Raises StoreError where another live process has this executor's name or this file, and
        JobsError where the queue cannot be set up.
        """
        global _live  # DBOS itself is one in a process
        address = jobs_url(self._service.database_url)
        self._lock = self._lock or hold(self._service.database_url, self._service.executor)
        _live = self
        try:
            self._begin(address)
        except Exception as why:  # noqa: BLE001 - the library's own text holds the address, password and all
            self.close()
            raise JobsError(
                f"The queue of work cannot be set up ({type(why).__name__}): see that the user of the database "
                "may create a schema, or, for a file, that the disk is writable and not full."
            ) from None
        self._launched = True

    def _begin(self, address: str) -> None:
        from dbos import DBOS

        DBOS(
            config={
                "name": "perfsleuth",
                "system_database_url": address,
                "sys_db_pool_size": 8,
                "sys_db_idle_transaction_timeout_sec": float(IDLE_S),
                "executor_id": self._service.executor,
                "application_version": APPLICATION_VERSION,
                "enable_otlp": False,
                "log_level": "WARNING",
                "scheduler_polling_interval_sec": 3600.0,  # nothing is scheduled
            }
        )
        quieten("dbos")
        queue.workflow(_carried_out)
        DBOS.launch()
        DBOS.register_queue(
            queue.QUEUE,
            partition_concurrency=1,
            worker_concurrency=self._limits.at_once,
            polling_interval_sec=POLL_S,
            on_conflict="always_update",
        )

    def enqueue(self, run: Run) -> None:
        """Let it be carried out. The same run again changes nothing; raises JobsError."""
        self._put(run, queue.name_of(run))

    def reconcile(
        self,
        runs: Iterable[Run],
        works: Collection[str] = (APPLICATION_VERSION,),
        dead: Collection[str] = (),
    ) -> int:
        """Enqueue what was accepted and is not on its way, and return how many.

        Give it the open runs of the store, at the start and then each minute or so: it heals a crash
        between accepting and enqueueing, a lost queue, a run whose attempts all failed, and one that
        waits for an application version that is none of `works`. What is `dead` runs no more,
        whatever DBOS says of it. Raises JobsError.
        """
        put = 0
        for run in runs:
            if run.state not in ("waiting", "running"):
                continue
            if (name := queue.apart(queue.free_name, run, works, dead)) is not None:
                self._put(run, name)
                put += 1
        return put

    def take_over(self, executor: str, runs: Iterable[Run], works: Collection[str]) -> int:
        """Take from a dead replica what it was carrying out, and return how many pieces that were.

        They are put in again before they make room: else who waits behind them would go first. All
        open `runs` are reconciled on the way. Where the replica was only slow, two carry out one
        run, and the first that ends it has ended it: that is one statement in the store, together
        with what is said. Raises JobsError.
        """
        held = queue.apart(queue.held, executor)
        self.reconcile(runs, works, held)
        queue.apart(queue.cancel, held)
        return len(held)

    def tidy(self, older_than_s: float) -> int:
        """Remove the records of work that was over so long ago, and return how many; raises JobsError."""
        return queue.apart(queue.forget, time.time() - older_than_s)

    @property
    def alive(self) -> bool:
        """Say whether work is taken up."""
        return self._launched and not self._draining.is_set()

    @property
    def running(self) -> int:
        """Count what is being carried out in this process now."""
        with self._guard:
            return len(self._running)

    def drain(self, within_s: float) -> bool:
        """Take up no more work and wait for what runs. False: some still runs, and is cut short.

        What is cut short, and what waits, is carried out after the next start. A thread that still
        runs would hold the process up: end it with os._exit then.
        """
        from dbos import DBOS

        self._draining.set()
        if self._launched:
            self._launched = False
            DBOS.destroy(workflow_completion_timeout_sec=max(1, math.ceil(within_s)))
        return self.running == 0

    def close(self) -> None:
        """Stop at once and give the lock back; does nothing more where it was drained before."""
        global _live
        from dbos import DBOS

        self._draining.set()
        if _live is self:
            DBOS.destroy()
            _live = None
        self._launched = False
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _put(self, run: Run, name: str) -> None:
        queue.apart(queue.put, run, name, queue.workflow(_carried_out))

    def _work(self, run_id: int) -> None:
        with self._guard:
            self._running.add(run_id)
        try:
            for pause_s in (*_PAUSES_S, None):
                if self._tried(run_id):
                    return
                if pause_s is None or self._draining.wait(pause_s):
                    break
            # It ends as failed for DBOS and stays open in the store: reconcile puts it in again.
            raise JobsError(f"Run {run_id} was not carried out.")
        finally:
            with self._guard:
                self._running.discard(run_id)

    def _tried(self, run_id: int) -> bool:
        try:
            self._carry_out(run_id)
        except Exception as why:  # noqa: BLE001 - the text may hold what a host printed
            _LOG.error("run %d was not carried out: %s", run_id, type(why).__name__)
            return False
        return True


def _carried_out(run_id: int) -> None:
    if _live is not None:
        _live._work(run_id)
