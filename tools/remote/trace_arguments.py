"""Start the dry run of a server's argument resolution and print what may be told of it; argument: JSON.

Goes after TRACED, the text that the server's own Python is to run, and the names of tools/knowledge/fields.py. Only
what the allow-list names leaves the host: of other fields no text, and of no exception its words.
"""

# Goes after allow.py
# Goes after find_server.py
# Goes after fence.py
# ruff: noqa: F821
# What has no definition here is that of the texts that go before this one.

import subprocess
import time

_LIMIT_S = 100
# Importing an engine takes half of it at most (0.5 GB measured on a CPU), beside a server that must not miss it.
_LEAST_KB = 4 << 20
_READ = "import sys;exec(compile(sys.stdin.read(int(sys.stdin.readline())),'trace','exec'))"
_HIDDEN = {
    "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CUDA_CACHE_DISABLE": "1",
}  # fmt: skip
_DROPPED = ("PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONPROFILEIMPORTTIME")
_DEVICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def _split(raw):
    return [part.decode("utf-8", "surrogateescape") for part in raw.rstrip(b"\0").split(b"\0")]


def _flags(argv):
    """Return the words that the engine's parser was given; None where the command line does not show it."""
    for at, word in enumerate(argv[:12]):
        if word == "serve":
            rest = argv[at + 1 :]
            if rest and not rest[0].startswith("-"):
                rest = ["--model-path", *rest]
            return rest
        if word.startswith("sglang.launch_server") or word.endswith("sglang/launch_server.py"):
            return argv[at + 1 :]
    return None


def _free_kb():
    found = re.search(rb"MemAvailable:\s+(\d+)", _raw("/proc/meminfo") or b"")
    return int(found.group(1)) if found else None


def _cores():
    """Ask for what an engine on the CPU asks for; the dry run itself starts no program."""
    try:
        words = ["lscpu", "-p=CPU,Core,Socket,Node"]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("ascii", "replace")


def _cannot(server, argv, flags):
    """Say why it cannot be run as the server was; empty where it can."""
    mine = os.geteuid()
    if server["engine"] != "sglang":
        return "the server is no SGLang: its arguments are resolved in another way"
    if not server["env_readable"] or mine not in (0, server["uid"]):
        return "it must run as the server does: log in as " + readers(server)
    if flags is None or not re.match(r"(python|pypy)[\w.-]*$", os.path.basename(argv[0])):
        return "the server's process does not show the command line it was started with"
    if server["root"] and mine != 0:
        return "the server has a file system of its own (a container): only root can enter it"
    free = _free_kb()
    if free is not None and free < _LEAST_KB:
        return "less than 4 GiB of memory are free, and the server must not miss them"
    return ""


def _inside(server):
    """Return what the new process does before it becomes the server's Python."""

    def enter():
        if server["root"]:
            os.chroot(server["root"])
        os.chdir(server["cwd"] or "/")
        if os.geteuid() == 0 and server["uid"]:
            os.setgroups([gid])
            os.setresgid(gid, gid, gid)
            os.setresuid(server["uid"], server["uid"], server["uid"])
        fenced()

    found = re.search(r"^Gid:\s+(\d+)", _of(server["pid"], "status"), re.M)
    gid = int(found.group(1)) if found else server["uid"]
    return enter


def _run(server, argv, flags, environ, gpu):
    """Return (what the dry run printed, why it printed nothing)."""
    hidden = {**environ, **_HIDDEN}
    for name in _DROPPED:
        hidden.pop(name, None)
    restored = {name: environ[name] for name in _DEVICES if name in environ}
    facts = dict(gpu or {}, cores=_cores())
    told = json.dumps({"words": flags, "facts": facts, "restored": restored})
    text = f"{len(TRACED)}\n{TRACED}{told}"
    try:
        done = subprocess.run(
            [argv[0], "-B", "-c", _READ], input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=hidden, preexec_fn=_inside(server), timeout=_LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"it was not done within {_LIMIT_S} s and was ended"
    except subprocess.SubprocessError:
        return None, "this kernel cannot shut a process in (seccomp), so nothing was run"
    except OSError as why:
        return None, "the server's Python cannot be started: " + (why.strerror or "unknown")
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, f"it ended without an answer (status {done.returncode})"


def _secrets(argv, environ):
    """Return the texts of command line and environment that no allow-list names."""
    kept = allowed(argv)
    hidden = [word.partition("=")[2] or word for word in argv if word not in kept]
    names = re.compile(r"(?i)key|token|secret|passw|auth|cred")
    hidden += [value for name, value in environ.items() if names.search(name)]
    return [text for text in hidden if len(text) >= 6]


def _told(value, *, public, secrets):
    if isinstance(value, dict):
        return {
            _told(k, public=True, secrets=secrets): _told(v, public=public, secrets=secrets)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [_told(each, public=public, secrets=secrets) for each in value]
    if isinstance(value, str):
        hidden = not public or any(secret in value for secret in secrets)
        return "<dropped>" if hidden else value
    return value


def trace(port, gpu):
    """Return what the resolution wrote, in order."""
    server = find_server(port)
    if server is None:
        return absent(port)
    argv = _split(_raw("/proc/{}/cmdline".format(server["pid"]), 1 << 20) or b"")
    flags = _flags(argv)
    why = _cannot(server, argv, flags)
    if why:
        return {"failed": why}
    raw = _split(_raw("/proc/{}/environ".format(server["pid"]), 1 << 20) or b"")
    environ = dict(one.partition("=")[::2] for one in raw if "=" in one)
    began = time.monotonic()
    found, why = _run(server, argv, flags, environ, gpu)
    if found is None:
        return {"failed": why}
    secrets = _secrets(argv, environ)

    def shown(name, value):
        return _told(value, public=name.partition(".")[0] in PUBLIC_NAMES, secrets=secrets)

    writes = [
        dict(row, old=shown(row["field"], row["old"]), new=shown(row["field"], row["new"]))
        for row in found["writes"]
    ]
    rest = {
        key: _told(found[key], public=True, secrets=secrets)
        for key in ("stopped", "pretended", "refused")
    }
    values = {
        key: {name: shown(name, value) for name, value in found[key].items()}
        for key in ("asked", "resolved")
    }
    return {
        "argument_trace": 1, "pid": server["pid"], "took_s": round(time.monotonic() - began, 1), "writes": writes,
        **values, **rest, "sound": found["sound"],
    }  # fmt: skip


_asked = json.loads(sys.argv[1])
say(trace(_asked["port"], _asked["gpu"]))
