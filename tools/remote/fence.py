"""Shut a process in, before it runs what is not ours: no device, no network, no file written, no other program.

It gives `fenced` and `sealed`. The kernel holds it (seccomp, and Landlock where it has it), whatever a library tries; a
process cannot take it off again, nor can its children. Numbers of system calls: asm/unistd_64.h, asm-generic/unistd.h.
"""

import ctypes
import os
import platform
import resource
import struct

_SEALED = ("execve", "execveat")
_AS_BYTES, _CPU_S = (
    64 << 30,
    90,
)  # torch with CUDA maps some 20 GiB and touches 1; of processor time
_NOT_THERE, _NO, _NO_TERMINAL = 38, 13, 25  # ENOSYS, EACCES, ENOTTY
_WRITES = (
    0o1 | 0o2 | 0o100 | 0o1000
)  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC: a GPU is opened with O_RDWR
_READABLE = ("null", "zero", "full", "random", "urandom")
_READ_FILE, _WRITE_FILE = 4, 2

# name -> (x86_64, aarch64); None where an architecture has no such call
_CALLS = {
    "socket": (41, 198), "ioctl": (16, 29), "creat": (85, None), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None),
    "unlinkat": (263, 35), "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
    "mknod": (133, None), "mknodat": (259, 33), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "truncate": (76, 45), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "bpf": (321, 280), "perf_event_open": (298, 241),
    "add_key": (248, 217), "keyctl": (250, 219), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "openat2": (437, 437),
    "execve": (59, 221), "execveat": (322, 281),
}  # fmt: skip
_OPENS = (((2, None), 1), ((257, 56), 2))  # open, openat, and where the flags stand
_ANSWERS = {"openat2": _NOT_THERE, "io_uring_setup": _NOT_THERE, "ioctl": _NO_TERMINAL}
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class Unfenced(Exception):
    """This machine's kernel cannot shut a process in: then nothing is run."""


def _step(code, then, other, value):
    return struct.pack("<HBBI", code, then, other, value)


def _refuse(error):
    return _step(0x06, 0, 0, 0x00050000 | error)


def _filter(names, opens):
    """Return the program for seccomp: the named calls fail, and so do `opens` of a file to be written."""
    try:
        place, machine = _MACHINES[platform.machine()]
    except KeyError:
        raise Unfenced("no list of system calls for " + platform.machine()) from None
    steps = [_step(0x20, 0, 0, 4), _step(0x15, 1, 0, machine), _refuse(1), _step(0x20, 0, 0, 0)]
    if not place:
        steps += [_step(0x35, 0, 1, 0x40000000), _refuse(_NOT_THERE)]  # the x32 calls
    for name in names:
        number = _CALLS[name][place]
        if number is not None:
            steps += [_step(0x15, 0, 1, number), _refuse(_ANSWERS.get(name, _NO))]
    for numbers, argument in opens:
        if numbers[place] is not None:
            steps += [_step(0x15, 0, 4, numbers[place]), _step(0x20, 0, 0, 16 + 8 * argument),
                      _step(0x45, 0, 1, _WRITES), _refuse(_NO), _step(0x06, 0, 0, 0x7FFF0000)]  # fmt: skip
    return b"".join([*steps, _step(0x06, 0, 0, 0x7FFF0000)])


class _Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def _install(names, opens=()):
    libc, text = ctypes.CDLL(None, use_errno=True), _filter(names, opens)
    program = _Program(len(text) // 8, text)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise Unfenced("the kernel has no seccomp filters: " + os.strerror(ctypes.get_errno()))


def _landlocked():
    """Let files be read outside of /dev alone; say whether this kernel can."""
    libc = ctypes.CDLL(None, use_errno=True)
    handled = struct.pack("<Q", _READ_FILE | _WRITE_FILE)
    rules = libc.syscall(444, handled, ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    tops = [("/" + name, _READ_FILE) for name in os.listdir("/") if name != "dev"]
    tops += [("/dev/" + name, _READ_FILE) for name in _READABLE]
    for path, right in [*tops, ("/dev/null", _READ_FILE | _WRITE_FILE)]:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        libc.syscall(445, rules, 1, struct.pack("<Qi", right, fd), 0)
        os.close(fd)
    libc.prctl(38, 1, 0, 0, 0)
    done = libc.syscall(446, rules, 0) == 0
    os.close(rules)
    return done


def _modest():
    """Take the last place in every queue: for the processor, and when memory runs out."""
    os.nice(19)
    resource.setrlimit(resource.RLIMIT_AS, (_AS_BYTES, _AS_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def fenced():
    """Shut this process in, but for one program that it may still become; raise Unfenced where it cannot be."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass  # seen from a container's own /proc; the other bounds hold
    _modest()
    _landlocked()
    _install([name for name in _CALLS if name not in _SEALED], _OPENS)


def sealed():
    """Let this process become no other program any more."""
    _install(_SEALED)
