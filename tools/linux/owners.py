"""What kind of thing holds a server up, from what tools/remote/launcher.py saw on the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.engine.launcher import LauncherKind

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "fish"))
_SUPERVISORS = {
    "supervisord": "supervisord", "runsv": "runit", "runsvdir": "runit", "s6-supervise": "s6",
    "s6-svscan": "s6", "supervise": "daemontools", "svscan": "daemontools", "pm2": "pm2",
    "circusd": "circus", "raylet": "Ray", "honcho": "honcho", "foreman": "foreman",
    "monit": "monit", "immortal": "immortal", "god": "god", "nodemon": "nodemon",
}  # fmt: skip
_JOBS = (
    ("SLURM_JOB_ID", "Slurm"),
    ("PBS_JOBID", "PBS"),
    ("LSB_JOBID", "LSF"),
    ("NOMAD_ALLOC_ID", "Nomad"),
)
# They wait for what they started, and end with it: none starts it again.
_WAITERS = frozenset(
    ("sudo", "su", "runuser", "doas", "timeout", "time", "uv", "uvx", "stdbuf", "script", "login", "conda",
     "numactl", "nice", "taskset", "chrt", "env", "setsid", "nohup", "systemd", "init", "tini", "dumb-init",
     "docker-init", "catatonit", "sshd", "sshd-session", "tmux", "screen", "cron", "crond", "atd", "xonsh")
)  # fmt: skip


def supervisor_of(parents: Sequence[Mapping[str, Any]]) -> str | None:
    """Name what would start the server again when it ends; None where nothing seen would."""
    for row in parents:
        names = (str(row.get("program")), str(row.get("name")), str(row.get("script") or ""))
        for name in (part.lower() for part in names):
            found = _SUPERVISORS.get(name) or ("pm2" if name.startswith("pm2") else None)
            if found:
                return found
        if row.get("loops"):
            return f"a shell loop in {row['script']}" if row.get("script") else "a shell loop"
    return None


def unknown_parent(parents: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the program that started the server and of which it is not known that it ends with it.

    A shell in between is known to: what stands above it sees a shell end, not a server.
    """
    for row in parents:
        program = str(row.get("program"))
        known = program in _WAITERS or program.startswith(("tmux", "sshd", "SCREEN"))
        if row["pid"] == 1 or program in SHELLS:
            return None
        if not known and row.get("script") != "conda":
            return row
    return None


def _through_shells(said: Mapping[str, Any], main: int) -> bool:
    """Say whether the unit's main process is the server, or shells alone stand between."""
    if main == said["pid"]:
        return True
    for row in said["parents"]:
        if row["program"] not in SHELLS:
            return False
        if row["pid"] == main:
            return True
    return False


def owned_by_unit(said: Mapping[str, Any]) -> bool:
    """Say whether the server is what its unit is for, not what somebody started from a shell in it.

    A server that was left behind by an ssh session may lie in ssh.service: to stop that unit would
    be the end of every login.
    """
    unit = said.get("unit") or {}
    if not unit.get("above"):
        return False
    if (unit.get("exec") or {}).get("engine"):
        return True
    main = str((unit.get("show") or {}).get("MainPID", ""))
    return main.isdigit() and _through_shells(said, int(main))


def job_of(said: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the batch system and the job that the server runs in."""
    jobs = said.get("jobs") or {}
    return next(((system, str(jobs[name])) for name, system in _JOBS if jobs.get(name)), None)


def kind_of(said: Mapping[str, Any]) -> LauncherKind:
    """Say what kind of launcher it is; what is outermost and starts it again comes first."""
    docker = said.get("docker") or {}
    others = " ".join(docker.get("others") or ())
    if (
        said.get("box") == "kubernetes"
        or "io.kubernetes." in others
        or "KUBERNETES_SERVICE_HOST" in (said.get("variables") or ())
    ):
        return "kubernetes"
    if job := job_of(said):
        return "slurm" if job[0] == "Slurm" else "supervised"
    if said.get("box") in ("docker", "podman") and not said.get("inside"):
        if others:
            return "supervised"
        return "compose" if (docker.get("compose") or {}).get("project") else "docker"
    if owned_by_unit(said):
        return "systemd"
    return "supervised" if supervisor_of(said["parents"]) else "plain"
