"""The drop-in with which a unit's command line is tried, and kept: a part of the keeper.

It gives `DropIn`. While it is tried it lies below /run, so that a host that is started anew comes up with the unit as
it was; kept, it moves below /etc. The unit's own file is never touched. No secret is written that a file did not hold.
"""

# Goes after systemd_words.py
# Goes after systemd_ask.py
# ruff: noqa: F821

import os
import pwd
import tempfile
from contextlib import suppress

TRIAL, KEPT = "95-perfsleuth-trial.conf", "90-perfsleuth.conf"
_CARRIED = ("Environment", "UnsetEnvironment")


class DropIn:
    """Two places of one unit, and what goes into them."""

    def __init__(self, unit, owner, show, env, unset_env):
        self.unit, self.owner, self.env, self.unset_env = unit, owner, env, unset_env
        if owner is None:
            tried, kept = "/run/systemd/system", "/etc/systemd/system"
        else:
            mine = os.environ if os.geteuid() == owner else {}
            tried = mine.get("XDG_RUNTIME_DIR", f"/run/user/{owner}") + "/systemd/user"
            kept = (
                mine.get("XDG_CONFIG_HOME", pwd.getpwuid(owner).pw_dir + "/.config")
                + "/systemd/user"
            )
        self.trial, self.kept = (f"{folder}/{unit}.d/" for folder in (tried, kept))
        self.trial, self.kept = self.trial + TRIAL, self.kept + KEPT
        self.files = [show.get("FragmentPath", ""), *show.get("DropInPaths", "").split()]

    def texts(self):
        """Return the unit's files in the order in which they count; raise OSError where one may not be read."""
        found = []
        for file in filter(None, self.files):
            with open(file, encoding="utf-8", errors="surrogateescape") as opened:
                found.append(opened.read())
        return found

    def overruled(self):
        """Return the drop-in that counts after ours and sets the command line too; None where there is none."""
        for file, text in zip(filter(None, self.files), self.texts()):  # noqa: B905 (Python 3.8)
            if file == self.trial:
                return file  # left over from a change that nobody ended
            later = file in self.files[1:] and os.path.basename(file) > KEPT
            if later and any(name == "ExecStart" for name, _ in directives(text)):
                return file
        return None

    def given_by_file(self, names):
        """Return (name, file) of a variable that an EnvironmentFile sets, which wins over any drop-in."""
        for text in self.texts():
            for name, value in directives(text):
                path = value.lstrip("-").strip('"') if name == "EnvironmentFile" else ""
                for line in (
                    (_raw(path) or b"").decode("utf-8", "replace").splitlines() if path else ()
                ):
                    found = line.strip().partition("=")[0]
                    if found in names:
                        return found, path
        return None

    def text(self, line, before=()):
        """Return what the drop-in holds; `before` are directives that go first."""
        gone = [f"UnsetEnvironment={name}" for name in self.unset_env]
        given = ["Environment=" + assignment(name, value) for name, value in self.env.items()]
        rows = [*before, *given, *gone, "ExecStart=", "ExecStart=" + line]
        return (
            "# Written by perfsleuth. Without this file the unit is as it was before.\n[Service]\n"
            + "\n".join(rows)
            + "\n"
        )

    def carried(self):
        """Return the variables that a drop-in of ours, kept earlier, gives."""
        text = _raw(self.kept)
        pairs = directives(text.decode("utf-8", "surrogateescape")) if text else ()
        return [f"{name}={value}" for name, value in pairs if name in _CARRIED]

    def writable(self):
        """Return the folder that does not let us write, or None."""
        for path in (self.trial, self.kept):
            folder = os.path.dirname(path)
            while not os.path.isdir(folder):
                folder = os.path.dirname(folder)
            if not os.access(folder, os.W_OK):
                return folder
        return None

    def write(self, path, text):
        """Write one of the two whole or not at all, for its owner alone to read."""
        folder = os.path.dirname(path)
        self._make(folder)
        fd, name = tempfile.mkstemp(dir=folder, prefix=".perfsleuth")
        with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
        self._give(name)
        os.replace(name, path)

    def _make(self, folder):
        if not os.path.isdir(folder):
            self._make(os.path.dirname(folder))
            os.mkdir(folder, 0o755)
            self._give(folder)

    def _give(self, path):
        if self.owner not in (None, os.geteuid()):
            entry = pwd.getpwuid(self.owner)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def remove(self, path):
        """Remove one of the two, and its folder when that is empty; say whether it was there."""
        there = os.path.lexists(path)
        if there:
            os.unlink(path)
        with suppress(OSError):  # it holds others, or was never there
            os.rmdir(os.path.dirname(path))
        return there
