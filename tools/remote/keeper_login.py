"""Whether a new server outlives this login: logind may end all that a session leaves. A part of the keeper.

It gives `ends_with_login`. Keeper, understudy and new server stand in the session of this login.
"""

# Goes after keeper_terminal.py
# ruff: noqa: F821

import os
import re

_MANAGER = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")


def ends_with_login():
    """Say why a new server would end with this login; empty where it would not, or logind does not tell.

    KillUserProcesses= and KillExcludeUsers= of logind.conf(5); root is left out by default, so root is not asked about.
    """
    if os.geteuid() == 0 or not re.search(r"/session-[^/\n]+\.scope", _of(os.getpid(), "cgroup")):
        return ""
    told = shown_by(["busctl", "get-property", *_MANAGER, "KillUserProcesses"]) or ""
    if told.split() != ["b", "true"]:
        return ""
    return (
        "logind ends whatever a login leaves behind on this host (KillUserProcesses=yes), so the new server would end "
        "with it: make it a systemd unit, or set KillUserProcesses=no"
    )
