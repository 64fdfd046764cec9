"""Find the model servers of this host in /proc: a prelude of the scripts that ask about one.

It gives `say`, `find_servers`, `find_server`, `readers` and `absent`. Values of flags that may be secrets are
dropped here, so that whatever follows cannot print them.
"""

# Goes after proc.py
# ruff: noqa: F821
# What has no definition here is that of proc.py, whose text goes before this one.

import os
import pwd
import re

_SECRET = re.compile(r"(?i)^--?[\w.-]*(key|token|passw|secret|cred|auth|header|bearer|cookie)")
_PLAIN = re.compile(r"(?i)^--?[\w.-]*(tokens|tokenizer|tokenization|token-id|token-ratio|key-dim)")
_OTHERS = ("llama-server", "ollama", "trtllm-serve", "text-generation-launcher", "tritonserver")
_MODULES = (("sglang.launch_server", "sglang"), ("sglang.srt", "sglang"), ("sglang.cli", "sglang"),
            ("vllm.entrypoints", "vllm"))  # fmt: skip
_SCRIPTS = (("sglang/launch_server.py", "sglang"), ("sglang/srt/entrypoints/http_server.py", "sglang"),
            ("vllm/entrypoints/openai/api_server.py", "vllm"))  # fmt: skip
_PORTS = {"sglang": 30000, "vllm": 8000}
SHARES = "servers"


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


def _port_of(argv, engine, listening):
    asked, usual = _flag(argv, "--port"), _PORTS.get(engine)
    if asked and asked.isdigit():
        return int(asked)
    ports = sorted({port for _, port in listening})
    return usual if usual in ports or not ports else ports[0]


def readers(server):
    """Say who may read what this user may not."""
    user = server["user"] or "its user"
    return user if user == "root" else user + " or root"


def _hidden(server):
    what = []
    if not server["env_readable"]:
        what.append("environment")
    if server["log"]["kind"] == "unknown":
        what.append("open files (its log)")
    if server["python"] is None:
        what.append("interpreter")
    who = readers(server)
    return [f"{w} of process {server['pid']}: not readable, run as {who}" for w in what]


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


def find_servers():
    """Return every model server that can be seen: SGLang first, then vLLM, then others."""
    shared = globals().get("share")  # given by fork.py: the scripts of a batch look once
    return shared(SHARES, _find_servers) if shared else _find_servers()


def _find_servers():
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
