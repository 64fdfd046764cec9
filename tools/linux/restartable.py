"""Whether a server may be restarted by a change, or which sentence says why a person must do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tools.linux.owners import SHELLS, job_of, supervisor_of, unknown_parent

Said = Mapping[str, Any]

_LOGINS = (
    "ssh.service",
    "sshd.service",
    "cron.service",
    "crond.service",
)  # what is started by hand lies in these


def _nodes(said: Said) -> int:
    words = [str(word) for word in said["argv"]]
    value = ""
    for at, word in enumerate(words):
        name, equals, rest = word.partition("=")
        if name == "--nnodes":
            value = rest if equals else [*words, ""][at + 1]
    return int(value) if value.isdigit() and len(value) < 6 else 1


def _anywhere(said: Said) -> str | None:
    """What speaks against it whoever the launcher is."""
    first = str(said["argv"][0]) if said["argv"] else ""
    if first.startswith(("sglang::", "VLLM::")):
        return "the server has overwritten its command line with a title: what it was started with cannot be read"
    if _nodes(said) > 1:
        return f"the server is one of {_nodes(said)} nodes (--nnodes): all of them must be restarted together"
    if trouble := said["identity"].get("trouble"):
        who = said["user"] if said["user"] == "root" else f"{said['user']} or root"
        return f"how process {said['pid']} was started may not be read ({trouble}): log in as {who}"
    return None


def _kubernetes(_: Said) -> str:
    return "Kubernetes would start the old pod again: change the args of the workload that made it"


def _job(said: Said) -> str:
    system, number = job_of(said) or ("a batch system", "?")
    return f"it is a job of {system} ({number}): the job ends with it, and must be submitted anew"


def _supervised(said: Said) -> str:
    if job_of(said):
        return _job(said)
    if others := (said.get("docker") or {}).get("others"):
        return f"its container belongs to an orchestrator (label {others[0]}), which would start the old one again"
    name = supervisor_of(said["parents"])
    return (
        f"{name} would start the old command line again as soon as the server ends: change it there"
    )


def _through(line: Said) -> str:
    return str(line.get("script") or line.get("program") or "a variable")


def _systemd(said: Said) -> str | None:
    unit = said["unit"]
    show, line = unit["show"], unit.get("exec") or {}
    name, owner = unit["name"], unit.get("owner")
    checks: tuple[tuple[bool, str], ...] = (
        ("trouble" in show, f"systemctl does not tell of {name}: {show.get('trouble')}"),
        (owner is None and said["login_uid"] != 0, f"{name} is a unit of the system: log in as root to change it"),
        (owner not in (None, said["login_uid"]) and said["login_uid"] != 0,
         f"{name} is a unit of user {owner}: log in as that user or root"),
        (show.get("Transient") == "yes", f"{name} was made by systemd-run and is gone once it stops"),
        (bool(unit.get("tied")), f"{unit.get('tied')} depends on {name}, and is stopped with it or starts it again: "
         "stop and start them together by hand"),
        (show.get("NeedDaemonReload") == "yes",
         f"files of {name} were changed after systemd read them, and a restart would put that into force as well: "
         "run systemctl daemon-reload and restart it yourself first"),
        ("trouble" in line, f"{name}: {line.get('trouble')}"),
        (bool(line.get("line_of_shell")), f"{name} starts it in a line of shell (ExecStart={line.get('program')} -c), "
         "whose words cannot be edited safely"),
        (not line.get("engine"), f"{name} starts it through {_through(line)}, and the flags are in there"),
        (show.get("MainPID") != str(said["pid"]), f"the main process of {name} is {show.get('MainPID')}, "
         "which started the server and is not it itself"),
    )  # fmt: skip
    return next((why for holds, why in checks if holds), None)


def _docker(said: Said) -> str | None:
    told = said.get("docker") or {"trouble": "it gave no answer"}
    if trouble := told.get("trouble"):
        box = said["box"]
        return f"{box} does not tell of the container ({trouble}): log in as root or as one who may use {box}"
    client = told.get("client") or {}
    name = told["name"]
    checks: tuple[tuple[bool, str], ...] = (
        (bool(client.get("unit")) and client.get("unit") not in _LOGINS,
         f"unit {client.get('unit')} holds container {name} up (docker run in its ExecStart): change the flags there"),
        (bool(told["shell"]), f"container {name} starts it in a line of shell (sh -c), "
         "whose words cannot be edited safely"),
        (not told["words"], f"the command of container {name} does not end in the server's own words: "
         "a script in the image makes them"),
    )  # fmt: skip
    return next((why for holds, why in checks if holds), None)


def _compose(said: Said) -> str | None:
    labels = (said.get("docker") or {}).get("compose") or {}
    if not labels.get("project.config_files"):
        return f"compose project {labels.get('project')} does not say which files it was made from"
    return _docker(said)


def _plain(said: Said) -> str | None:
    uid, login = said["uid"], said["login_uid"]
    stranger = unknown_parent(said["parents"])
    first = next((row for row in said["parents"] if row["program"] not in SHELLS), None)
    boxed = said.get("box") in ("docker", "podman", "kubernetes")
    checks = (
        (login not in (0, uid), f"the server runs as {said['user']}: log in as {said['user']} or root"),
        (said["pid"] == 1, "it is process 1 of its container, which ends with it: ask on the container's host"),
        (boxed and said["session"] == said["session_of_1"] and bool(first) and (first or {}).get("pid") == 1,
         "the first process of its container waits for it, and ends with it: ask on the container's host"),
        (stranger is not None, f"process {(stranger or {}).get('pid')} ({(stranger or {}).get('program')}) started it, "
         "and may start it again or end other things when it ends"),
    )  # fmt: skip
    return next((why for holds, why in checks if holds), None)


_BY_KIND: dict[str, Callable[[Said], str | None]] = {
    "kubernetes": _kubernetes,
    "slurm": _job,
    "supervised": _supervised,
    "systemd": _systemd,
    "docker": _docker,
    "compose": _compose,
    "plain": _plain,
}


def why_not(said: Said, kind: str) -> str | None:
    """Return one sentence on why no change may restart this server; None where one may."""
    if kind in ("kubernetes", "slurm", "supervised"):
        return _BY_KIND[kind](said)
    return _anywhere(said) or _BY_KIND[kind](said)
