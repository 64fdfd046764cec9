"""What every way of starting a server has in common, on the host: a prelude of the keeper and its launchers.

It gives `Launcher`, the ways in which one fails, and LAUNCHERS by kind. All methods look first and may be repeated;
they run in a thread of the keeper. `state` is what the understudy must know too: after a change, call `noted`.
"""

# Goes after identity.py
# Goes after argv_edit.py
# Goes after keeper_start.py
# ruff: noqa: F821

import os
import signal
import threading
import time
from contextlib import suppress

LAUNCHERS = {}
GONE_S = 10.0  # for a killed process to be gone; what lives on hangs in the kernel
FIRST_S = 5.0  # for the children of a main process that has ended, before they are killed


class Refused(Exception):
    """It cannot be restarted safely; nothing was touched. The words say why."""


class Stuck(Exception):
    """The server does not stop."""


class NotStarted(Exception):
    """It could not be started: a sentence, and the line that shows it."""


class Cancelled(Exception):
    """The change is to be undone: whatever waits stops waiting."""


class Launcher:
    """One server, started in one way."""

    kind = ""
    seen = None, None  # the process that was found last, and when it began
    apart = False  # it has a network of its own, of which the ports of this host say nothing

    def __init__(self, server, edits, env, unset_env):
        self.server, self.edits, self.env, self.unset_env = server, edits, env, unset_env
        self.door = server.get("raw", ()), server.get("raw_cwd", b"")  # by which it is asked
        self.state, self.noted, self.pause = {}, (lambda: None), time.sleep
        self.forks = threading.Lock()  # of an understudy and of a server: one at a time

    def look(self):
        """Return what `pid` does, and whether it was told: whoever manages the process may give no answer."""
        return self.pid(), True

    def found(self, pid):
        """Note and return the process that it is."""
        self.seen = pid, started_of(pid)
        return pid

    def unseen(self):
        """Return the process that was found last, while it lives: whoever manages it gives no answer."""
        return self.seen[0] if self.seen[0] and lives(*self.seen) else None

    def snapshot(self):
        """Read all that is needed to start it again; raise Refused."""

    def check(self):
        """Return remarks for people; raise Refused. Nothing that runs is touched."""
        return []

    def abandon(self):
        """Undo what `check` prepared."""

    def settle(self, kept):  # noqa: ARG002
        """Do what is left when the change was kept or taken back; return remarks for people."""
        return []

    def simply(self):
        """From here on do without what is only comfort: the first try to bring the old server back has failed."""

    def let_go(self):
        """Give back what is held open: the change has ended."""

    def by_hand(self):
        """Return the commands with which a person starts the old server, without secrets."""
        return []


def environment(old, env, unset_env):
    """Return the variables, as raw lines, with some given and some taken out; all others as they are, in place."""
    wanted = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    gone, out, seen = {os.fsencode(name) for name in unset_env}, [], set()
    for line in old:
        name = line.partition(b"=")[0]
        if name in wanted:
            if name not in seen:
                out.append(name + b"=" + wanted[name])
            seen.add(name)
        elif name not in gone:
            out.append(line)
    return out + [name + b"=" + value for name, value in wanted.items() if name not in seen]


def end_tree(pid, ticks, bound_s, pause):
    """Ask a process to end, then end it and all that was below it, and nothing else; raise Stuck.

    What is below is looked up while the main process lives: afterwards it would be nobody's.
    """
    tree, began, killed = dict(descendants(pid)), time.monotonic(), False
    send(pid, ticks, signal.SIGTERM)
    while lives(pid, ticks):
        tree.update(descendants(pid))
        if not killed and time.monotonic() > began + bound_s:
            killed = time.monotonic()
            send(pid, ticks, signal.SIGKILL)
        if killed and time.monotonic() > killed + GONE_S:
            raise Stuck(f"process {pid} does not end, not even when it is killed")
        pause(0.05)
    end_rest(tree, 0.0 if killed else FIRST_S, pause)
    return bool(killed)


def end_rest(tree, grace_s, pause):
    """End what a main process left behind."""
    for child in list(tree):
        tree.update(descendants(child))
    until = time.monotonic() + grace_s
    while any(lives(*one) for one in tree.items()) and time.monotonic() < until:
        pause(0.05)
    for one in tree.items():
        send(*one, signal.SIGKILL)
    until = time.monotonic() + GONE_S
    while any(lives(*one) for one in tree.items()):
        if time.monotonic() > until:
            left = ", ".join(str(pid) for pid, ticks in tree.items() if lives(pid, ticks))
            raise Stuck(
                f"processes of the server do not end, not even when they are killed: {left}"
            )
        pause(0.05)


def send(pid, ticks, number):
    """Signal that very process; that it is gone is no trouble."""
    if lives(pid, ticks):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
