"""Who stands above a server: shells and their scripts, supervisors, terminals; a prelude of launcher.py.

It gives `parents_of` and `terminal_of`. Of a parent its program is told and the file that it runs, never its
other words; of a script only whether it holds a loop.
"""

# Goes after proc.py
# ruff: noqa: F821

import os
import re
import subprocess

_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "fish")
_LOOP = re.compile(r"(?m)(?:^|[;&|]\s*|\bdo\s+)\s*(?:while|until)\b|\bfor\s*\(\(\s*;")
_MOST = 64 << 10  # of a script


def _loops(text):
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return bool(_LOOP.search(code))


def _script(pid, argv):
    """Return (file, whether it loops) of what a shell runs; None, None of one that a person types into."""
    words = argv[1:]
    while words and words[0].startswith("-"):
        if re.match(r"-[a-z]*c$", words[0]):
            return None, _loops(words[1]) if len(words) > 1 else None
        words = words[2:] if words[0] in ("-o", "--rcfile", "--init-file") else words[1:]
    if not words:
        return None, None
    file = os.path.join(_link(pid, "cwd") or "/", words[0])
    text = _raw(f"/proc/{pid}/root{file}", _MOST)
    return words[0][:300], None if text is None else _loops(text.decode("utf-8", "replace"))


def _parent(pid, argv):
    name = _of(pid, "comm").strip()
    program = os.path.basename(argv[0]).lstrip("-").split(" ")[0].rstrip(":") if argv else name
    row = {"pid": pid, "name": name[:40], "program": program[:60]}
    if program in _SHELLS:
        row["script"], row["loops"] = _script(pid, argv[1:] if program == "busybox" else argv)
    elif re.match(r"python|pypy", program):
        files = [word for word in argv[1:3] if not word.startswith("-")][:1]
        row["script"] = os.path.basename(files[0])[:80] if files else None
    elif program in ("runsv", "s6-supervise", "supervise"):
        row["script"] = argv[1][:80] if len(argv) > 1 else None
    return row


def parents_of(pid):
    """Return the processes above this one, nearest first, down to process 1."""
    table, found = _processes(), []
    for _ in range(24):
        pid = table.get(pid, (0, []))[0]
        if pid < 1 or pid not in table:
            return found
        found.append(_parent(pid, table[pid][1]))
    return found


def terminal_of(pid, parents):
    """Return what holds the server's terminal: tmux or screen by name, or an ssh session."""
    for row in parents:
        program = row["program"].lower()
        if row["name"].startswith("tmux") or program.startswith("tmux"):
            return {"kind": "tmux", "name": _tmux_session(pid, row["pid"])}
        if row["name"].lower().startswith("screen") or program == "screen":
            return {"kind": "screen", "name": None}
        if row["name"].startswith("sshd"):
            return {"kind": "ssh", "name": None}
    return None


def _tmux_session(pid, server):
    """Ask tmux's own server, found by its socket in the environment of the pane."""
    raw = _of(pid, "environ")
    found = re.search(r"(?:^|\0)TMUX=([^,\0]{1,200}),(\d+),(\d+)", raw)
    pane = re.search(r"(?:^|\0)TMUX_PANE=(%\d+)(?:\0|$)", raw)
    if not found or not pane or int(found.group(2)) != server:
        return None
    argv = ("tmux", "-S", found.group(1), "display-message", "-p", "-t", pane.group(1), "#S:#I.#P")
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=3)
    except (OSError, subprocess.SubprocessError):
        return None
    return (
        done.stdout.decode("utf-8", "replace").strip()[:80] or None
        if done.returncode == 0
        else None
    )
