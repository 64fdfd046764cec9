"""Begin a change: become the keeper of this host, unless there is one.

The argument is JSON with proposal, name and fence. Goes after the names of tools/knowledge/fields.py and the text of
keeper_give.py as GIVE_TEXT. It prints the status and leaves; keeper and understudy stay, in sessions of their own.
"""

# Goes after allow.py
# Goes after find_server.py
# Goes after keeper_wire.py
# Goes after keeper_change.py
# Goes after keeper_serve.py
# ruff: noqa: F821

import sys
from contextlib import suppress

_SHORTEST_SECRET = 6


def called(name):
    """Take a name that `ps` shows."""
    with suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(name)


def hidden(lines, launcher):
    """Return lines of a log without the values that the server's own command line and variables keep secret."""
    values = launcher.server["secrets"]
    return [_hide(line[:2000], values) for line in lines]


def _hide(line, values):
    for value in values:
        line = line.replace(value, "<dropped>")
    return line


def secrets_of(argv, environ):
    """Return the values that may not be shown: of flags and of variables whose names say so."""
    words = [one.decode("utf-8", "replace") for one in argv]
    shown = _without_secrets(words)
    hidden_at = [at for at, word in enumerate(words) if word != shown[at]]
    found = {words[at].partition("=")[2] or words[at] for at in hidden_at}
    for line in environ:
        name, _, value = line.decode("utf-8", "replace").partition("=")
        if _SECRET.match("--" + name) and not _PLAIN.match("--" + name.replace("_", "-")):
            found.add(value)
    return sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)


def shown_words(argv):
    return allowed(_without_secrets([one.decode("utf-8", "replace") for one in argv]))


class Changed(Exception):
    """It is not the server, or not the change, that was approved."""


def approved(proposal):
    """Return (server, argv, environ, cwd) of the very server that was approved; raise Changed."""
    server, meant = find_server(proposal["port"]), proposal["identity"]
    if server is None:
        raise Changed("no model server runs on the port any more")
    try:
        seen = identity_of(server["pid"])
        argv, environ, cwd, _ = start_of(server["pid"])
    except OSError as why:
        raise Changed(
            "how the server was started cannot be read: " + str(why.strerror or why)
        ) from None
    for name, what in (("boot_id", "the host was started anew"), ("pid", "another process serves"),
                       ("started_ticks", "the server was started anew"),
                       ("digest", "its command line, environment or place is another one")):  # fmt: skip
        if seen[name] != meant[name]:
            raise Changed(what + " since this was proposed")
    new = shown_words(edited(argv, proposal["edits"]))
    told = allowed(_without_secrets(proposal["new"]))
    if [one for one in new if one] != [one for one in told if one]:
        raise Changed(
            "the edits do not give the command line that was approved: " + " ".join(new)[:500]
        )
    return server, argv, environ, cwd


def prepare(asked):
    """Return (book, launcher) for a change that may begin, or a book that says why it may not."""
    proposal = asked["proposal"]
    old = {"pid": proposal["identity"]["pid"], "started_ticks": proposal["identity"]["started_ticks"],
           "digest": proposal["identity"]["digest"], "command": proposal["old"], "healthy": None}  # fmt: skip
    book = {
        "name": asked["name"], "fence": asked["fence"], "state": "withdrawn", "old": old, "new": None, "failed": None,
        "ready_after_s": None, "running": None, "steps": [], "act": None, "back": False, "up": "old", "started": None,
        "bounds": proposal["bounds"], "began": now(), "heard": now(), "drain_s": 0.0, "port": proposal["port"],
    }  # fmt: skip
    failed = {"line": None, "tail": [], "exit": None}
    try:
        server, argv, environ, cwd = approved(proposal)
        make = LAUNCHERS.get(proposal["launcher"])
        if make is None:
            raise Refused(
                f"a server started by {proposal['launcher']} cannot be restarted from here"
            )
        status = _of(server["pid"], "status")
        uids = [int(n) for n in re.search(r"(?m)^Uid:\s+(.*)$", status).group(1).split()]
        server.update(
            raw=argv, raw_cwd=cwd, proposal=proposal, secrets=secrets_of(argv, environ), uids=uids
        )
        change = proposal["change"]
        launcher = make(server, proposal["edits"], change["env"], change["unset_env"])
        launcher.snapshot()
        remarks = launcher.check()
    except Changed as why:
        book["failed"] = dict(failed, how="host_changed", sentence=str(why))
        return book, None
    except Refused as why:
        book["failed"] = dict(failed, how="other", sentence=str(why))
        return book, None
    digest = launcher.digest() if hasattr(launcher, "digest") else None
    book.update(
        state="armed", port=server["port"] or proposal["port"], launcher=dict(launcher.state)
    )
    book["new"] = {
        "pid": None,
        "started_ticks": None,
        "digest": digest,
        "command": proposal["new"],
        "healthy": None,
    }
    book["steps"] = [
        time.strftime("%H:%M:%S ") + text
        for text in ["armed: the old server is known whole", *remarks]
    ]
    why = serves(old["pid"], book["port"], argv, cwd)
    book["old"]["healthy"] = not why
    return book, launcher


def plainly(book):
    """Return the status of a change that never began."""
    names = ("name", "fence", "state", "old", "new", "failed", "ready_after_s", "steps", "act")
    return dict({name: book[name] for name in names}, keeper=1, pid=None)


def keep(asked, listener, pipe):
    """Be the keeper: prepare, answer, serve."""
    try:
        book, launcher = prepare(asked)
        service = (
            Service(address_for(asked["port"]), listener, book, launcher) if launcher else None
        )
        said = service.status() if service else plainly(book)
    except Exception as why:
        said, service = (
            {"failed": f"the keeper could not begin: {type(why).__name__}: {why}"[:500]},
            None,
        )
    with os.fdopen(pipe, "w") as told:
        told.write(json.dumps(said))
    if service:
        service.run()


def detach(asked, listener):
    """Fork twice, out of every group and session that ends with the one who asks; return what the keeper said."""
    read, write = os.pipe()
    first = os.fork()
    if first:
        os.close(write)
        os.waitpid(first, 0)
        with os.fdopen(read) as said:
            return json.loads(said.read() or '{"failed": "the keeper ended before it began"}')
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        for fd in range(3, 256):
            if fd not in (listener.fileno(), write):
                with suppress(OSError):
                    os.close(fd)
        for number in (
            signal.SIGHUP,
            signal.SIGINT,
            signal.SIGPIPE,
        ):  # an understudy that was killed breaks a pipe
            signal.signal(number, signal.SIG_IGN)
        os.umask(0o077)
        keep(asked, listener, write)
    finally:
        os._exit(0)


def begin(asked):
    """Return the status of the keeper that there is, or of the one that is made now."""
    OFFERS.text = GIVE_TEXT
    exec(GIVE_TEXT, globals())
    for _ in range(100):
        listener = listen(address_for(asked["port"]), 0.0)
        if listener:
            return detach(asked, listener)
        told = call(address_for(asked["port"]), dict(asked, proposal=None))
        if told is not None and "gone" not in told:
            return told
        time.sleep(0.1)
    return {"failed": "the keeper of this host is neither there nor gone"}


print(json.dumps(begin(json.loads(sys.argv[1]))))
