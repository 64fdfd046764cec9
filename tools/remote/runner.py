"""Runs on the host: a batch of commands at once, each bounded, each answer sent as soon as it is there.

The bootstrap of tools/batch.py executes fork.py and this text in one namespace, with JOB, the bytes
of a JSON object, in it. Answers go to stdout as frames: MAGIC, four bytes of length, then zlib of a
JSON line and the raw bytes of both streams. The end of stdin means that nobody waits any more: every
process group that was started is killed at once. A guard does the same should this one be killed -9.
Standard library only, Python 3.8 or newer, one thread (it forks), and nothing on the host is changed.
"""

import json
import os
import selectors
import signal
import struct
import time
import zlib

# ruff: noqa: F821
# SCRIPT, warm, guard, leave, become and kill are those of fork.py, whose text goes before this one.

MAGIC = b"\0PSL1"
CHUNK = 1 << 18
STDERR_BYTES = 64 << 10
GRACE_S = 1.0  # between TERM and KILL, and for an open stream after the end
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib:/opt/bin"


class Task:
    """One command: what was asked, what came so far, and when it must end."""

    def __init__(self, number, told):
        self.number, self.argv, self.cap = number, told["argv"], told["max_bytes"]
        self.stdin, self.limit_s = told["stdin"].encode("utf-8", "surrogatepass"), told["limit_s"]
        self.out, self.err, self.size, self.err_size = [], [], 0, 0
        self.fds, self.pid, self.status, self.lost, self.cut = {}, 0, None, "", False
        self.began = self.until = self.ended = self.termed = self.killed = None

    def take(self, which, data):
        """Keep what is within the caps; say whether standard output has gone beyond its own."""
        if which == "err":
            if self.err_size < STDERR_BYTES:
                self.err.append(data[: STDERR_BYTES - self.err_size])
            self.err_size += len(data)
            return False
        if self.size < self.cap:
            self.out.append(data[: self.cap - self.size])
        self.size += len(data)
        return self.size > self.cap

    def due(self):
        """Return the next moment at which something must be done about it."""
        if self.ended is not None:
            return self.ended + GRACE_S
        if self.killed is not None:
            return self.killed + GRACE_S
        return self.until if self.termed is None else self.termed + GRACE_S

    def frame(self):
        """Return the answer as it goes over the wire."""
        out, err = b"".join(self.out), b"".join(self.err)
        took = time.monotonic() - self.began if self.began is not None else 0.0
        told = {"n": self.number, "status": self.status, "lost": self.lost, "cut": self.cut}
        told.update(took_s=round(took, 3), out=len(out), err=len(err))
        level = 6 if len(out) < 1 << 20 else 1
        packed = zlib.compress(json.dumps(told).encode() + b"\n" + out + err, level)
        return MAGIC + struct.pack(">I", len(packed)) + packed


class Runner:
    """The loop: starts what may start, drains, ends what is over, sends what has finished."""

    def __init__(self, job):
        self.waiting = [Task(n, told) for n, told in enumerate(job["commands"])]
        self.running, self.at_once, self.outbox = [], job["at_once"], bytearray()
        self.over = time.monotonic() + job["bound_s"]
        self.watch, self.guard = guard()
        warm(self.waiting)
        self.select = selectors.DefaultSelector()
        self.select.register(0, selectors.EVENT_READ, self.hear)
        wake, waker = os.pipe()
        for fd in (wake, waker, 1):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.select.register(wake, selectors.EVENT_READ, lambda fd: os.read(fd, 4096))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())

    def stop(self):
        """Nobody waits any more: kill everything and be gone."""
        for task in self.running:
            kill(task.pid, signal.SIGKILL)
        leave(self.watch, self.guard, 1)

    def hear(self, fd):
        """Whatever comes on stdin means that somebody is there; its end, that nobody is."""
        if not os.read(fd, 4096):
            self.stop()

    def begin(self, task):
        """Start one command with three pipes."""
        task.began = time.monotonic()
        task.until = min(task.began + task.limit_s, self.over)
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        script = task.argv[:3] == SCRIPT
        task.pid = os.fork()
        if not task.pid:
            become(task, theirs, self.watch)
        for fd in theirs:
            os.close(fd)
        task.fds = {"in": pipes[0][1], "out": pipes[1][0], "err": pipes[2][0]}
        for fd in task.fds.values():
            os.set_blocking(fd, False)
        for which in ("out", "err"):
            self.select.register(
                task.fds[which], selectors.EVENT_READ, lambda _, w=which: self.drain(task, w)
            )
        if script or not task.stdin:
            os.close(task.fds.pop("in"))
        else:
            self.select.register(task.fds["in"], selectors.EVENT_WRITE, lambda _: self.fill(task))
        self.running.append(task)

    def shut(self, task, which):
        """Close one of our ends."""
        fd = task.fds.pop(which, None)
        if fd is not None:
            self.select.unregister(fd)
            os.close(fd)

    def fill(self, task):
        """Give a program what it reads from its stdin."""
        try:
            task.stdin = task.stdin[os.write(task.fds["in"], task.stdin[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            task.stdin = b""
        if not task.stdin:
            self.shut(task, "in")

    def drain(self, task, which):
        """Take what is there; a program that prints beyond its cap is ended."""
        try:
            data = os.read(task.fds[which], CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.shut(task, which)
        elif task.take(which, data):
            task.cut = True
            self.shut(task, which)
            self.end(task)

    def end(self, task):
        """Ask a process group to end; `mind` kills it if it does not."""
        if task.termed is None:
            task.termed = time.monotonic()
            kill(task.pid, signal.SIGTERM)

    def mind(self, task, now):
        """Do what is due: limits, kills, the end; say whether the task is finished."""
        if task.ended is None:
            pid, status = os.waitpid(task.pid, os.WNOHANG)
            if pid:
                task.ended = now
                if task.termed is None:
                    task.status = (
                        128 + os.WTERMSIG(status)
                        if os.WIFSIGNALED(status)
                        else os.WEXITSTATUS(status)
                    )
        if task.ended is not None and ("out" not in task.fds or now >= task.due()):
            return True
        if task.ended is not None or now < task.due():
            return False
        if task.termed is None:
            task.lost = f"timed out after {min(task.limit_s, now - task.began):.3g} s and was ended"
            self.end(task)
        elif task.killed is None:
            task.killed = now
            kill(task.pid, signal.SIGKILL)
        else:
            task.lost += "; it hangs in the kernel and cannot be killed"
            return True
        return False

    def finish(self, task):
        """Close, end what is left of the group, and queue the answer."""
        for which in list(task.fds):
            if which == "err":
                self.drain(task, which)
            self.shut(task, which)
        kill(task.pid, signal.SIGKILL)
        os.write(self.watch, b"-%d\n" % task.pid)
        self.running.remove(task)
        self.send(task)

    def send(self, task):
        """Queue an answer; it leaves when the other side takes it."""
        if not self.outbox:
            self.select.register(1, selectors.EVENT_WRITE, self.flush)
        self.outbox += task.frame()

    def flush(self, fd):
        """Send as much as the other side takes now."""
        try:
            del self.outbox[: os.write(fd, self.outbox[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self.stop()
        if not self.outbox:
            self.select.unregister(fd)

    def run(self):
        """Run the batch to its end."""
        while self.waiting or self.running or self.outbox:
            now = time.monotonic()
            while self.waiting and now >= self.over:
                task = self.waiting.pop(0)
                task.lost = "not asked: the batch ran past its limit"
                self.send(task)
            while self.waiting and len(self.running) < self.at_once:
                self.begin(self.waiting.pop(0))
            due = min((task.due() for task in self.running), default=now + 60)
            for key, _ in self.select.select(max(0.0, due - time.monotonic())):
                key.data(key.fd)
            now = time.monotonic()
            for task in list(self.running):
                if self.mind(task, now):
                    self.finish(task)
        leave(self.watch, self.guard, 0)


if "JOB" in globals():
    os.environ.update(LC_ALL="C", PATH=os.environ.get("PATH", "") + ":" + PATHS)
    os.chdir("/")
    Runner(json.loads(globals()["JOB"])).run()
