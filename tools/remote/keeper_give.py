"""Become a process as another one was started: the text that a fork of the keeper and a stub in a terminal run.

It gives `give`, which never returns. `told` is what `Start.given` makes; `fds` are the three streams, None where
the present one stays. It stands alone, for a stub gets it over the keeper's socket.
"""

import ctypes
import os
import resource
import signal
from contextlib import suppress

MODES = {"prefer": 1, "bind": 2, "interleave": 3, "local": 4}  # of <linux/mempolicy.h>


def _try(act, *arguments):
    with suppress(OSError, ValueError):  # what this user may not give was refused before
        act(*arguments)


def _write(path, text):
    with open(path, "w") as file:
        file.write(text)


def _streams(fds):
    taken = [None if fd is None else os.dup(fd) for fd in fds]
    for number, fd in enumerate(taken):
        if fd is not None:
            os.dup2(fd, number)
            os.close(fd)


def _memory(policy):
    """Set the memory policy that numa_maps tells, as set_mempolicy(2) takes it."""
    call = {"x86_64": 238, "aarch64": 237}.get(os.uname().machine)
    name, _, nodes = (policy or "").partition(":")
    mode = MODES.get(name.partition("=")[0])
    if call is None or mode is None:
        return
    mask = 0
    for part in filter(None, nodes.split(",")):
        first, _, last = part.partition("-")
        for node in range(int(first), int(last or first) + 1):
            mask |= 1 << node
    words = (ctypes.c_ulong * 16)(*[mask >> 64 * at & (1 << 64) - 1 for at in range(16)])
    ctypes.CDLL(None).syscall(call, mode, words, 1024)


def _user(told):
    if os.geteuid() == 0:
        os.setgroups(told["groups"])
        os.setresgid(*told["gids"])
        os.setresuid(*told["uids"])


def _words(rows):
    words = [bytes.fromhex(one) for one in rows]
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)


def give(told, fds):
    """Take streams, limits, user and place, and execute; raise OSError where that fails."""
    argv, environ = _words(told["argv"]), _words(told["environ"])
    program, cwd = bytes.fromhex(told["program"]), bytes.fromhex(told["cwd"])
    # os.execve would lose a variable that is there twice
    execve = ctypes.CDLL(None, use_errno=True).execve
    _streams(fds)
    _try(_write, "/proc/self/oom_score_adj", str(told["oom"]))
    for number, soft, hard in told["limits"]:
        _try(resource.setrlimit, number, (soft, hard))
    _try(os.sched_setscheduler, 0, told["policy"], os.sched_param(told["rank"]))
    _try(_memory, told["memory"])
    _try(os.setpriority, os.PRIO_PROCESS, 0, told["nice"])
    _try(os.sched_setaffinity, 0, told["cpus"])
    _try(os.chdir, cwd)
    _user(told)
    os.chdir(cwd)
    os.umask(told["umask"])
    for number in range(1, 65):
        if number not in (9, 19, 32, 33):
            _try(
                signal.signal,
                number,
                signal.SIG_IGN if number in told["ignored"] else signal.SIG_DFL,
            )
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    execve(program, argv, environ)
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), os.fsdecode(program))
