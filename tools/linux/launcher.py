"""Read what tools/remote/launcher.py saw of how a server is held up, and judge what that means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.engine.launcher import Launcher, Parent
from tools.linux.owners import job_of, kind_of, supervisor_of
from tools.linux.restartable import why_not

_ENGINES = ("sglang", "vllm", "other")


def read_launcher(said: Mapping[str, Any]) -> Launcher:
    """Return the facts; what is missing is None, and a kind is always told."""
    kind = kind_of(said)
    why = why_not(said, kind)
    log, terminal = said.get("log") or {}, said.get("terminal") or {}
    identity = said["identity"]
    job = job_of(said)
    docker = said.get("docker") or {}
    return Launcher(
        kind=kind,
        restartable=why is None,
        why_not=why,
        remarks=_remarks(said, kind),
        engine=said["engine"] if said["engine"] in _ENGINES else None,
        pid=said["pid"],
        started_ticks=identity.get("started_ticks"),
        boot_id=identity.get("boot_id"),
        digest=identity.get("digest"),
        port=said.get("port"),
        user=said.get("user"),
        uid=said.get("uid"),
        login=said.get("login"),
        login_uid=said.get("login_uid"),
        command=tuple(said["argv"]),
        cwd=said.get("cwd"),
        config_file=said.get("config_file"),
        variables=tuple(said.get("variables") or ()),
        log_kind=log.get("kind"),
        log_path=log.get("path"),
        log_appends=log.get("append"),
        terminal=terminal.get("kind"),
        terminal_name=terminal.get("name"),
        parents=tuple(_parent(row) for row in said["parents"]),
        supervisor=supervisor_of(said["parents"]) or (job[0] if job else None),
        job=f"{job[0]} {job[1]}" if job else None,
        pod=(said.get("jobs") or {}).get("HOSTNAME") if kind == "kubernetes" else None,
        **(_unit(said["unit"]) if kind == "systemd" else {}),
        **(_container(docker) if kind in ("docker", "compose") and "trouble" not in docker else {}),
    )


def _parent(row: Mapping[str, Any]) -> Parent:
    return Parent(
        pid=row["pid"],
        program=row["program"],
        script=row.get("script"),
        loops=row.get("loops"),
    )


def _unit(unit: Mapping[str, Any]) -> dict[str, Any]:
    show = unit["show"]
    return {
        "unit": unit["name"],
        "unit_user": unit.get("owner"),
        "unit_file": show.get("FragmentPath") or None,
        "drop_ins": tuple(str(show.get("DropInPaths", "")).split()),
        "restart_policy": show.get("Restart"),
        "flags_elsewhere": tuple((unit.get("exec") or {}).get("elsewhere") or ()),
    }


def _container(docker: Mapping[str, Any]) -> dict[str, Any]:
    labels = docker.get("compose") or {}
    files = str(labels.get("project.config_files") or "")
    return {
        "runtime": docker["runtime"],
        "container": docker["name"],
        "container_id": docker["id"],
        "image": docker["image"],
        "restart_policy": docker["restart"],
        "compose_project": labels.get("project"),
        "compose_service": labels.get("service"),
        "compose_files": tuple(file for file in files.split(",") if file),
    }


def _remarks(said: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    found: list[str] = []
    if kind == "systemd":
        elsewhere: Sequence[str] = (said["unit"].get("exec") or {}).get("elsewhere") or ()
        if elsewhere:
            found.append(
                f"the unit takes {', '.join(elsewhere)} from a variable or a file: these cannot be changed here"
            )
    docker = said.get("docker") or {}
    if kind in ("docker", "compose") and docker.get("auto_remove"):
        found.append(
            "the container was started with --rm and is gone once it stops: a copy of it is made before, "
            "and what was written into it is lost"
        )
    if kind == "plain":
        found += _of_output(said)
    return tuple(found)


def _of_output(said: Mapping[str, Any]) -> list[str]:
    log = said.get("log") or {}
    terminal = said.get("terminal") or {}
    if log.get("kind") == "pipe":
        return ["its output goes into a pipe, whose reader must stay for the new server's output"]
    if log.get("kind") == "terminal":
        where = {"tmux": "a tmux pane", "screen": "a screen window"}.get(
            str(terminal.get("kind")), "a terminal"
        )
        return [f"its output goes to {where} and is kept nowhere else"]
    return []
