"""Ask systemctl, the system's or a user's: a prelude of what finds a unit and of what changes one.

It gives `asked`, `systemctl`, `shown`, `tied` and `unit_in`. A user's own systemd is asked as that user.
"""

import os
import re
import subprocess

_CTL_S = 15
TIED = (
    "RequiredBy",
    "BoundBy",
    "ConsistsOf",
    "TriggeredBy",
)  # other units that a stop takes along, or that undo it


def as_user(uid):
    """Return what a child process does to become a user, or None where it is that one already."""
    if uid is None or os.geteuid() == uid:
        return None

    def become():
        import pwd

        entry = pwd.getpwuid(uid)
        os.initgroups(entry.pw_name, entry.pw_gid)
        os.setgid(entry.pw_gid)
        os.setuid(uid)

    return become


def asked(argv, limit_s=_CTL_S, become=None, more=None):
    """Return (status, stdout, stderr) of a program; 127 and why where it cannot be run or takes too long."""
    env = dict(os.environ, LC_ALL="C", SYSTEMD_PAGER="", SYSTEMD_COLORS="0", **(more or {}))
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=limit_s, env=env, preexec_fn=become)  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, "", f"{argv[0]} did not answer within {limit_s:g} s"
    except (OSError, subprocess.SubprocessError) as why:
        return 127, "", f"{argv[0]}: {getattr(why, 'strerror', None) or why}"
    return (
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def unit_in(cgroup):
    """Return (unit, uid of the user whose systemd runs it or None) from /proc/PID/cgroup; None, None if none."""
    for line in cgroup.splitlines():
        path = line.split(":", 2)[-1]
        owner = re.search(r"/user@(\d+)\.service/", path)
        inner = path[owner.end() - 1 :] if owner else path
        units = re.findall(r"/([^/\n]+\.service)(?=/|$)", inner)
        if units:
            return units[-1], int(owner.group(1)) if owner else None
    return None, None


def systemctl(uid, *words, limit_s=_CTL_S):
    """Ask the system's systemd, or a user's; return (status, stdout, stderr)."""
    if uid is None:
        return asked(("systemctl", *words), limit_s)
    runtime = f"/run/user/{uid}"
    if os.geteuid() == uid:
        runtime = os.environ.get("XDG_RUNTIME_DIR") or runtime
    bus = {"XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + runtime + "/bus"}
    return asked(("systemctl", "--user", *words), limit_s, as_user(uid), bus)


def shown(uid, unit, names):
    """Return {name: value} of `systemctl show`, or why there is none as {"trouble": ...}."""
    status, out, err = systemctl(uid, "show", "--no-pager", "-p", ",".join(names), "--", unit)
    pairs = [line.partition("=") for line in out.splitlines()]
    found = {name: value for name, equals, value in pairs if equals and name in names}
    if status or not found:
        return {"trouble": (err.strip().splitlines() or ["systemctl gave no answer"])[-1][:200]}
    return found


def tied(show):
    """Return the first unit that does not stay as it is when this one stops, or None; targets do not count."""
    names = [name for key in TIED for name in show.get(key, "").split()]
    return next((name for name in names if not name.endswith(".target")), None)
