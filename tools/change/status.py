"""What the keeper on the host says of a change: how far it is, and which server runs."""

from __future__ import annotations

from typing import Literal

from tools.probe import Facts

State = Literal[
    "armed",  # the old server runs, everything about it is known to the keeper, nothing was done
    "draining",
    "drained",
    "stopping",
    "stopped",
    "starting",
    "ready",  # the new server owns the port, runs the command line meant, and answered a request
    "kept",
    "restoring",
    "restored",  # the old command line and environment run again, and answered a request
    "withdrawn",  # ended before the old server was touched
    "lost",  # neither server could be brought up: a person is needed
]
ENDED: frozenset[State] = frozenset({"kept", "restored", "withdrawn", "lost"})
TroubleKind = Literal[
    "unknown_flag", "bad_value", "out_of_memory", "port_in_use", "graph_capture", "crashed", "hung",
    "slow_start", "wrong_server", "would_not_stop", "silence", "host_changed", "other",
]  # fmt: skip


class Trouble(Facts):
    """Why a change did not go on: the kind, one sentence, and the line of the log that shows it."""

    kind: TroubleKind
    sentence: str
    line: str | None = None


class Server(Facts):
    """One of the two servers. `digest` is that of Identity; `command` is without secrets."""

    pid: int | None = None
    started_ticks: int | None = None
    digest: str | None = None
    command: tuple[str, ...] = ()
    healthy: bool | None = None  # it owns the port and answered a request when last asked


class Status(Facts):
    """The keeper's answer. `name` and `fence` are those of the experiment that holds the host."""

    name: str
    fence: int
    state: State
    old: Server
    new: Server | None = None
    trouble: Trouble | None = None
    ready_after_s: float | None = None  # from the start of the new server
    running_requests: int | None = None  # while draining
    silence_left_s: float | None = None  # until the dead-man acts
    steps: tuple[str, ...] = ()  # what was done, in words with times, for the ledger
