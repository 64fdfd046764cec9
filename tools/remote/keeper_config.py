"""The YAML file that --config names: a copy without the flags that are to be unset. A part of the keeper.

It gives `Config`. The file itself is never touched; the copy lies beside it, with its owner and its permissions,
and goes again when the change is taken back.
"""

# Goes after keeper_launcher.py
# ruff: noqa: F821

import os
import re


def copy_name(path):
    """Return the name of the copy: SGLang takes none that does not end like YAML."""
    stem, dot, end = path.rpartition(".")
    return f"{stem}.perfsleuth.{end}" if dot else path + ".perfsleuth"


def without(text, names):
    """Return flat YAML without some of its keys, with the lines of their values; all else as it was."""
    out, drop = [], False
    for line in text.splitlines(keepends=True):
        key = re.match(r"[\"']?([\w-]+)[\"']?\s*:", line)
        if key:
            drop = key.group(1).replace("-", "_") in names
        elif not line[:1].isspace() and not line.startswith("-") and line.strip():
            drop = False
        if not drop:
            out.append(line)
    return "".join(out)


class Config:
    """The file of one command line, where an edit replaces it by its copy."""

    def __init__(self, start, edits):
        words = [os.fsdecode(word) for word in start.argv]
        self.file, self.copy, self.made = self._file(words), None, False
        swap = next((one["add"] for one in edits if "--config" in one["drop"]), None)
        if not swap or not self.file:
            return
        self.cwd = os.fsdecode(start.cwd)
        self.copy = swap[-1].partition("=")[2] if len(swap) == 1 else swap[-1]
        gone = [spelled for one in edits if not one["add"] for spelled in one["drop"]]
        self.names = {spelled.lstrip("-").replace("-", "_") for spelled in gone}

    @staticmethod
    def _file(words):
        found = None
        for at, word in enumerate(words):
            name, equals, rest = word.partition("=")
            if name == "--config":
                found = rest if equals else [*words, ""][at + 1]
        return found

    def check(self):
        """Raise Refused where the copy cannot be made."""
        if not self.copy:
            return
        if self.copy != copy_name(self.file):
            raise Refused(f"the copy of {self.file} must be called {copy_name(self.file)}")
        folder = os.path.dirname(self._at(self.copy))
        if not os.access(folder, os.W_OK):
            raise Refused(
                f"{folder} takes no copy of {self.file} without the flag: this login may not write there"
            )
        if os.path.lexists(self._at(self.copy)):
            raise Refused(f"{self.copy} is there already: look what it is, and remove it")
        try:
            with open(self._at(self.file), encoding="utf-8", errors="surrogateescape") as file:
                self.text = file.read()
        except OSError as why:
            raise Refused(f"{self.file} cannot be read: {why.strerror}") from None

    def _at(self, path):
        return os.path.join(self.cwd, path)

    def remarks(self):
        return (
            [f"{self.copy} is made beside {self.file}, which stays as it is"] if self.copy else []
        )

    def write(self):
        """Write the copy, with owner and permissions of the file."""
        if not self.copy:
            return
        like, path = os.stat(self._at(self.file)), self._at(self.copy)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            if os.geteuid() == 0:
                os.fchown(fd, like.st_uid, like.st_gid)
            os.fchmod(fd, like.st_mode & 0o777)
            file.write(without(self.text, self.names))

    def settle(self, kept):
        """Remove the copy when the change was taken back; say where it lies when it was kept."""
        if not self.copy:
            return []
        if kept:
            return [f"the server now reads {self.copy}; {self.file} is as it was"]
        if os.path.lexists(self._at(self.copy)):
            os.unlink(self._at(self.copy))
        return []
