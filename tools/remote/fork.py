"""Runs on the host: what a fork of the runner becomes, be it a guard, a program, or a script of ours."""

import errno
import fcntl
import json
import os
import re
import signal
import sys
import time
from contextlib import suppress

SCRIPT = ["python3", "-I", "-"]  # runs in a fork of this interpreter, which has already started
NICE = 5  # of what only asks; a user without rights could not give a server its own priority back
KEEPS = b"# part: keeper_begin.py"  # the one script that starts a server: at the priority it finds
COMPILED = {}  # parts that several scripts share, by their text
BOARDS = {}  # what one script of a batch found out, so that the others need not: files in memory
FINDS = re.compile(rb"(?m)^SHARES = \"(\w+)\"$")  # how a prelude says what it shares


def kill(group, number):
    """Signal a whole process group; that it is gone already is no trouble."""
    with suppress(OSError):
        os.killpg(group, number)


def parts(text):
    """Return the files that a script was put together from."""
    return re.split(rb"(?m)^(?=# part: )", text)


def warm(tasks):
    """Import and compile once what several scripts share, so that each fork finds it done."""
    scripts = [task.stdin for task in tasks if task.argv[:3] == SCRIPT]
    shared = [part for text in scripts for part in parts(text)]
    for part in set(shared):
        if shared.count(part) > 1:
            with suppress(SyntaxError, ValueError):  # the fork that runs it says what is wrong
                COMPILED[part] = compile(part, "<stdin>", "exec")
    for name in {
        found for part in set(shared) if shared.count(part) > 1 for found in FINDS.findall(part)
    }:
        with suppress(AttributeError, OSError):  # Linux 3.17, Python 3.8
            BOARDS[name.decode()] = os.memfd_create(name.decode())
    named = [set(re.findall(rb"^(?:import|from) ([\w.]+)", text, re.MULTILINE)) for text in scripts]
    for name in set().union(*named):
        if sum(name in names for names in named) > 1:
            with suppress(ImportError):
                __import__(name.decode())


def share(name, find):
    """Return what `find` finds, from whichever script of the batch looked first; JSON alone."""
    board = BOARDS.get(name)
    if board is None:
        return find()
    fcntl.lockf(board, fcntl.LOCK_EX)
    try:
        written = os.pread(board, os.fstat(board).st_size, 0)
        if written:
            return json.loads(written.decode())
        found = find()
        os.pwrite(board, json.dumps(found).encode(), 0)
        return found
    finally:
        fcntl.lockf(board, fcntl.LOCK_UN)


def guard():
    """Fork a process that kills what this one leaves; return the pipe to it and its number."""
    read, write = os.pipe()
    number = os.fork()
    if number:
        os.close(read)
        return write, number
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(write)
    groups = set()
    with os.fdopen(read) as lines:
        for line in lines:
            (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        kill(group, signal.SIGKILL)
    os._exit(0)


def leave(watch, number, code):
    """End with the guard: an orphan stays a zombie where process 1 reaps none, as in many a container."""
    os.close(watch)
    for _ in range(100):
        with suppress(OSError):
            if os.waitpid(number, os.WNOHANG)[0]:
                break
        time.sleep(0.01)
    os._exit(code)


def kept():
    """Return the descriptors that a script inherits, in order."""
    return sorted(BOARDS.values())


def play(task):
    """Run a script of ours in this forked interpreter, as `python3 -I - ARGUMENTS` would."""
    sys.argv = ["-", *task.argv[3:]]
    sys.stdin = open(0, encoding="utf-8", errors="replace")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    code = 0
    try:
        names = {"__name__": "__main__", "__builtins__": __builtins__, "share": share}
        for part in parts(task.stdin):
            exec(COMPILED.get(part) or compile(part, "<stdin>", "exec"), names)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code and not isinstance(end.code, int):
            sys.stderr.write(str(end.code) + "\n")
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    with suppress(OSError):
        sys.stdout.flush()
    return code


def become(task, fds, watch):
    """In the fork: take the streams, a process group of its own, and be the program. Never returns."""
    code = 127
    try:
        os.setsid()
        os.write(watch, b"+%d\n" % os.getpid())
        if KEEPS not in task.stdin:
            with suppress(OSError):
                os.nice(NICE)
        signal.set_wakeup_fd(-1)
        for number in (
            signal.SIGCHLD,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGINT,
            signal.SIGPIPE,
        ):
            signal.signal(number, signal.SIG_DFL)
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        low = 3
        for high in (*kept(), 4096):
            os.closerange(low, high)
            low = high + 1
        if task.argv[:3] == SCRIPT:
            code = play(task)
        else:
            program = (
                sys.executable if task.argv[0] == "python3" and sys.executable else task.argv[0]
            )
            os.execvp(program, [program, *task.argv[1:]])
    except OSError as why:
        code = 127 if why.errno in (errno.ENOENT, errno.ENOTDIR) else 126
        os.write(2, (f"{task.argv[0]}: {os.strerror(why.errno)}\n").encode("utf-8", "replace"))
    except BaseException as why:
        os.write(2, f"{task.argv[0]}: {why}\n".encode("utf-8", "replace"))
        code = 126
    finally:
        os._exit(code)
