"""Abort our requests when the script that sent them is gone: a prelude, after own_api.py.

It gives `Witness`. The runner kills the group of a script at once when nobody waits any more, so a process
in a group of its own is needed to tell the server; the end of a pipe tells it.
"""

# Goes after own_api.py
# ruff: noqa: F821
# What has no definition here is that of own_api.py, whose text goes before this one.

import os
import signal
import time

GONE_S = 4.0  # the most that it lives on; the server drops what hangs up in 2 s by itself


def abort(place, key, rid, limit_s=1.0):
    """Ask the server to end one request of ours; an empty name would end those of everybody."""
    if rid:
        asked_for(place, key, "/abort_request", {"rid": rid}, limit_s)


class Witness:
    """Knows which requests were begun; ends them if this process ends without saying `done`."""

    def __init__(self, place, key, name):
        self.place, self.key, self.name, self.begun = place, key, name, 0
        read, self.pipe = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.close(self.pipe)
                self._wait(read)
            finally:
                os._exit(0)
        os.close(read)

    def begin(self):
        """Return the name of a new request."""
        os.write(self.pipe, b"+")
        self.begun += 1
        return f"{self.name}-{self.begun - 1}"

    def done(self):
        """Every request has ended: the witness may go."""
        os.write(self.pipe, b".")
        os.close(self.pipe)
        os.waitpid(self.pid, 0)

    def _wait(self, read):
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        begun = 0
        while True:
            said = os.read(read, 4096)
            begun += said.count(b"+")
            if b"." in said:
                return
            if not said:
                break
        ends = time.monotonic() + GONE_S
        for number in range(begun):
            if time.monotonic() < ends:
                abort(self.place, self.key, f"{self.name}-{number}", 0.5)
