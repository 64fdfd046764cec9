"""The state machine: from an approval to an end that is known, taken up again wherever it was left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from bot.experiment.books import Approved, Books, Held, Overtaken, Unwritten
from bot.experiment.course import Course, Diverted
from bot.experiment.diary import Diary, Tell
from bot.experiment.effects import firmer, told, void
from bot.experiment.fate import Fate, Nobody
from bot.experiment.hands import Hands, Keeper
from bot.experiment.judging import judged
from bot.experiment.record import Measured, Phase, Record
from tools.change import State, Status, keeper
from tools.errors import HostError, ToolsError

_LOG = logging.getLogger("perfsleuth.experiment")
POLL_S = 1.0  # between two looks at the keeper
_RETRY_S = (0.5, 1.0, 2.0, 5.0, 10.0)  # before a host that does not answer is asked again
_ALIVE: tuple[State, ...] = (
    "armed", "draining", "drained", "stopping", "stopped", "starting", "ready",
)  # fmt: skip
_BEFORE: tuple[State, ...] = _ALIVE[:3]  # the old server was not touched
_DECIDED: frozenset[Phase] = frozenset({"keeping", "restoring", "withdrawing"})


class NotApproved(ToolsError):
    """Nothing that a person approved stands behind this run."""


class Experiment:
    """Carries experiments out. `carry_out` may be called again at any moment: it looks first.

    `tell` is told each step; `stopped` returns who asked for an end, or nothing. `sleep` waits.
    """

    def __init__(
        self,
        books: Books,
        hands: Hands,
        *,
        tell: Tell = lambda _step: None,
        stopped: Callable[[], str | None] = lambda: None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        poll_s: float = POLL_S,
    ) -> None:
        self._books, self._hands, self._stopped = books, hands, stopped
        self._now, self._sleep, self._poll_s = now, sleep, poll_s
        self._diary = Diary(books, tell, now, sleep)
        self._fate = Fate(hands, self._diary, now)
        self._course = Course(hands, self._diary, self._fate, stopped, sleep, poll_s)
        self._phases: Mapping[Phase, Callable[[Record, Keeper], Record]] = {
            "approved": self._approved,
            "arming": self._arming,
            "before": self._before,
            "draining": self._draining,
            "stopping": self._stopping,
            "starting": self._starting,
            "verifying": self._verifying,
            "after": self._after,
            "keeping": self._keeping,
            "restoring": self._restoring,
            "withdrawing": self._withdrawing,
        }

    def carry_out(self, run: int, *, hurry: str = "") -> Record:
        """Bring it to its end and return it. `hurry` is a reason to take it back at once.

        Raises NotApproved, Held, Overtaken, and what the books raise: then nothing more was done,
        and the host itself brings the old server back when it hears nothing for long enough.
        """
        record = self._taken_up(run)
        self._diary.again(record)
        if hurry and not record.over and record.phase not in _DECIDED:
            record = self._course.back(record, hurry)
        tries = 0
        while not record.over:
            before = record.phase
            try:
                record = self._next(record)
            except (Held, Overtaken, Unwritten):
                raise
            except keeper.Held as why:
                raise Overtaken(str(why)) from None
            except ToolsError as why:  # the host does not answer, or in a way that nobody foresaw
                if not (tries == 0 and self._stopped()):  # a stop cuts what is being asked
                    record = self._fate.unanswered(record, str(why))
                self._sleep(min(_RETRY_S[min(tries, len(_RETRY_S) - 1)], 10 * self._poll_s))
                tries += 1
            else:
                tries = 0 if record.phase != before else tries
        self._leave(record)
        return record

    def give_up(self, run: int, reason: str) -> Record:
        """Leave it to a person, and to the host, which brings the old server back by itself."""
        record = self._taken_up(run)
        if record.over:
            return record
        return self._diary.to(record, "needs_person", reason, ill=True, reason=reason)

    def _next(self, record: Record) -> Record:
        try:
            return self._phases[record.phase](record, self._hands.keeper(record))
        except Diverted as turn:
            return turn.record
        except Nobody:
            return self._fate.of_nobody(record, self._sleep)

    def _taken_up(self, run: int) -> Record:
        approved = self._books.approved(run)
        if approved is None or approved.digest != approved.proposal.digest:
            what = "was edited since it was approved" if approved else "is not approved"
            raise NotApproved(f"This change {what}: propose it again, nothing was done.")
        proposal = approved.proposal
        fence = self._books.take(proposal.host, proposal.port, run)
        record = self._books.load(run) or self._new(run, approved)
        return record.model_copy(update={"fence": fence})

    def _new(self, run: int, approved: Approved) -> Record:
        name = f"run-{run}-{approved.digest[:12]}"
        now = self._now()
        return Record(
            run=run, name=name, fence=0, proposal=approved.proposal, began_at=now, phase_at=now
        )

    def _leave(self, record: Record) -> None:
        """Send the keeper away, once its end is written down, and give the lease back."""
        try:
            if record.phase != "needs_person":
                self._hands.keeper(record).dismiss()
        except ToolsError as why:
            _LOG.info(
                "the keeper of run %d was not dismissed, it leaves by itself: %s", record.run, why
            )
        self._books.give_back(record.proposal.host, record.proposal.port, record.run)

    # What is done in each phase. The phase is written; the act looks first.

    def _approved(self, record: Record, _hand: Keeper) -> Record:
        longest_s, silence_s = (
            self._hands.longest_s(record.proposal),
            record.proposal.bounds.silence_s,
        )
        if longest_s >= silence_s:
            reason = (
                f"One run of the load may take {longest_s:.0f} s, and after {silence_s:.0f} s of silence the host would"
                " take the change back: propose it with a longer silence."
            )
            return self._diary.to(record, "withdrawn", reason, ill=True, reason=reason)
        return self._diary.to(record, "arming")

    def _arming(self, record: Record, hand: Keeper) -> Record:
        self._course.stop_if_asked(record)
        try:
            status = hand.begin(record.proposal, record.name, record.fence)
        except HostError:
            raise
        except ToolsError as why:
            reason = str(why)
            return self._diary.to(record, "withdrawn", reason, ill=True, reason=reason)
        status = self._course.until(record, hand, {"armed"}, status=status)
        return self._diary.to(record, "before", "It is the server that was approved.", seen=status)

    def _before(self, record: Record, hand: Keeper) -> Record:
        self._course.until(record, hand, {"armed"})
        values = tuple(self._hands.effects(record))
        found = self._course.measured(record, hand)
        if found.trouble:
            reason = f"The server as it is could not be measured: {found.trouble}."
            return self._diary.to(
                record, "withdrawing", reason, ill=True, before=found, reason=reason
            )
        said = f"{found.runs} runs, after one that warmed it up."
        return self._diary.to(record, "draining", said, before=found, proofs=values)

    def _draining(self, record: Record, hand: Keeper) -> Record:
        bound_s = record.proposal.bounds.drain_s
        acts: dict[State, Callable[[], Status]] = {"armed": lambda: hand.drain(bound_s)}
        running = self._course.until(record, hand, {"drained"}, acts).running_requests
        said = (
            f"{running} requests still run after {bound_s:.0f} s."
            if running
            else "No request runs."
        )
        return self._diary.to(record, "stopping", said)

    def _stopping(self, record: Record, hand: Keeper) -> Record:
        wanted: set[State] = {"stopped", "starting", "ready"}
        self._course.until(record, hand, wanted, dict.fromkeys(_BEFORE, hand.stop))
        return self._diary.to(record, "starting", "The old server has ended.")

    def _starting(self, record: Record, hand: Keeper) -> Record:
        status = self._course.until(record, hand, {"ready"}, {"stopped": hand.start})
        took = f" after {_seconds(status.ready_after_s)}" if status.ready_after_s else ""
        return self._diary.to(record, "verifying", f"It answers{took}.", seen=status,
                              ready_after_s=status.ready_after_s)  # fmt: skip

    def _verifying(self, record: Record, hand: Keeper) -> Record:
        self._course.until(record, hand, {"ready"})
        proofs = tuple(self._hands.effects(record))
        if reason := void(proofs):
            return self._course.back(record, reason, proofs=proofs)
        said = "; ".join(told(one) for one in proofs if one.effective)
        said = (
            f"It did: {said}." if said else "Nothing on the host tells it; the command line does."
        )
        return self._diary.to(record, "after", said, proofs=proofs)

    def _after(self, record: Record, hand: Keeper) -> Record:
        found = self._course.measured(record, hand)
        record = record.model_copy(update={"after": found})
        if not found.trouble:
            proofs = firmer(record.proofs, self._hands.effects(record))
            record = record.model_copy(update={"proofs": proofs})
        if reason := void(record.proofs):
            return self._course.back(record, reason)
        verdict = judged(record.proposal.keep, record.before or Measured(), found)
        if verdict.kept:
            return self._diary.to(record, "keeping", verdict.why, judged=verdict)
        return self._diary.to(record, "restoring", verdict.why, judged=verdict, reason=verdict.why)

    def _keeping(self, record: Record, hand: Keeper) -> Record:
        status = self._course.until(record, hand, {"kept"}, {"ready": hand.keep}, stops=False)
        return self._fate.ended(record, status)

    def _restoring(self, record: Record, hand: Keeper) -> Record:
        acts = dict.fromkeys(_ALIVE, hand.restore)
        status = self._course.until(record, hand, {"restored", "lost"}, acts, stops=False)
        return self._fate.ended(record, status)

    def _withdrawing(self, record: Record, hand: Keeper) -> Record:
        acts = dict.fromkeys(_BEFORE, hand.withdraw)
        status = self._course.until(record, hand, {"withdrawn"}, acts, stops=False)
        return self._fate.ended(record, status)


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
