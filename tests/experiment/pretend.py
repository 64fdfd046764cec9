"""A host with a keeper and books, both in memory, on a clock that nobody waits for; each can be made to fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bot.experiment.books import Approved, Held, Overtaken, Said
from bot.experiment.hands import Run
from bot.experiment.record import Proof, Record
from tools.change import (
    Bounds,
    Change,
    Edit,
    Identity,
    KeepRule,
    Proposal,
    Server,
    State,
    Status,
    Trouble,
)
from tools.errors import ToolsError, Unreachable

OLD, NEW = "0" * 64, "1" * 64
START_S = 5.0
STEP = "step with one stream, ms"


def proposal(**more: object) -> Proposal:
    """Return a change of one flag on a host that nobody has."""
    told: dict[str, object] = {
        "host": "CT129",
        "port": 30000,
        "engine": "sglang",
        "version": "0.5.23",
        "model": "tiny",
        "change": Change(unset=("max_running_requests",)),
        "identity": Identity(pid=10, started_ticks=1, boot_id="boot", digest=OLD),
        "launcher": "plain",
        "old": ("python", "-m", "sglang.launch_server", "--max-running-requests", "2"),
        "new": ("python", "-m", "sglang.launch_server"),
        "edits": (Edit(drop=("--max-running-requests",)),),
        "repeats": 3,
        "keep": KeepRule(),
        "bounds": Bounds(drain_s=20, stop_s=5, ready_s=30, silence_s=30, whole_s=600),
        "undo": "The old command line is started again.",
    }
    return Proposal.model_validate(told | more)


class Killed(BaseException):
    """The bot's process is gone, at this very place."""


class Clock:
    """Seconds that pass when somebody waits."""

    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0
        self.passed: list[Callable[[], None]] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        for one in self.passed:
            one()


@dataclass
class PretendBooks:
    """Books in memory. `before_save` and `after_save` may raise."""

    approval: Approved | None
    records: dict[int, str] = field(default_factory=dict)
    steps: list[Said] = field(default_factory=list)
    fence: int = 0
    holder: int | None = None
    before_save: Callable[[Record], None] = lambda _record: None
    after_save: Callable[[Record], None] = lambda _record: None

    def approved(self, run: int, /) -> Approved | None:
        return self.approval

    def take(self, host: str, port: int, run: int, /) -> int:
        if self.holder not in (None, run):
            raise Held(f"{host} is held by run {self.holder}.")
        self.holder, self.fence = run, self.fence + 1
        return self.fence

    def give_back(self, host: str, port: int, run: int, /) -> None:
        self.holder = None if self.holder == run else self.holder

    def load(self, run: int, /) -> Record | None:
        text = self.records.get(run)
        return Record.model_validate_json(text) if text else None

    def save(self, record: Record, said: Sequence[Said] = (), /) -> None:
        self.before_save(record)
        if record.fence < self.fence:
            raise Overtaken("another process has it")
        self.records[record.run] = record.model_dump_json()
        self.steps += said
        self.after_save(record)

    def said(self, run: int, /) -> Sequence[Said]:
        return tuple(self.steps)

    def results(self, host: str | None, model: str | None, limit: int, /) -> Sequence[Record]:
        return [record for run in self.records if (record := self.load(run)) and record.over]


class PretendHost:
    """One server, its keeper, and the load. `on_call` is called with each verb and may raise.

    `step_ms` are what runs measure on the old and on the new server; `fails` is the trouble of a
    new server that does not come up.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.step_ms = {"old": [20.0, 20.1, 19.9], "new": [15.0, 15.1, 14.9]}
        self.fails: Trouble | None = None
        self.changed = False
        self.effective: bool | None = True
        self.busy_runs, self.longest = 0, 2.0
        self.errors_with_the_change = 0
        self.on_call: Callable[[str], None] = lambda _verb: None
        self.calls: list[str] = []
        self.server: str | None = "old"  # what owns the port
        self.touched, self.state, self.trouble = False, "", None
        self.name, self.fence, self.heard_s, self.until_s = "", 0, 0.0, 0.0
        self.alone: str | None = None  # which server is found where no keeper answers
        self.runs = {"old": 0, "new": 0}
        clock.passed.append(self.tick)

    # what happens by itself

    def tick(self) -> None:
        now = self.clock.now()
        if self.state in ("starting", "restoring") and now >= self.until_s:
            if self.state == "restoring":
                self.server, self.state = "old", "restored"
            elif self.fails:
                self.trouble, self.state, self.server = self.fails, "stopped", None
            else:
                self.server, self.state = "new", "ready"
        if (
            self.state
            and now - self.heard_s > 30
            and self.state not in ("kept", "restored", "withdrawn", "restoring")
        ):
            self.trouble = Trouble(kind="silence", sentence="The bot was not heard for 30 s.")
            self._bring_back()

    def _bring_back(self) -> None:
        if not self.touched:
            self.state = "withdrawn"
        elif self.state not in ("restored", "restoring"):
            self.server, self.state, self.until_s = None, "restoring", self.clock.now() + START_S

    # Hands

    def keeper(self, record: Record, /) -> PretendHost:
        self.asker = (record.name, record.fence)
        return self

    def longest_s(self, proposal: Proposal, /) -> float:
        return self.longest

    def run(self, proposal: Proposal, /) -> Run:
        self._call("run")
        if self.busy_runs:
            self.busy_runs -= 1
            return Run({}, trouble="the server is busy", busy=True)
        assert self.server, "load on a server that is not there"
        if self.server == "new" and self.errors_with_the_change:
            return Run({STEP: 15.0}, errors=self.errors_with_the_change)
        values = self.step_ms[self.server]
        self.runs[self.server] += 1
        self.clock.sleep(2.0)
        return Run({STEP: values[self.runs[self.server] % len(values)]})

    def effects(self, record: Record, /) -> Sequence[Proof]:
        self._call("effects")
        return (
            Proof(flag="max_running_requests", asked="its default", found="48",
                  source="/server_info", effective=self.effective),
        )  # fmt: skip

    def close(self) -> None:
        return

    def running(self, proposal: Proposal, /) -> Identity | None:
        self._call("running")
        which = self.alone or self.server
        if which is None:
            return None
        digest, pid = (OLD, 10 if not self.touched else 11) if which == "old" else (NEW, 12)
        return Identity(pid=pid, started_ticks=pid - 9, boot_id="boot", digest=digest)

    # Keeper

    def begin(self, proposal: Proposal, name: str, fence: int, /) -> Status:
        self._call("begin")
        if not self.state:
            self.name, self.state = name, "armed"
            if self.changed:
                self.state = "withdrawn"
                self.trouble = Trouble(
                    kind="host_changed", sentence="Another server runs there now."
                )
        if name != self.name:
            raise ToolsError(f"The host is held by {self.name}.")
        return self._status()

    def status(self) -> Status | None:
        self._call("status")
        return self._status() if self.state and not self.alone else None

    def drain(self, bound_s: float, /) -> Status:
        return self._verb("drain", ("armed",), "drained")

    def stop(self) -> Status:
        self._call("stop")
        if self.state in ("armed", "drained"):
            self.touched, self.server, self.state = True, None, "stopped"
        return self._status()

    def start(self) -> Status:
        self._call("start")
        if self.state == "stopped" and not self.trouble:
            self.state, self.until_s = "starting", self.clock.now() + START_S
        return self._status()

    def keep(self) -> Status:
        return self._verb("keep", ("ready",), "kept")

    def restore(self) -> Status:
        self._call("restore")
        if self.state not in ("restored", "kept", "withdrawn"):
            self._bring_back()
        return self._status()

    def withdraw(self) -> Status:
        return self._verb("withdraw", ("armed", "drained"), "withdrawn")

    def dismiss(self) -> None:
        self._call("dismiss")

    def log(self, max_lines: int = 40, /) -> Sequence[str]:
        self._call("log")
        return ("error: unrecognized arguments: --nonsense",)

    def _verb(self, verb: str, before: Sequence[str], after: str) -> Status:
        self._call(verb)
        self.state = after if self.state in before else self.state
        return self._status()

    def _call(self, verb: str) -> None:
        self.calls.append(verb)
        self.on_call(verb)
        _name, fence = getattr(self, "asker", ("", 0))
        assert fence >= self.fence, "a lower fence"
        self.fence = fence
        if verb not in ("run", "effects", "running"):
            self.heard_s = self.clock.now()

    def _status(self) -> Status:
        state: State = self.state  # type: ignore[assignment]
        new = (
            Server(pid=12, digest=NEW, healthy=self.server == "new")
            if state in ("ready", "kept")
            else None
        )
        return Status(
            name=self.name, fence=self.fence, state=state, old=Server(pid=10, digest=OLD), new=new,
            trouble=self.trouble, ready_after_s=START_S if state == "ready" else None,
        )  # fmt: skip


def cut(times: int) -> Callable[[str], None]:
    """Return what cuts the line so many times."""
    left = [times]

    def on_call(_verb: str) -> None:
        if left[0] > 0:
            left[0] -= 1
            raise Unreachable("CT129: the connection was lost")

    return on_call


def approval(**more: object) -> Approved:
    """Return an approval of `proposal`."""
    wanted = proposal(**more)
    return Approved(wanted, wanted.digest, "UANA", 1.0)


__all__ = [
    "Clock",
    "Killed",
    "PretendBooks",
    "PretendHost",
    "approval",
    "cut",
    "proposal",
    "replace",
]
