"""All that one process was started with, held in memory alone: a prelude of the keeper.

It gives `Start` and `descendants`. What is secret in it is never printed, sent or written. What cannot be given
to another process again is told by `Start.cannot`, before anything is touched.
"""

# Goes after identity.py
# ruff: noqa: F821

import os
import re
import resource
import stat

LIMITS = {
    int(getattr(resource, name)): name for name in dir(resource) if name.startswith("RLIMIT_")
}
SYS_NICE, SYS_RESOURCE = 23, 24
_ACCESS = os.O_ACCMODE | os.O_APPEND | os.O_DSYNC | os.O_SYNC


def state_of(pid):
    """Return (state, parent, session, terminal) of /proc/PID/stat; None when it is gone."""
    try:
        words = _bytes_of(pid, "stat").rpartition(b")")[2].split()
        return words[0].decode(), int(words[1]), int(words[3]), int(words[4])
    except (OSError, IndexError, ValueError):
        return None


def lives(pid, ticks):
    """Say whether that very process runs; a zombie does not."""
    found = state_of(pid)
    return found is not None and found[0] not in "ZX" and started_of(pid) == ticks


def descendants(pid):
    """Return [(pid, ticks)] of all that were started below a process, the deepest last."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = state_of(int(name))
            if found:
                children.setdefault(found[1], []).append(int(name))
    below, look = [], [pid]
    while look:
        more = children.get(look.pop(0), [])
        below += more
        look += more
    return [(one, started_of(one)) for one in below]


def limits_of(pid):
    """Return {number: (soft, hard)}; the kernel lists them in the order of their numbers, and anybody may read it."""
    rows = _bytes_of(pid, "limits").decode("ascii", "replace").splitlines()[1:]
    found = {}
    for number, row in enumerate(rows):
        both = re.match(r"Max .*?\s{2,}(\S+)\s+(\S+)", row)
        if both and number in LIMITS:
            found[number] = tuple(-1 if one == "unlimited" else int(one) for one in both.groups())
    return found


def memory_of(pid):
    """Return the memory policy that numactl gave ("bind:0"), or None; it stands in no command line."""
    try:
        text = _bytes_of(pid, "numa_maps").decode("ascii", "replace")
    except OSError:
        return None
    found = re.search(r"(?m)^\S+ (\S+) .*\bstack\b", text)
    return found.group(1) if found and found.group(1) != "default" else None


def may(capability):
    """Say whether this process has a capability of capabilities(7)."""
    status = _bytes_of("self", "status").decode("ascii", "replace")
    return bool(int(re.search(r"CapEff:\s+(\S+)", status).group(1), 16) >> capability & 1)


class Target:
    """Where one of the streams goes: an open file of the same thing, held until the change has ended."""

    def __init__(self, pid, number):
        where = f"/proc/{pid}/fd/{number}"
        self.number, self.held, self.path, self.kind, self.mark = number, None, None, "closed", None
        try:
            self.path = os.readlink(where)
            info = _bytes_of(pid, f"fdinfo/{number}").decode("ascii", "replace")
        except OSError:
            return
        flags = int(re.search(r"flags:\s+([0-7]+)", info).group(1), 8)
        self.flags, mode = flags & _ACCESS, os.stat(where).st_mode
        names = {
            stat.S_IFREG: "file",
            stat.S_IFIFO: "pipe",
            stat.S_IFSOCK: "socket",
            stat.S_IFCHR: "device",
        }
        self.kind = names.get(stat.S_IFMT(mode), "other")
        if self.kind == "device" and self.path.startswith(
            ("/dev/pts/", "/dev/tty", "/dev/console")
        ):
            self.kind = "terminal"
        self.mark = (self.path, self.flags, re.search(r"pos:\s+(\d+)", info).group(1))
        if self.kind not in ("socket", "other"):
            self.open(where)

    def open(self, where):
        """Open the same thing anew: never cut, never a terminal to be led by; a pipe is not waited for."""
        try:
            wait = os.O_NONBLOCK if self.kind == "pipe" else 0
            self.held = os.open(where, self.flags | os.O_NOCTTY | os.O_CLOEXEC | wait)
            os.set_blocking(self.held, True)
        except OSError as why:
            self.mark = ("not opened", os.strerror(why.errno))

    def ready(self):
        """Return the descriptor for a new process: a file that is not appended to goes on at its end."""
        if self.kind == "file" and not self.flags & os.O_APPEND and self.flags & os.O_ACCMODE:
            os.lseek(self.held, 0, os.SEEK_END)
        return self.held


class Start:
    """One process as it was started: raw words, variables, place, user, limits, streams."""

    def __init__(self, pid):
        self.pid, self.ticks = pid, started_of(pid)
        self.argv, self.environ, self.cwd, self.exe = start_of(pid)
        status = _bytes_of(pid, "status").decode("utf-8", "replace")
        rows = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        self.uids, self.gids = ([int(n) for n in rows[k].split()[:3]] for k in ("Uid", "Gid"))
        self.groups = [int(n) for n in rows["Groups"].split()]
        self.umask, self.ignored = int(rows.get("Umask", "0022"), 8), int(rows["SigIgn"], 16)
        self.limits = limits_of(pid)
        self.nice, self.cpus = (
            os.getpriority(os.PRIO_PROCESS, pid),
            sorted(os.sched_getaffinity(pid)),
        )
        self.policy, self.rank = os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority
        self.oom = int(_bytes_of(pid, "oom_score_adj"))
        self.memory = memory_of(pid)
        self.terminal = state_of(pid)[3]
        self.targets = [Target(pid, number) for number in range(3)]
        if self.targets[1].mark is not None and self.targets[2].mark == self.targets[1].mark:
            if self.targets[2].held is not None:
                os.close(self.targets[2].held)
            self.targets[2].held = self.targets[1].held  # 2>&1: one place in the file for both

    def program(self):
        """Return the path to execute: that of argv[0], by which Python finds its environment, if it is that file."""
        first = os.fsdecode(self.argv[0]) if self.argv else ""
        path = next((one[5:] for one in self.environ if one.startswith(b"PATH=")), b"/usr/bin:/bin")
        folders = [""] if "/" in first else os.fsdecode(path).split(":")
        for folder in folders:
            found = os.path.join(os.fsdecode(self.cwd), folder, first)
            if os.path.realpath(found) == os.fsdecode(self.exe) and not os.path.isdir(found):
                return os.fsencode(found)
        return self.exe

    def variable(self, name):
        """Return the value of one variable as text, or None."""
        head = name.encode() + b"="
        return next(
            (os.fsdecode(one[len(head) :]) for one in self.environ if one.startswith(head)), None
        )

    def cannot(self):
        """Return a sentence that says what a new process could not be given again, or None."""
        for where, what in ((self.cwd, "working directory"), (self.exe, "program")):
            if where.endswith(b" (deleted)"):
                return f"its {what} was deleted since it was started: {os.fsdecode(where)}"
        for target in self.targets:
            if target.number and target.kind == "socket":
                return "its output goes into a socket, which cannot be opened again"
            if target.held is None and target.kind not in ("closed", "socket", "other"):
                return f"{target.path}, where its output goes, cannot be opened: {target.mark[1]}"
        return self.foreign() or self.too_high()

    def foreign(self):
        """Return a sentence that says whose it is, where only root may give it its user back; or None."""
        mine = os.geteuid() == 0 or (
            set(self.uids) == {os.geteuid()} and set(self.gids) == {os.getegid()}
        )
        return None if mine else f"it runs as user {self.uids[0]}: log in as that user or as root"

    def too_high(self):
        """Return a sentence that says what this login may not give, or None; root in a container may lack it too."""
        for number, (_, hard) in self.limits.items():
            mine = resource.getrlimit(number)[1]
            if mine != resource.RLIM_INFINITY and not 0 <= hard <= mine and not may(SYS_RESOURCE):
                return (
                    f"its limit {LIMITS[number]} is higher than this login may give: log in as root"
                )
        higher = self.nice < os.getpriority(os.PRIO_PROCESS, 0) or self.policy != os.SCHED_OTHER
        if higher and not may(SYS_NICE):
            return "its priority is higher than this login may give: log in as root"
        if self.oom < int(_bytes_of("self", "oom_score_adj")) and not may(SYS_RESOURCE):
            return "its oom_score_adj is lower than this login may give: log in as root"
        return None

    def given(self, argv, environ):
        """Return all that `give` needs to make a process like this one, as JSON can carry it."""
        ignored = [number for number in (1, 2, 3) if self.ignored >> (number - 1) & 1]
        return {
            "program": self.program().hex(), "argv": [one.hex() for one in argv],
            "environ": [one.hex() for one in environ],
            "cwd": self.cwd.hex(), "uids": self.uids, "gids": self.gids, "groups": self.groups, "umask": self.umask,
            "limits": [[number, *both] for number, both in self.limits.items()], "nice": self.nice, "cpus": self.cpus,
            "policy": self.policy, "rank": self.rank, "oom": self.oom, "memory": self.memory, "ignored": ignored,
        }  # fmt: skip

    def let_go(self):
        """Close what is held, so that a reader of a pipe sees its end."""
        for held in {target.held for target in self.targets} - {None}:
            os.close(held)
        for target in self.targets:
            target.held = None
