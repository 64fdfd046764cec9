"""Which unit or container owns a server, as systemctl and docker tell; a prelude of launcher.py.

It gives `unit_of` and `container_of`. Of a command line in a unit only its program is told and which of the server's
flags it names; of a container no variable, and of its command whether it ends in the server's words.
"""

# Goes after find_server.py
# Goes after systemd_words.py
# Goes after systemd_ask.py
# ruff: noqa: F821

import json
import os
import re

_SHOWN = ("LoadState", "ActiveState", "FragmentPath", "DropInPaths", "MainPID", "Type", "Restart",
          "StartLimitBurst", "User", "EnvironmentFiles", "KillMode", "Transient", "NeedDaemonReload",
          *TIED)  # fmt: skip
_LABELS = ("project", "service", "config-hash", "project.working_dir", "project.config_files",
           "project.environment_file", "oneoff", "container-number")  # fmt: skip
_COMPOSE = "com.docker.compose."


def _texts(show):
    files = [show.get("FragmentPath", ""), *show.get("DropInPaths", "").split()]
    texts = [_raw(file) for file in files if file]
    return [
        text.decode("utf-8", "surrogateescape") for text in texts if text is not None
    ], None in texts


def _flag_names(words):
    return [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]


def exec_line(show, argv):
    """Say what the unit's ExecStart holds of the server's command line, and what comes from elsewhere."""
    texts, hidden = _texts(show)
    lines = exec_starts(texts)
    if hidden or not lines:
        return {
            "trouble": "the unit's files cannot be read"
            if hidden
            else "the unit's files hold no ExecStart"
        }
    if len(lines) > 1:
        return {"trouble": "the unit has several ExecStart lines"}
    try:
        words = words_of(lines[0])
    except ValueError as why:
        return {"trouble": "its ExecStart cannot be taken apart: " + str(why)}
    literal = [word.text for word in words if word.literal]
    program = os.path.basename(literal[0].lstrip("@-:+!|")) if words and words[0].literal else None
    named = set(_flag_names(literal))
    return {
        "program": program,
        "script": next((word for word in literal[1:4] if not word.startswith("-")), None)
        if program in _SHELLS
        else None,
        "engine": _engine_of([os.path.basename(program or ""), *literal[1:]]) or _wrapped(literal),
        "line_of_shell": bool(
            program in _SHELLS and any(re.match(r"-[a-z]*c$", word) for word in literal[1:3])
        ),
        "elsewhere": sorted(set(_flag_names(argv)) - named),
        "variables": sorted(
            set(re.findall(r"\$\{?(\w+)", " ".join(w.text for w in words if not w.literal)))
        ),
    }


def _wrapped(words):
    """Find the engine behind env, numactl, nice, uv run and their like: words of their own, not of a shell."""
    starts = [
        at
        for at, word in enumerate(words)
        if re.match(r"(python|pypy|sglang|vllm)[\w.-]*$", os.path.basename(word))
    ]
    return next(filter(None, (_engine_of(words[at:]) for at in starts)), None)


def unit_of(pid):
    """Return what systemd tells of the unit in whose control group the server is; None when in none."""
    unit, owner = unit_in(_of(pid, "cgroup"))
    if unit is None:
        return None
    show = shown(owner, unit, _SHOWN)
    found = {"name": unit, "owner": owner, "show": show, "tied": tied(show)}
    main = found["show"].get("MainPID", "")
    if main.isdigit() and int(main) > 0:
        found["above"] = int(main) == pid or int(main) in [row["pid"] for row in parents_of(pid)]
        if found["above"]:
            found["exec"] = exec_line(found["show"], _argv(pid))
    return found


def _client(name, identifier):
    """Return what holds a container up: a `docker run` in the foreground, and the unit which runs it."""
    for pid, (_, argv) in _processes().items():
        if not argv or os.path.basename(argv[0]) not in ("docker", "podman") or len(argv) < 3:
            continue
        words = [word.partition("=")[2] or word for word in argv[2:]]
        if argv[1] in ("run", "start", "attach") and (name in words or identifier[:12] in words):
            return {"pid": pid, "unit": unit_in(_of(pid, "cgroup"))[0]}
    return None


def _holder(name, identifier, pid):
    """Return what holds a container up from outside: its client, or the unit in whose group podman put it."""
    unit = unit_in(_of(pid, "cgroup"))[0]
    within = unit and not re.match(r"(docker|podman|containerd|snap\.docker\..*)\.service$", unit)
    return _client(name, identifier) or ({"pid": None, "unit": unit} if within else None)


def container_of(server):
    """Return what docker or podman tells of the container; None when it is in none or is asked from inside."""
    name = server["container_id"] or ""
    if server["container"] not in ("docker", "podman") or not re.match(r"[0-9a-f]{12,64}$", name):
        return None
    why = ""
    for runtime in (server["container"], "docker", "podman"):
        status, out, err = asked((runtime, "inspect", "--type", "container", name))
        if status == 0:
            return _container(runtime, json.loads(out)[0], server)
        why = why or (err.strip().splitlines() or [runtime + " gave no answer"])[-1][:200]
    return {"trouble": why}


def _container(runtime, told, server):
    config, host = told.get("Config") or {}, told.get("HostConfig") or {}
    labels = config.get("Labels") or {}
    words = [told.get("Path") or "", *(told.get("Args") or [])]
    argv, name = _argv(server["pid"]), (told.get("Name") or "").lstrip("/")
    return {
        "runtime": runtime,
        "id": told.get("Id"),
        "name": name,
        "image": config.get("Image"),
        "auto_remove": bool(host.get("AutoRemove")),
        "restart": (host.get("RestartPolicy") or {}).get("Name") or "no",
        "compose": {key: labels[_COMPOSE + key] for key in _LABELS if _COMPOSE + key in labels},
        "others": sorted(
            key
            for key in labels
            if key.startswith(("io.kubernetes.", "com.docker.swarm.", "com.hashicorp.nomad."))
        )[:8],
        "main": (told.get("State") or {}).get("Pid") == server["pid"],
        "words": _ends_alike(words, argv),
        "shell": os.path.basename(words[0]) in _SHELLS
        and any(re.match(r"-[a-z]*c$", word) for word in words[1:3]),
        "client": _holder(name, told.get("Id") or "-", server["pid"]),
    }


def _ends_alike(words, argv):
    """Say whether a container's command ends in the server's words, from the name of its module on."""
    at = next((at for at in range(len(argv)) if _started(argv, at)), None)
    tail = argv[at:] if at is not None else []
    return bool(tail) and words[-len(tail) :] == tail
