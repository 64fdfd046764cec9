"""Find pynvml on this host: a prelude of the scripts that ask NVML.

Its own python3 may have it; else the environment of a model server has, as one pure file. That file
is run only if root or this user owns it and nobody else may write it.
"""

# ruff: noqa: F821
# What has no definition here is that of find_server.py, whose text goes before this one.

import importlib.util
import os
import re
import stat
import sys
import threading

_PLACES = ("pynvml.py", "pynvml/nvml.py")
_SITE = re.compile(r"(/\S*/(?:site|dist)-packages)/")


def trusted(path):
    """Say whether a file may be run by this user: nobody who is not this user or root could have written it."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid in (0, os.geteuid())
        and not found.st_mode & 0o022
    )


def _packages_of(pid):
    """Return the site-packages folders that a process has mapped files of, as seen from here."""
    try:
        with open(f"/proc/{pid}/maps", errors="replace") as file:
            text = file.read(1 << 22)
    except OSError:
        return []
    root = f"/proc/{pid}/root"
    return [root + folder for folder in dict.fromkeys(_SITE.findall(text))]


def _candidates():
    servers = find_servers() if "find_servers" in globals() else []
    for server in servers:
        pids = [server["pid"]] + [child["pid"] for child in server["children"][:4]]
        for folder in dict.fromkeys(folder for pid in pids for folder in _packages_of(pid)):
            for place in _PLACES:
                yield os.path.join(folder, place)


def find_pynvml():
    """Return the module and where it is from, or None and why not."""
    try:
        import pynvml

        return pynvml, getattr(pynvml, "__file__", "")
    except ImportError as why:
        reason = str(why)
    for path in _candidates():
        if trusted(path):
            try:
                spec = importlib.util.spec_from_file_location("pynvml", path)
                module = importlib.util.module_from_spec(spec)
                sys.modules["pynvml"] = module
                spec.loader.exec_module(module)
                return module, path
            except Exception as why:
                reason = repr(why)
    return None, reason


def within(seconds, work):
    """Return what `work` returns, or None when it takes longer: a call into a lost GPU may never end."""
    box = []
    thread = threading.Thread(target=lambda: box.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    return box[0] if box else None


def finish(text):
    """Print the answer and end at once, whatever thread still hangs in the driver."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()
    os._exit(0)
