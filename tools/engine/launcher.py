"""Who started the server, who would start it again, and whether a change may restart it."""

from __future__ import annotations

from typing import Literal

from tools.engine.launch import EngineName
from tools.probe import Facts

LauncherKind = Literal[
    "plain",  # a process of its own: nohup, tmux, screen, a shell script, a shell
    "systemd",
    "docker",
    "compose",
    "kubernetes",
    "slurm",
    "supervised",  # by something else that starts it again: supervisord, runit, a shell loop, a batch system
]


class Parent(Facts):
    """A process above the server. `script` is the file that a shell or Python runs in it."""

    pid: int
    program: str
    script: str | None = None
    loops: bool | None = None  # the shell's script holds a loop


class Launcher(Facts):
    """How a server could be started again, and by whom; no value of a variable, no secret.

    `pid`, `started_ticks`, `boot_id` and `digest` are those of tools.change.Identity, None where the
    login may not read them. `restartable` says whether a change may restart it without a person;
    if not, `why_not` says why in one sentence, and `by_hand` of tools.change tells a person how.
    """

    kind: LauncherKind
    restartable: bool
    why_not: str | None = None
    remarks: tuple[str, ...] = ()  # what a person should know before it is restarted
    engine: EngineName | None = None
    pid: int
    started_ticks: int | None = None
    boot_id: str | None = None
    digest: str | None = None
    port: int | None = None
    user: str | None = None  # of the server
    uid: int | None = None
    login: str | None = None  # as whom it was looked at
    login_uid: int | None = None
    command: tuple[str, ...] = ()  # by the allow-list; other values are "<dropped>"
    cwd: str | None = None
    config_file: str | None = None
    variables: tuple[str, ...] = ()  # names alone
    log_kind: str | None = None  # "file", "pipe", "socket", "terminal", "unknown"
    log_path: str | None = None
    log_appends: bool | None = None
    terminal: Literal["tmux", "screen", "ssh"] | None = None
    terminal_name: str | None = None  # tmux: session:window.pane
    parents: tuple[Parent, ...] = ()  # nearest first
    supervisor: str | None = (
        None  # what starts it again, or holds it up: "supervisord", "a shell loop in /srv/run.sh"
    )
    restart_policy: str | None = None  # Restart= of the unit, or the container's policy
    unit: str | None = None
    unit_user: int | None = None  # whose systemd runs the unit; None: the system's
    unit_file: str | None = None
    drop_ins: tuple[str, ...] = ()
    flags_elsewhere: tuple[
        str, ...
    ] = ()  # flags that the unit's ExecStart takes from a variable or a script
    runtime: Literal["docker", "podman"] | None = None
    container: str | None = None  # name
    container_id: str | None = None
    image: str | None = None
    compose_project: str | None = None
    compose_service: str | None = None
    compose_files: tuple[str, ...] = ()
    job: str | None = None  # of Slurm or another batch system
    pod: str | None = None
