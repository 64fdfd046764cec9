"""Where a server's log lies, and how it is read there: a prelude of the scripts that read it.

Wants `find_server` before it. Prompts and what has the shape of a secret are dropped here, on the
host, so that they never travel.
"""

# Goes after given.py
# ruff: noqa: F821

import re

_PRIVATE = re.compile(
    rb"\b(?:Receive|Finish)\w{0,3}:? .{0,60}\bobj=|\\?\"event\\?\": ?\\?\"request\."
    rb"|\bReceived? (?:openai )?request\b|Hit invalid (?:ebnf|json|regex|structural)"
    rb"|\binput_ids=\[|\bprompt(?:_token_ids)?[=:] ?[\['\"]|\btext='"
)
_HIDDEN = re.compile(
    rb"(?i)((?:[\w-]{0,40}(?:api_?-?key|passw(?:or)?d|passphrase|secret|credential|watermark_key)\w{0,40}"
    rb"|[\w-]{0,40}[_-]token\b)\\?[\"']?\s{0,4}[=: ]\s{0,4})"
    rb"(?!None|null)(\\?'[^'\n]*'|\\?\"[^\"\n]*\"|[^\s,;)}\]]+)"
)
_BARE = re.compile(
    rb"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})"
    rb"|(?i:bearer )[\w.~+/=-]{8,}"
)
_ENGINE = re.compile(
    rb"(?:Decode|Prefill) batch(?: \[\w{1,20}\])?[.,] #[\w-]{1,40}: ?\d"
    rb"|server_args=(?:ServerArgs\(\w|\{['\"]\w)|LLM engine \(v\d|tokens/s, Running: \d"
    rb"|\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?: [A-Z_]{2,7}\d{1,4}){0,6}\] (?:Load weight|Init |Capture )"
    rb"|\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?: [A-Z_]{2,7}\d{1,4}){1,6}\] \S"
    rb"|\] The server is fired up and ready|sglang serve: error: |launch_server\.py: error: "
    rb"|File \"[^\"\n]{1,200}/(?:sglang/(?:srt|cli|launch_server)|vllm/(?:engine|entrypoints|v1)/)"
    rb"|\b(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]{1,60}:\d{1,6}\] "
    rb"|\((?:APIServer|EngineCore\w{0,8}|Worker\w{0,12}) pid=\d+\) "
)


def private(line):
    """Say whether a line holds what a user wrote."""
    return b"server_args=" not in line[:4000] and bool(_PRIVATE.search(line, 0, 4000))


def without_secrets(line):
    return _BARE.sub(b"<dropped>", _HIDDEN.sub(rb"\1<dropped>", line))


def pieces(argv, most, limit_s=20.0, source=None):
    """Yield what a program prints, up to so many bytes and seconds; then end it. Nothing if it cannot run."""
    import subprocess  # here and below: a log in a file needs none
    import threading

    try:
        child = subprocess.Popen(
            argv,
            stdin=source or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if source else subprocess.STDOUT,
            env=dict(os.environ, LC_ALL="C"),
        )
    except OSError:
        return
    timer = threading.Timer(limit_s, child.kill)
    timer.daemon = True
    timer.start()
    try:
        while most > 0:
            piece = child.stdout.read1(1 << 18)
            if not piece:
                break
            most -= len(piece)
            yield piece
    finally:
        timer.cancel()
        child.kill()
        child.stdout.close()
        child.wait()


def said(argv):
    import subprocess

    try:
        return (
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=8)
            .stdout.decode("utf-8", "replace")
            .strip()
        )
    except (OSError, subprocess.SubprocessError):
        return ""


def opened(*paths):
    """Open the first of these that is a regular file: the server's own, by whatever way it is reached."""
    for path in paths:
        try:
            if path and os.path.isfile(path):
                return open(path, "rb", buffering=0)
        except (OSError, ValueError):
            continue
    return None


def container_log(server, lines):
    """Return the file of a container's log, or the commands that print its start and its newest lines, and a name."""
    import glob

    name = server["container_id"] or ""
    if not re.fullmatch(r"[0-9a-f]{12,64}", name):
        return None, None, None, None
    for runtime in ("docker", "podman", "nerdctl"):
        told = said((runtime, "inspect", "-f", "{{.State.StartedAt}} {{.LogPath}}", name)).rsplit(
            " ", 1
        )
        if len(told) == 2 and told[0]:
            since, path = told
            since = re.sub(r"^(\S+) (\S+) ([+-]\d\d)(\d\d).*", r"\1T\2\3:\4", since)  # podman
            first = (runtime, "logs", "--since", since, name)
            return (
                opened(path),
                first,
                (runtime, "logs", "--tail", str(lines), name),
                f"{runtime} logs {name[:12]}",
            )
    file = opened(*glob.glob(f"/var/log/containers/*-{name}.log"))
    return (
        file,
        None,
        ("crictl", "logs", "--tail", str(lines), name),
        "container log of " + name[:12],
    )


def journal_log(unit, lines):
    """Return the commands that print the start of a unit's journal and its newest lines."""
    run = said(("systemctl", "show", "-p", "InvocationID", "--value", "--", unit))
    plain = ("journalctl", "--no-pager", "-q", "-o", "cat")
    first = (
        (*plain, "_SYSTEMD_INVOCATION_ID=" + run) if re.fullmatch(r"[0-9a-f]{32}", run) else None
    )
    return first, (*plain, "-n", str(lines), "-u", unit)


def is_serve_log(file):
    """Say whether a file that was named is a serve log: nothing else is shown."""
    size = file.seek(0, 2)
    for at in (0, max(0, size - (1 << 20))):
        file.seek(at)
        if _ENGINE.search(file.read(1 << 20) or b""):
            file.seek(0)
            return True
    return False


def where(port, path):
    """Return the server, and the log's file if it is one."""
    if path and not port and os.path.isfile(path):
        return None, given(path)[0], path
    server = find_server(port or None)
    if path:
        inside = given(server["root"] + path)[0] if server and server["root"] else None
        return server, inside or given(path)[0], path
    if server is None:
        return None, None, None
    log = server["log"]
    if log["kind"] == "file":
        file = opened(
            "/proc/{pid}/fd/{fd}".format(pid=server["pid"], fd=log["fd"]),
            server["root"] + (log["path"] or ""),
            log["path"],
        )
        return server, file, log["path"]
    return server, None, None


def no_log(server):
    """Return the answer for when no log can be read: why, and what would give one."""
    kind = server["log"]["kind"]
    named = "name the log's path (`log` in hosts.toml)"
    if kind == "unknown":
        why = f"the server's open files cannot be read: run as {readers(server)}, or {named}"
        return {"failed": why}
    if kind == "terminal":
        why = "the server writes to a terminal: nothing is kept; start it with its output in a file or as a unit"
    elif server["container"]:
        why = "its container's runtime does not give the log here: ask on the host, docker logs CONTAINER"
    else:
        why = f"the server writes into a {kind} that another program reads: {named}"
    return {"absent": why}
