"""Behaves as `systemctl --user` of systemd 252 does, for one folder of state: units, drop-ins, Restart=, start limits.

It reads a unit's files at daemon-reload and never else, as systemd does; its reader of ExecStart is its own. STAND_IN_SYSTEMD
names the folder; units lie in XDG_CONFIG_HOME, XDG_RUNTIME_DIR and the folder itself. `journalctl` is here too.
"""

import fcntl
import json
import os
import re
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

HOME = Path(os.environ["STAND_IN_SYSTEMD"])
ROOTS = [
    Path(os.environ["XDG_CONFIG_HOME"]) / "systemd/user",
    Path(os.environ["XDG_RUNTIME_DIR"]) / "systemd/user",
    HOME / "vendor",
]
FRESH = {
    "active": "inactive",
    "main": 0,
    "restarts": 0,
    "code": 0,
    "status": 0,
    "result": "success",
    "starts": [],
}
ESCAPES = {"n": "\n", "t": "\t", "s": " ", "\\": "\\", '"': '"', "'": "'"}


@contextmanager
def locked():
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def loaded():
    return json.loads((HOME / "loaded.json").read_text())


def state(unit, **changes):
    with locked():
        path = HOME / f"{unit}.json"
        found = json.loads(path.read_text()) if path.exists() else dict(FRESH)
        if changes:
            found.update(changes)
            path.with_suffix(".new").write_text(json.dumps(found))
            path.with_suffix(".new").replace(path)
        return found


def files_of(unit):
    """Return [fragment, drop-ins ...]; a name counts once, in the folder that comes first."""
    fragment = next((root / unit for root in ROOTS if (root / unit).exists()), None)
    found = {}
    for root in reversed(ROOTS):
        found.update({path.name: path for path in (root / f"{unit}.d").glob("*.conf")})
    return [fragment, *(found[name] for name in sorted(found))] if fragment else []


def reload():
    units = {path.name for root in ROOTS for path in root.glob("*.service")}
    texts = {unit: [[str(path), path.read_text()] for path in files_of(unit)] for unit in units}
    with locked():
        (HOME / "loaded.json").write_text(json.dumps(texts))


def settings(unit):
    """Return {name: [values]} of [Service] as it was read, where an empty value takes back what came before."""
    found = {}
    for _, text in loaded().get(unit, []):
        section = None
        for line in re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*[#;].*\n?", "", text)).splitlines():
            head = re.fullmatch(r"\s*\[(\w+)\]\s*", line)
            section = head[1] if head else section
            name, equals, value = (part.strip() for part in line.partition("="))
            if equals and section == "Service":
                found[name] = [*found.get(name, []), value] if value else []
    return found


def unquoted(text):
    """Split as systemd.syntax(7) says: quotes, and escapes as in C."""
    words, word, quote, at = [], None, "", 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\\":
            code = re.match(r"x(..)", text[at:])
            word = (word or "") + (chr(int(code[1], 16)) if code else ESCAPES[text[at]])
            at += 3 if code else 1
        elif quote and char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote, word = char, word or ""
        elif not quote and char.isspace():
            words, word = ([*words, word], None) if word is not None else (words, word)
        else:
            word = (word or "") + char
    assert not quote, text
    return [*words, word] if word is not None else words


def command(unit):
    """Return (argv, environment) of what would be started: specifiers, then variables."""
    told = settings(unit)
    env = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
        "HOME": os.environ["HOME"],
        "INVOCATION_ID": os.urandom(16).hex(),
    }
    specifiers = {"%": "%", "i": unit.partition("@")[2].partition(".")[0], "n": unit}

    def specified(word):
        return re.sub("%(.)", lambda found: specifiers[found[1]], word)

    for value in told.get("Environment", []):
        env.update(specified(word).split("=", 1) for word in unquoted(value))
    for path in told.get("EnvironmentFile", []):
        env.update(line.split("=", 1) for line in Path(path).read_text().splitlines() if line)
    for value in told.get("UnsetEnvironment", []):
        for name in value.split():
            env.pop(name, None)
    argv = []
    for word in map(specified, unquoted(told["ExecStart"][0])):
        if re.fullmatch(r"\$\w+", word):
            argv += env.get(word[1:], "").split()
        else:
            argv.append(
                re.sub(r"\$\{(\w+)\}|\$\$", lambda m: env.get(m[1], "") if m[1] else "$", word)
            )
    return argv, env, told


def cgroup_of(unit):
    """Return the group of a unit, in the hierarchy that systemd would use."""
    roots = (
        Path(path)
        for path in ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
    )
    base, uid = next(root for root in roots if root.is_dir()), os.getuid()
    path = base / f"user.slice/user-{uid}.slice/user@{uid}.service/app.slice/{unit}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def signal_all(unit, number):
    for pid in (cgroup_of(unit) / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), number)


def spawn(unit):
    argv, env, told = command(unit)
    pid = os.fork()
    if not pid:
        try:
            (cgroup_of(unit) / "cgroup.procs").write_text(str(os.getpid()))
            os.chdir((told.get("WorkingDirectory") or ["/"])[-1])
            out = os.open(HOME / f"{unit}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            for fd in (1, 2):
                os.dup2(out, fd)
            os.setsid()
            os.execvpe(argv[0], argv, env)
        finally:
            os._exit(203)
    return pid, told


def run_once(unit, stop):
    """Run it until it ends; return whether that was asked for, its status, and its settings."""
    pid, told = spawn(unit)
    state(unit, active="active", main=pid, result="success")
    asked = None
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if stop.exists() and not asked:
            asked = time.monotonic()
            state(unit, active="deactivating")
            signal_all(unit, signal.SIGTERM)
        if asked and time.monotonic() > asked + float((told.get("TimeoutStopSec") or ["90"])[-1]):
            signal_all(unit, signal.SIGKILL)
        time.sleep(0.02)
    signal_all(unit, signal.SIGKILL)  # KillMode=control-group: nothing stays behind
    killed = os.WIFSIGNALED(ended[1])
    status = os.WTERMSIG(ended[1]) if killed else os.WEXITSTATUS(ended[1])
    state(unit, main=0, code=2 if killed else 1, status=status)
    return bool(asked or stop.exists()), status, settings(unit)  # as they are now


def supervise(unit):
    """Be systemd for one unit, until it is stopped or has failed."""
    stop = HOME / f"{unit}.stop"
    while True:
        asked, status, told = run_once(unit, stop)
        policy = (told.get("Restart") or ["no"])[-1]
        if asked or policy == "no" or (policy == "on-failure" and not status):
            bad = status and not asked
            state(
                unit,
                active="failed" if bad else "inactive",
                result="exit-code" if bad else "success",
            )
            return
        state(unit, active="activating", result="exit-code")
        until = time.monotonic() + float((told.get("RestartSec") or ["0.1"])[-1])
        while time.monotonic() < until and not stop.exists():
            time.sleep(0.02)
        if stop.exists():
            state(unit, active="inactive")
            return
        if not may_start(unit):
            return
        state(unit, restarts=state(unit)["restarts"] + 1)


def may_start(unit):
    """Count a start; say whether the limit of five in ten seconds allows it."""
    starts = [at for at in state(unit)["starts"] if at > time.time() - 10]
    if len(starts) >= 5:
        state(unit, active="failed", result="start-limit-hit")
        return False
    state(unit, starts=[*starts, time.time()])
    return True


def start(unit):
    if unit not in loaded():
        sys.exit(f"Failed to start {unit}: Unit {unit} not found.")
    if state(unit)["active"] in ("active", "activating"):
        return
    (HOME / f"{unit}.stop").unlink(missing_ok=True)
    if not may_start(unit):
        sys.exit(f"Job for {unit} failed. Start request repeated too quickly.")
    state(unit, active="activating", restarts=0)
    if not os.fork():
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        supervise(unit)
        os._exit(0)


def show(unit, names):
    texts, now = loaded().get(unit, []), state(unit)
    seen = [[str(path), path.read_text()] for path in files_of(unit)]
    told = settings(unit)
    values = {
        "LoadState": "loaded" if texts else "not-found", "ActiveState": now["active"], "MainPID": now["main"],
        "FragmentPath": texts[0][0] if texts else "", "DropInPaths": " ".join(path for path, _ in texts[1:]),
        "NeedDaemonReload": "yes" if seen != texts else "no", "Transient": "no", "Type": "simple",
        "Restart": (told.get("Restart") or ["no"])[-1], "NRestarts": now["restarts"], "ExecMainCode": now["code"],
        "ExecMainStatus": now["status"], "Result": now["result"], "KillMode": "control-group",
        "User": "", "EnvironmentFiles": " ".join(told.get("EnvironmentFile", [])), "StartLimitBurst": 5,
        "RestartUSec": "100ms", "RequiredBy": "multi-user.target", "BoundBy": "", "TriggeredBy": "",
        "ConsistsOf": " ".join(told.get("StandInConsistsOf", [])),
    }  # fmt: skip
    for name in names:
        print(f"{name}={values[name]}")


def main(argv):
    if argv[:1] == ["journalctl"]:
        count = int(argv[argv.index("-n") + 1])
        log = HOME / f"{argv[-1]}.log"
        print(
            "\n".join(log.read_text(errors="replace").splitlines()[-count:] if log.exists() else [])
        )
        return
    words = [
        word
        for word in argv
        if word not in ("--user", "--no-block", "--no-pager", "--kill-who=all", "--")
    ]
    verb, unit = words[0], words[-1]
    with (HOME / "asked.log").open("a") as log:
        log.write(" ".join(argv) + "\n")
    if verb == "daemon-reload":
        reload()
    elif verb == "show":
        show(unit, words[words.index("-p") + 1].split(","))
    elif verb == "start":
        start(unit)
    elif verb == "stop":
        (HOME / f"{unit}.stop").touch()
    elif verb == "kill":
        signal_all(unit, signal.SIGKILL)
    elif verb == "reset-failed":
        state(
            unit,
            starts=[],
            active="inactive" if state(unit)["active"] == "failed" else state(unit)["active"],
        )
    else:
        sys.exit(f"Unknown command verb {verb}.")


main(sys.argv[1:])
