"""What the host's state means for an experiment: its end, a turn of its course, or nobody who could tell."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from bot.experiment.diary import Diary
from bot.experiment.hands import Hands, Keeper
from bot.experiment.record import UNTOUCHED, Phase, Record
from tools.change import ENDED, Identity, State, Status, Trouble
from tools.errors import ToolsError

NOBODY_S = 8.0  # the understudy takes over within a second or two; then nobody is there
PATIENCE_S = (
    1800.0  # that a host may be away beyond what its keeper needs to bring the old server back
)
_LINES = 12
_OLD_RUNS = "The old command line and environment run again, and the server answers."


class Nobody(Exception):
    """No keeper answers on a host that does."""


class Fate:
    """Remembers since when a host, or its keeper, has been silent."""

    def __init__(
        self,
        hands: Hands,
        diary: Diary,
        now: Callable[[], float],
        *,
        nobody_s: float = NOBODY_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._hands, self._diary, self._now = hands, diary, now
        self._nobody_s, self._patience_s = nobody_s, patience_s
        self._nobody_since: float | None = None
        self._away_since: float | None = None

    def elsewhere(
        self, record: Record, status: Status, keeper: Keeper, wanted: Collection[State]
    ) -> Record | None:
        """Return where the course goes on, when the host has gone another way; None: it has not."""
        self._nobody_since = self._away_since = None
        if status.state in wanted and status.state in ENDED:
            return None
        if status.state in ENDED:
            return self.ended(record, status)
        if record.phase in ("restoring", "withdrawing"):
            return None
        if status.state == "restoring" or status.trouble:
            reason = (
                status.trouble.sentence if status.trouble else "The host takes it back by itself."
            )
            return self._turned(record, reason, status.trouble, keeper)
        if status.state == "ready" and status.new and status.new.healthy is False:
            return self._turned(record, "The new server no longer answers.", None, keeper)
        return None

    def _turned(
        self, record: Record, reason: str, trouble: Trouble | None, keeper: Keeper
    ) -> Record:
        phase: Phase = "withdrawing" if record.phase in UNTOUCHED else "restoring"
        log: tuple[str, ...] = ()
        if phase == "restoring":
            try:
                log = tuple(keeper.log(_LINES))
            except ToolsError:
                log = ()  # the sentence stands without it
        return self._diary.to(
            record, phase, reason, ill=True, reason=reason, trouble=trouble, log=log
        )

    def ended(self, record: Record, status: Status) -> Record:
        """Write the end that the keeper tells."""
        trouble = record.trouble or status.trouble
        reason = record.reason or (status.trouble.sentence if status.trouble else "")
        changes: dict[str, Any] = {"seen": status, "trouble": trouble, "reason": reason}
        if status.state == "kept":
            return self._diary.to(record, "kept", "The new command line stays.", **changes)
        if status.state == "withdrawn":
            said = reason or "The server was not touched."
            return self._diary.to(record, "withdrawn", said, **changes)
        if status.state == "restored":
            said = _OLD_RUNS if record.reason else f"{reason} {_OLD_RUNS}".strip()
            return self._diary.to(record, "restored", said, **changes)
        said = status.trouble.sentence if status.trouble else "Neither server could be brought up."
        return self._diary.to(record, "needs_person", said, ill=True, **changes)

    def of_nobody(self, record: Record, sleep: Callable[[float], None]) -> Record:
        """Look at the server itself, once it is certain that no keeper will answer."""
        now = self._now()
        self._nobody_since = self._nobody_since or now
        if now - self._nobody_since < self._nobody_s:
            sleep(min(1.0, self._nobody_s / 4))
            return record
        return self._seen_alone(record, self._hands.running(record.proposal))

    def _seen_alone(self, record: Record, runs: Identity | None) -> Record:
        approved = record.proposal.identity
        if runs is not None and runs.digest == approved.digest:
            same = (runs.pid, runs.started_ticks) == (approved.pid, approved.started_ticks)
            reason = record.reason or "The keeper on the host is gone, I do not know why."
            if same:
                said = f"{reason} The server was not touched."
                return self._diary.to(record, "withdrawn", said, ill=True, reason=reason)
            return self._diary.to(
                record, "restored", f"{reason} {_OLD_RUNS}", ill=True, reason=reason
            )
        meant = record.seen.new.digest if record.seen and record.seen.new else None
        if runs is not None and runs.digest == meant and record.phase == "keeping":
            return self._diary.to(record, "kept", "The new command line runs.")
        return self._diary.to(record, "needs_person", _what_runs(runs, approved), ill=True)

    def unanswered(self, record: Record, why: str) -> Record:
        """The host does not answer: be patient, and then tell what is certain."""
        now, bounds = self._now(), record.proposal.bounds
        if self._away_since is None:
            self._away_since = now
            self._diary.progress(record, "the host does not answer, I ask again and again")
        away_s = now - self._away_since
        if record.phase in UNTOUCHED:
            if away_s < bounds.silence_s:
                return record
            reason = f"The host does not answer: {why.rstrip('.')}. The server was not touched."
            return self._diary.to(record, "withdrawn", reason, ill=True, reason=reason)
        itself_s = bounds.silence_s + bounds.stop_s + bounds.ready_s
        if away_s < itself_s + self._patience_s:
            return record
        said = (
            f"The host has not answered for {away_s / 60:.0f} minutes ({why.rstrip('.')}). By itself it brings the"
            f" old server back {bounds.silence_s:.0f} s after it last heard of me."
        )
        return self._diary.to(record, "needs_person", said, ill=True, reason=record.reason or said)


def _what_runs(runs: Identity | None, approved: Identity) -> str:
    gone = "The keeper on the host is gone, I do not know why."
    if runs is None:
        return f"{gone} No server has the port."
    if runs.boot_id != approved.boot_id:
        return f"The host was rebooted meanwhile; process {runs.pid} has the port now."
    return f"{gone} Process {runs.pid} has the port, and it is not the old command line."
