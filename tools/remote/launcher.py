"""Tell who started the server and who would start it again; argument: the port or nothing.

Goes after the names of tools/knowledge/fields.py, allow.py, identity.py and launcher_parents.py. Values of variables,
words of other programs and what a unit or a container holds beyond the named fields never leave the host.
"""

# Goes after allow.py
# Goes after find_server.py
# Goes after identity.py
# Goes after launcher_parents.py
# Goes after launcher_owner.py
# ruff: noqa: F821
# What has no definition here is that of the texts that go before this one.

_JOBS = ("SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID", "NOMAD_ALLOC_ID",
         "NOMAD_JOB_NAME", "SUPERVISOR_PROCESS_NAME", "HOSTNAME")  # fmt: skip


def _flags_of(server, fd):
    text = _of(server["pid"], "fdinfo/" + str(fd))
    found = re.search(r"^flags:\s+([0-7]+)$", text, re.M)
    return bool(int(found.group(1), 8) & os.O_APPEND) if found else None


def _variables(pid):
    """Return the names of the server's variables, and the values of the few that name a job."""
    raw = _raw(f"/proc/{pid}/environ", 1 << 20)
    if raw is None:
        return None, {}
    pairs = [one.partition("=") for one in raw.decode("utf-8", "replace").split("\0") if "=" in one]
    jobs = {name: value[:200] for name, _, value in pairs if name in _JOBS}
    names = sorted({name for name, _, _ in pairs if re.match(r"[A-Za-z_]\w{0,99}$", name)})
    return names[:400], jobs


def _identity(pid):
    try:
        return identity_of(pid)
    except OSError as why:
        return {"trouble": why.strerror or str(why)}


def _argv(pid):
    return _of(pid, "cmdline").rstrip("\0").split("\0")


def launcher(port):
    """Return everything that says how the server could be started again."""
    server = find_server(port)
    if server is None:
        return absent(port)
    pid = server["pid"]
    names, jobs = _variables(pid)
    log = dict(server["log"], append=_flags_of(server, server["log"]["fd"]))
    parents = parents_of(pid)
    login = os.geteuid()
    return {
        "launcher": 1,
        "pid": pid,
        "identity": _identity(pid),
        "engine": server["engine"],
        "port": server["port"],
        "argv": allowed(server["argv"]),
        "cwd": server["cwd"],
        "python": server["python"],
        "user": server["user"],
        "uid": server["uid"],
        "login_uid": login,
        "login": _name_of(login),
        "cgroup": [line for line in _of(pid, "cgroup").splitlines()[:20] if len(line) > 4],
        "inside": _box("self")[:2]
        == _box(pid)[:2],  # the login is in the same container, or neither is in one
        "box": server["container"],
        "box_id": server["container_id"],
        "session": _session(pid),
        "session_of_1": _session(1),
        "parents": parents,
        "variables": names,
        "jobs": jobs,
        "log": log,
        "config_file": _flag(server["argv"], "--config"),
        "unit": unit_of(pid),
        "docker": container_of(server),
        "terminal": terminal_of(pid, parents),
        "children": len(server["children"]),
    }


def _name_of(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _session(pid):
    fields = _of(pid, "stat").rpartition(")")[2].split()
    return int(fields[3]) if len(fields) > 3 else None


say(launcher(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else None))
