"""Find the model servers of this host in /proc: a prelude of the scripts that ask about one.

It gives `say`, `find_servers`, `find_server` and `absent`. Values of flags that may be secrets are
dropped here, so that whatever follows cannot print them.
"""

import json
import os
import pwd
import re
import socket
import struct
import sys

_SECRET = re.compile(r"(?i)^--?[\w.-]*(key|token|passw|secret|cred|auth|header|bearer|cookie)")
_PLAIN = re.compile(r"(?i)^--?[\w.-]*(tokens|tokenizer|tokenization|token-id|token-ratio|key-dim)")
_OTHERS = ("llama-server", "ollama", "trtllm-serve", "text-generation-launcher", "tritonserver")
_MODULES = (("sglang.launch_server", "sglang"), ("sglang.srt", "sglang"), ("sglang.cli", "sglang"),
            ("vllm.entrypoints", "vllm"))  # fmt: skip
_SCRIPTS = (("sglang/launch_server.py", "sglang"), ("sglang/srt/entrypoints/http_server.py", "sglang"),
            ("vllm/entrypoints/openai/api_server.py", "vllm"))  # fmt: skip
_PORTS = {"sglang": 30000, "vllm": 8000}
_BOXES = (("kubepods", "kubernetes"), ("/kubelet/pods/", "kubernetes"), ("libpod", "podman"),
          ("overlay-containers", "podman"), ("/docker", "docker"), ("/lxc", "lxc"))  # fmt: skip
_BOX_ID = re.compile(r"(?:docker|containers|libpod|containerd|crio)[-/:]([0-9a-f]{64})")
_LXC_ID = re.compile(r"/lxc(?:\.payload)?[./]([\w-]+)")


def say(thing):
    """Print the one JSON object that is the answer; whatever the bytes were, it is ASCII."""
    sys.stdout.write(json.dumps(thing, default=str) + "\n")
    sys.stdout.flush()


def _raw(path, limit=1 << 18):
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return None


def _of(pid, name, limit=1 << 20):
    """Return the text of /proc/PID/name; empty where it cannot be read."""
    return (_raw(f"/proc/{pid}/{name}", limit) or b"").decode("utf-8", "replace")


def _link(pid, name):
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return None


def _processes():
    """Return {pid: (parent, argv)} of all that can be seen."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            words = _of(name, "cmdline").rstrip("\0").split("\0")
            parent = _of(name, "stat").rpartition(")")[2].split()[1:2]
            found[int(name)] = (int(parent[0]) if parent else 0, words if words != [""] else [])
    return found


def _without_secrets(argv):
    kept, drop = [], False
    for part in argv:
        name, equals, _ = part.partition("=")
        flag = bool(_SECRET.match(name)) and not _PLAIN.match(name)
        if drop and not part.startswith("--"):
            kept.append("<dropped>")
            continue
        drop = flag and not equals
        kept.append(name + "=<dropped>" if flag and equals else part)
    return kept


def _titled(argv):
    """Say whose child process a title names: `sglang::scheduler_TP0`, `VLLM::EngineCore`."""
    first = argv[0] if argv else ""
    if first.startswith("sglang::"):
        return "sglang"
    return "vllm" if first.startswith("VLLM::") else None


def _started(argv, at):
    word, following = argv[at], [*argv, ""][at + 1]
    if word == "-m":
        return next((engine for module, engine in _MODULES if following.startswith(module)), None)
    if following == "serve" and os.path.basename(word) in ("sglang", "vllm"):
        return os.path.basename(word)
    return next((engine for tail, engine in _SCRIPTS if word.endswith(tail)), None)


def _engine_of(argv):
    """Say which engine a command line starts; wrappers (sudo, docker, bash -c) start none."""
    first = os.path.basename(argv[0]) if argv else ""
    if argv and argv[0].startswith("sglang::http_server"):
        return "sglang"  # 0.5.2 retitles even the main process
    if first in _OTHERS:
        return "other" if first != "ollama" or argv[1:2] == ["serve"] else None
    if not re.match(r"(python|pypy|sglang|vllm)[\w.-]*$", first):
        return None
    return next(filter(None, (_started(argv, at) for at in range(min(len(argv), 12)))), None)


def _main_of(pid, engine, table):
    """Climb from a titled child to the process that started the engine; an orphan is its own."""
    for _ in range(16):
        parent = table.get(pid, (0, []))[0]
        argv = table.get(parent, (0, []))[1]
        if _titled(argv) == engine or "multiprocessing" in " ".join(argv[:4]):
            pid = parent
        else:
            code = argv and os.path.basename(argv[0]).startswith(("python", engine))
            return parent if code else pid
    return pid


def _below(pid, mains, table):
    for _ in range(64):
        pid = table.get(pid, (0, []))[0]
        if pid in mains or pid <= 1:
            return pid in mains
    return False


def _mains(table):
    """Return {pid: engine} of main processes, those too that only a titled child gives away."""
    mains = {pid: _engine_of(argv) for pid, (_, argv) in table.items() if _engine_of(argv)}
    for pid, (_, argv) in table.items():
        if _titled(argv) and pid not in mains:
            mains.setdefault(_main_of(pid, _titled(argv), table), _titled(argv))
    return {pid: engine for pid, engine in mains.items() if not _below(pid, mains, table)}


def _children(top, table):
    found, members = [], {top}
    for _ in range(8):
        more = [pid for pid, (up, _) in table.items() if up in members and pid not in members]
        members.update(more)
        found += more
    return [{"pid": pid, "title": _title(pid, table[pid][1])} for pid in sorted(found)[:256]]


def _title(pid, argv):
    return argv[0][:80] if _titled(argv) else _of(pid, "comm").strip()


def _flag(argv, flag):
    value = None
    for at, part in enumerate(argv):
        name, equals, rest = part.partition("=")
        if name == flag:
            value = rest if equals else [*argv, ""][at + 1]
    return value


def _address(hexed):
    host, port = hexed.split(":")
    raw = bytes.fromhex(host)
    if len(raw) == 4:
        return [socket.inet_ntoa(raw[::-1]), int(port, 16)]
    swapped = struct.pack(">4I", *struct.unpack("<4I", raw))
    return [socket.inet_ntop(socket.AF_INET6, swapped), int(port, 16)]


def _listening(pids):
    """Return [[address, port]] where these processes listen; empty where that is not readable."""
    inodes = set()
    for pid in pids[:64]:
        try:
            links = [_link(pid, "fd/" + fd) or "" for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        inodes.update(link[8:-1] for link in links if link.startswith("socket:["))
    lines = (_of(pids[0], "net/tcp") + _of(pids[0], "net/tcp6")).splitlines() if inodes else []
    rows = [row for row in map(str.split, lines) if len(row) > 9 and row[3] == "0A"]
    return [_address(row[1]) for row in rows if row[9] in inodes]


def _port_of(argv, engine, listening):
    asked, usual = _flag(argv, "--port"), _PORTS.get(engine)
    if asked and asked.isdigit():
        return int(asked)
    ports = sorted({port for _, port in listening})
    return usual if usual in ports or not ports else ports[0]


def _box(pid):
    """Return (kind, id, systemd unit) from the control group and the mounts."""
    group, mounts = _of(pid, "cgroup"), _of(pid, "mountinfo")
    etc = "\n".join(line for line in mounts.splitlines() if " /etc/host" in line)
    kind = next((kind for sign, kind in _BOXES if sign in group + etc), None)
    if not kind and ("lxcfs" in mounts or b"lxc" in (_raw("/run/systemd/container") or b"")):
        kind = "lxc"
    name = _LXC_ID.search(group) if kind == "lxc" else _BOX_ID.search(group + etc)
    units = re.findall(r"/((?!user@)[^/\n]+\.service)(?=/|$)", group, re.M)
    unit = units[-1] if units and kind in (None, "lxc") else None
    return kind, name.group(1) if name else None, unit


def _copy_of(pipe, table):
    """Return the file to which `tee` copies a pipe, if that is what reads it."""
    for pid, (_, argv) in table.items():
        if argv and os.path.basename(argv[0]) == "tee" and _link(pid, "fd/0") == pipe:
            names = [word for word in argv[1:] if not word.startswith("-")]
            return os.path.join(_link(pid, "cwd") or "", names[0]) if names else None
    return None


def _log(pid, table):
    for fd in (1, 2):
        path, kind = _link(pid, f"fd/{fd}"), "file"
        if path in (None, "/dev/null"):
            continue
        if path.startswith("pipe:"):
            path = _copy_of(path, table)
            kind = "file" if path else "pipe"
        elif path.startswith("socket:"):
            path, kind = None, "socket"
        elif path.startswith(("/dev/pts", "/dev/tty", "/dev/console")):
            path, kind = None, "terminal"
        return {"kind": kind, "path": path, "fd": fd}
    return {"kind": "unknown", "path": None, "fd": None}


def _hidden(server):
    what = []
    if not server["env_readable"]:
        what.append("environment")
    if server["log"]["kind"] == "unknown":
        what.append("open files (its log)")
    if server["python"] is None:
        what.append("interpreter")
    who = server["user"] or "its user"
    return [f"{w} of process {server['pid']}: not readable, run as {who} or root" for w in what]


def _server(pid, engine, table):
    argv, status = table.get(pid, (0, []))[1], _of(pid, "status")
    children = _children(pid, table)
    uid, cpus = (re.search(rf"^{k}:\s+(\S+)", status, re.M) for k in ("Uid", "Cpus_allowed_list"))
    uid = int(uid.group(1)) if uid else None
    listening = _listening([pid] + [child["pid"] for child in children])
    mine, theirs = _link("self", "ns/mnt"), _link(pid, "ns/mnt")
    server = {
        "pid": pid, "argv": _without_secrets(argv), "engine": engine, "uid": uid,
        "port": _port_of(argv, engine, listening), "listening": listening, "cwd": _link(pid, "cwd"),
        "python": _link(pid, "exe"), "env_readable": _raw(f"/proc/{pid}/environ", 1) is not None,
        "log": _log(pid, table), "root": f"/proc/{pid}/root" if theirs and mine != theirs else "",
        "children": children, "cpus_allowed": cpus.group(1) if cpus else None,
    }  # fmt: skip
    server["container"], server["container_id"], server["unit"] = _box(pid)
    try:
        server["user"] = pwd.getpwuid(uid).pw_name if uid is not None else None
    except KeyError:
        server["user"] = str(uid)
    server["published"] = _published(pid, server["port"], table)
    server["not_readable"] = _hidden(server)
    return server


def _published(pid, port, table):
    """Return the ports of this host that docker forwards to a port of a container."""
    own, found = _of(pid, "net/fib_trie"), []
    for _, argv in table.values():
        if argv and os.path.basename(argv[0]) == "docker-proxy":
            inner, outer = _flag(argv, "-container-port"), _flag(argv, "-host-port")
            address = _flag(argv, "-container-ip") or ""
            if inner == str(port) and f"-- {address}\n" in own and (outer or "").isdigit():
                found.append(int(outer))
    return sorted(set(found))


def find_servers():
    """Return every model server that can be seen: SGLang first, then vLLM, then others."""
    table = _processes()
    servers = [_server(pid, engine, table) for pid, engine in _mains(table).items()]
    order = {"sglang": 0, "vllm": 1}
    return sorted(servers, key=lambda s: (order.get(s["engine"], 2), s["port"] or 0, s["pid"]))


def find_server(port=None):
    """Return the server on a port (its own or one that docker publishes), or the first."""
    for server in find_servers():
        listens = [at for _, at in server["listening"]]
        if port in [None, server["port"], *server["published"], *listens]:
            return server
    return None


def absent(port=None):
    """Return the answer for when there is no such server, and why that may be."""
    others = [f"{s['engine']} on port {s['port']} (pid {s['pid']})" for s in find_servers()]
    why = f"no model server on port {port}" if others else "no model server is running here"
    why += "; there is " + ", ".join(others[:8]) if others else ""
    mounts = (_raw("/proc/mounts") or b"").decode("utf-8", "replace")
    if re.search(r"^proc /proc proc \S*hidepid=(?!0|off)", mounts, re.M):
        why += "; processes of other users are hidden (hidepid): run as the server's user or root"
    return {"absent": why}
