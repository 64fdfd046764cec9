"""A server of the demo that can be changed: it is restarted, measured, kept or taken back, and runs nowhere."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bot.demo import shipped
from bot.experiment.hands import Run
from bot.experiment.record import Proof, Record
from tools.change import Identity, Proposal, Server, State, Status
from tools.host import Asks, Host, Output
from tools.probes import PROBES
from tools.probes.launch import ReadLaunch
from tools.probes.launcher import ReadLauncher

_BOOT = "5e0c4a50-0000-4000-8000-000000000129"
_AGAIN = "prefill of a repeated prompt, tok/s"  # of the load that sends it twice
# Of the case: 58.2 ms a step, 1 431 tok/s of a cold prompt. The others stand in their usual proportion.
_FIGURES = {
    "step with one stream, ms": 58.2,
    "step with 4 streams, ms": 66.9,
    "cold prefill, tok/s": 1431.0,
    _AGAIN: 1431.0,
    "first token with 4 streams, ms": 392.0,
}
_NOISE = 0.004  # of a figure, from run to run
# What a change moves, in percent of the rate: made up, like the case. All else moves as the step model says.
_MOVES = {
    "chunked_prefill_size": {"cold prefill": 6.0, "first token": 5.0},
    "disable_radix_cache": {"repeated": 2900.0},
}
_RUN_S, _START_S = 0.5, 4.0


class Pretended:
    """One server. It is the host's launcher, and the hands of an experiment on it."""

    def __init__(self, host: str, factor: float = 1.0) -> None:
        self._host, self._factor = host, factor
        self._argv = _argv(host)
        self._pid, self._holder = 412, ""
        self._proposal: Proposal | None = None
        self._state: State = "armed"
        self._ready_at = 0.0
        self._chance = random.Random(host)  # noqa: S311 - noise of figures that nobody measured

    def output(self) -> Output:
        """Answer how it is held up, as ReadLauncher reads it."""
        unit = {
            "LoadState": "loaded", "ActiveState": "active", "MainPID": str(self._pid),
            "FragmentPath": "/etc/systemd/system/sglang.service", "DropInPaths": "", "Type": "simple",
            "Restart": "on-failure", "KillMode": "control-group", "Transient": "no", "NeedDaemonReload": "no",
        }  # fmt: skip
        told: dict[str, Any] = {
            "launcher": 1, "pid": self._pid, "identity": self._identity().model_dump(), "engine": "sglang",
            "port": 30000, "argv": list(self._argv), "cwd": "/opt/sglang", "python": "/usr/bin/python3.12",
            "user": "sglang", "uid": 998, "login_uid": 0, "login": "root",
            "cgroup": ["0::/system.slice/sglang.service"],
            "inside": True, "box": None, "box_id": None, "session": self._pid, "session_of_1": 0,
            "parents": [{"pid": 1, "name": "systemd", "program": "systemd"}], "jobs": {},
            "variables": ["CUDA_DEVICE_ORDER", "HOME", "NCCL_CUMEM_ENABLE", "NCCL_IB_DISABLE", "OMP_NUM_THREADS",
                          "PATH"],
            "log": {"kind": "file", "path": "/var/log/sglang/serve.log", "fd": 1, "append": True}, "config_file": None,
            "unit": {"name": "sglang.service", "owner": None, "show": unit, "above": True,
                     "exec": {"program": "python3", "script": None, "engine": "sglang", "line_of_shell": False,
                              "elsewhere": [], "variables": []}},
            "docker": None, "terminal": None, "children": 3,
        }  # fmt: skip
        return Output(stdout=json.dumps(told), took_s=0.4)

    # What an experiment does with it.

    def keeper(self, record: Record, /) -> Pretended:
        """Return itself, held by this experiment."""
        self._holder, self._proposal = record.name, record.proposal
        return self

    def longest_s(self, _proposal: Proposal, /) -> float:
        """Return how long a run takes at the most."""
        return 30.0

    def run(self, proposal: Proposal, /) -> Run:
        """Return figures of a run, as the step model moves them."""
        time.sleep(_RUN_S * self._factor)
        moves = _moves(proposal) if self._state == "ready" else {}
        told = {}
        for name, value in _FIGURES.items():
            if name == _AGAIN and proposal.load != "repeated":
                continue
            factor = 1 + next((pct for word, pct in moves.items() if word in name), 0.0) / 100
            moved = value * factor if name.endswith("tok/s") else value / factor
            told[name] = moved * (1 + self._chance.gauss(0, _NOISE))
        return Run(told)

    def effects(self, record: Record, /) -> Sequence[Proof]:
        """Say that what is asked for is in effect, once the new server runs."""
        new = self._state == "ready"
        change = record.proposal.change
        set_ = [
            Proof(flag=name, asked=str(value), found=str(value) if new else "", source="/server_info",
                  effective=True if new else None)
            for name, value in change.set.items()
        ]  # fmt: skip
        gone = [
            Proof(flag=name, asked="the engine's default", found="False" if new else "True",
                  source="/server_info", effective=True if new else None)
            for name in change.unset
        ]  # fmt: skip
        return [*set_, *gone]

    def running(self, _proposal: Proposal, /) -> Identity | None:
        """Return which server has the port."""
        return self._identity()

    def close(self) -> None:
        """There is nothing to end."""

    # The verbs of the keeper.

    def begin(self, proposal: Proposal, name: str, _fence: int, /) -> Status:
        """Compare the server with what was approved, and hold it."""
        self._holder, self._proposal, self._state = name, proposal, "armed"
        if proposal.identity != self._identity():
            self._state = "withdrawn"
        return self._told()

    def status(self) -> Status | None:
        """Say how far it is; a start takes its time."""
        if self._state == "starting" and time.monotonic() >= self._ready_at:
            self._state = "ready"
        return self._told() if self._holder else None

    def drain(self, _bound_s: float, /) -> Status:
        """No request runs."""
        return self._gone("drained")

    def stop(self) -> Status:
        """End the old server."""
        return self._gone("stopped")

    def start(self) -> Status:
        """Begin the new one."""
        self._ready_at = time.monotonic() + _START_S * self._factor
        return self._gone("starting")

    def keep(self) -> Status:
        """Leave the new one."""
        if self._proposal is not None:
            self._argv, self._pid = self._proposal.new, self._pid + 1000
        return self._gone("kept")

    def restore(self) -> Status:
        """Bring the old one back."""
        self._pid += 1000
        return self._gone("restored")

    def withdraw(self) -> Status:
        """Go away, with nothing touched."""
        return self._gone("withdrawn")

    def dismiss(self) -> None:
        """Leave."""
        self._holder = ""

    def log(self, _max_lines: int = 40, /) -> Sequence[str]:
        """Return no line."""
        return ()

    def _gone(self, state: State) -> Status:
        self._state = state
        return self._told()

    def _told(self) -> Status:
        server = Server(pid=self._pid, digest=self._identity().digest, healthy=True)
        took_s = _START_S * self._factor if self._state == "ready" else None
        return Status(
            name=self._holder,
            fence=0,
            state=self._state,
            old=server,
            new=server if self._state in ("ready", "kept") else None,
            ready_after_s=took_s,
        )

    def _identity(self) -> Identity:
        told = f"{self._host} {self._pid} {' '.join(self._argv)}"
        digest = hashlib.sha256(told.encode()).hexdigest()
        return Identity(pid=self._pid, started_ticks=self._pid * 10, boot_id=_BOOT, digest=digest)


class Changeable:
    """A recorded host whose server can be changed: of the launcher it tells what is true now."""

    def __init__(self, host: Host, server: Pretended) -> None:
        self._host, self.server = host, server

    @property
    def name(self) -> str:
        """Name the host as people do."""
        return self._host.name

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Answer as the case does, but for the launcher."""
        told = self._host.answer(probes)
        return [
            self.server.output() if isinstance(probe, ReadLauncher) else output
            for probe, output in zip(probes, told, strict=True)
        ]

    def close(self) -> None:
        """End the waiting."""
        self._host.close()


def _argv(host: str) -> tuple[str, ...]:
    """Return the command line of the shipped case, as its look at the launch brought it."""
    looks = shipped(host.lower()).evidence(PROBES)
    told = next(look.output for look in looks if isinstance(look.probe, ReadLaunch))
    return tuple(json.loads(told.stdout)["argv"]) if told else ()


def _moves(proposal: Proposal) -> Mapping[str, float]:
    """Return by how many percent each kind of figure moves."""
    names = [*proposal.change.unset, *proposal.change.set]
    if known := next((name for name in names if name in _MOVES), None):
        return _MOVES[known]
    gains = {"step": proposal.predicted.decode_pct, "prefill": proposal.predicted.prefill_pct}
    return {word: pct[1] for word, pct in gains.items() if pct is not None}
