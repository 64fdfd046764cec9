"""The book of a change, and the wait until one of the two servers serves. A part of the keeper.

It gives `Book`: what the understudy must know is written into it before anything is done.
"""

# Goes after keeper_ready.py
# Goes after keeper_growth.py
# Goes after keeper_launcher.py
# ruff: noqa: F821

import threading
import time

FOREIGN_S = 5.0  # that somebody else may be seen on the port before it counts: sockets of a dying server linger
TAIL_LINES, STEPS = 120, 200


def now():
    """Return seconds since boot, those asleep too: no clock that is set can move them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Book:
    """What was done, what is known of both servers, and the looks at them."""

    def __init__(self, book, launcher, tell):
        self.book, self.launcher, self.tell, self.thread = book, launcher, tell, None
        self.port, self.bounds = book["port"], book["bounds"]
        self.undo = threading.Event()
        launcher.state.update(book.get("launcher", {}))
        row = book.get(book["up"] or "") or {}
        launcher.seen = row.get("pid"), row.get("started_ticks")
        launcher.noted, launcher.pause = self.note, self.pause

    @property
    def state(self):
        return self.book["state"]

    def note(self, **changed):
        """Write into the book, and let the understudy know before anything else is done."""
        self.book.update(changed)
        self.book["launcher"] = dict(self.launcher.state)
        self.tell(self.book)

    def step(self, text, **changed):
        """Tell a step together with what changes by it: nobody sees one without the other."""
        steps = [*self.book["steps"], time.strftime("%H:%M:%S ") + text][-STEPS:]
        self.note(steps=steps, **changed)

    def pause(self, seconds):
        time.sleep(seconds)
        if self.undo.is_set() and self.book["act"] in ("drain", "start"):
            raise Cancelled()

    def fail(self, how, sentence, line=None):
        """Write down what went wrong first; what follows from it does not hide it."""
        if self.book["failed"] is None:
            started = self.state in ("starting", "ready", "restoring")
            tail = self.launcher.log(TAIL_LINES) if started else []
            row = {"how": how, "sentence": sentence, "line": line, "tail": tail}
            self.note(failed=dict(row, exit=self.launcher.exit()))

    def serving(self, which):
        """Return why one of the two does not serve, or nothing."""
        pid = which.get("pid")
        return serves(pid, self.port, *self.launcher.door) if pid else "there is no process"

    def come_up(self, which, start):
        """Start one of the two unless it was started already, and wait until it serves; raise NotStarted."""
        until = now() + self.bounds["ready_s"]
        if self.book["up"] != which or self.launcher.pid() is None:
            if not self.launcher.apart and taken("self", self.port):
                raise NotStarted(self.foreign(), None)
            self.note(up=which)
            start()
        self.notice(which)
        self.wait(which, until)

    def notice(self, which):
        """Write down which process it is."""
        pid = self.launcher.pid()
        if pid:
            row = dict(self.book[which] or {}, pid=pid, started_ticks=started_of(pid), healthy=None)
            self.note(**{which: row})

    def foreign(self):
        """Say who holds the port."""
        pid = owner_of(self.port)
        who = (
            f"process {pid} ({_of(pid, 'comm').strip()})"
            if pid
            else "a process that this login may not see"
        )
        return f"port {self.port} is taken by {who}: something else has started there"

    def wait(self, which, until):
        """Wait until one of the two serves; raise NotStarted."""
        watch, wrong, began = Growth(self.launcher, self.bounds["ready_s"]), None, now()
        while True:
            pid = self.main_of(which, until)
            stranger = self.stranger(which, pid)
            why = stranger or serves(pid, self.port, *self.launcher.door)
            if not why:
                self.note(**{which: self.described(pid)})
                return
            wrong = (wrong or now()) if stranger else None
            if wrong and now() > wrong + FOREIGN_S:
                raise NotStarted(stranger, None)
            watch.look()
            if now() > until:
                raise NotStarted(watch.verdict(why), None)
            self.pause(0.1 if now() < began + 5 else 0.5)

    def main_of(self, which, until):
        """Return the main process of the one that starts; raise NotStarted when it has ended."""
        pid, told = self.launcher.look()
        while pid is None and not told and now() < until:
            self.pause(1.0)
            pid, told = self.launcher.look()
        if pid is None:
            how = self.launcher.exit()
            how = f" ({how})" if how else ""
            raise NotStarted("the server ended while it started" + how, None)
        if pid != (self.book[which] or {}).get("pid"):
            self.notice(which)
        return pid

    def stranger(self, which, pid):
        """Return why what is on the port is not the server meant, or nothing."""
        if not places_of(pid, self.port):
            return self.foreign() if taken(pid, self.port) else ""
        meant = self.launcher.expected() if which == "new" else self.launcher.server["raw"]
        if meant is None or start_of(pid)[0] == meant:
            return ""
        return "it runs another command line than the one meant"

    def described(self, pid):
        argv, *rest = start_of(pid)
        words = allowed(_without_secrets([one.decode("utf-8", "replace") for one in argv]))
        return {
            "pid": pid,
            "started_ticks": started_of(pid),
            "digest": digest_of(argv, *rest),
            "command": words,
            "healthy": True,
        }

    def same_again(self):
        """Return the process that somebody else started just as the old one was, if it serves."""
        pid = owner_of(self.port)
        try:
            if (
                pid
                and pid != self.launcher.pid()
                and digest_of(*start_of(pid)) == self.book["old"]["digest"]
            ):
                return pid
        except OSError:
            return None
        return None
