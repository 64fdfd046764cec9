"""Which server this is, told without a secret: a prelude of the scripts that must meet exactly one.

It gives `started_of`, `start_of`, `digest_of` and `identity_of`. Command line, environment, working directory
and executable go into a digest and nowhere else. Standard library, Python 3.8+.
"""

import hashlib
import os

# What a supervisor gives anew at every start (systemd.exec(5); docker's short id as HOSTNAME): with it in the
# digest, the same server started again by the same unit would look like a stranger.
NEW_AT_EACH_START = frozenset(
    (b"INVOCATION_ID", b"JOURNAL_STREAM", b"SYSTEMD_EXEC_PID", b"MAINPID", b"HOSTNAME",
     b"MEMORY_PRESSURE_WATCH", b"MEMORY_PRESSURE_WRITE")
)  # fmt: skip


def _bytes_of(pid, name):
    with open("/proc/" + str(pid) + "/" + name, "rb") as file:
        return file.read()


def boot_id():
    """Return the id of this boot of the kernel."""
    return _bytes_of("sys", "kernel/random/boot_id").decode("ascii", "replace").strip()


def started_of(pid):
    """Return field 22 of /proc/PID/stat, ticks since boot; None when there is no such process."""
    try:
        return int(_bytes_of(pid, "stat").rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def start_of(pid):
    """Return (argv, environ, cwd, exe) as lists of bytes and bytes; raise OSError where they may not be read."""
    argv, environ = (_bytes_of(pid, name).split(b"\0")[:-1] for name in ("cmdline", "environ"))
    cwd, exe = (os.readlink(b"/proc/%d/%s" % (pid, name)) for name in (b"cwd", b"exe"))
    return argv, environ, cwd, exe


def digest_of(argv, environ, cwd, exe):
    """Return the SHA-256, in hex, of the boot and of how a server is started; bytes and lists of bytes.

    The order of variables does not count, nor do those of NEW_AT_EACH_START.
    """
    kept = sorted(one for one in environ if one.partition(b"=")[0] not in NEW_AT_EACH_START)
    whole = hashlib.sha256()
    for part in ([boot_id().encode()], argv, kept, [cwd], [exe]):
        for word in part:  # lengths go first: no two starts may run into the same bytes
            whole.update(b"%d:" % len(word) + word)
        whole.update(b";")
    return whole.hexdigest()


def identity_of(pid):
    """Return pid, started_ticks, boot_id and digest; raise OSError when gone or not to be read.

    The start is looked at before and after, so that a number that was given anew meanwhile is not mixed up.
    """
    before = started_of(pid)
    digest = digest_of(*start_of(pid))
    if before is None or before != started_of(pid):
        raise ProcessLookupError("process " + str(pid) + " ended while it was looked at")
    return {"pid": pid, "started_ticks": before, "boot_id": boot_id(), "digest": digest}
