"""Open a file that a person or a model named: a prelude of the scripts that read one.

What is no regular file, or is one of the kernel's, is refused: a pipe would never end, and what
/proc, /sys and /dev hold is asked by other looks, by name.
"""

import errno
import os
import stat

_KERNELS = ("/proc/", "/sys/", "/dev/")


def given(path):
    """Return (file, None), or None and the answer that says why there is none."""
    trouble = None
    try:
        # without waiting, for a pipe that nobody writes into would hold us for ever
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as why:
        code = getattr(why, "errno", None)
        gone = code in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, None)
        reason = os.strerror(code) if code else "no path"
        return None, {"absent" if gone else "failed": f"{path} cannot be read: {reason}"}
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        trouble = "is a folder: name the file in it"
    elif not stat.S_ISREG(os.fstat(fd).st_mode):
        trouble = "is no regular file, and is not read"
    elif os.path.realpath(path).startswith(_KERNELS):
        trouble = "is one of the kernel's own files, and is not read like this"
    if trouble:
        os.close(fd)
        return None, {"failed": f"{path} {trouble}"}
    return os.fdopen(fd, "rb", buffering=0), None
