"""A transcript: what a person copied from a shell, as commands or paths and what each gave."""

from __future__ import annotations

import re
from dataclasses import dataclass

# a prompt with or without user, host and folder: "root@host:~# cmd", "$ cmd", ">>> statement"
_PROMPT = re.compile(
    r"(?:\(\w[\w.-]{0,64}\) )?(?:\[?[\w.-]{1,64}@[\w.-]{1,64}[: ][^\s$#]{0,128}\]?)?"
    r"[$#] (?P<shell>\S.*)|>>> (?P<python>.+)"
)
_HEAD = re.compile(r"==> (/\S.*?) <==")  # head and tail of several files
_GREP = re.compile(r"(/(?:sys|proc|dev)(?:/[^\s/]+)*/[A-Za-z_][\w.]*):(.*)")  # grep . FILES
_PATH = re.compile(r"/(?:sys|proc)/[^\s|;&<>'\"]+")


@dataclass(frozen=True)
class Section:
    """One command or file, and what came of it. `paths` are its files below /sys and /proc."""

    title: str
    paths: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def body(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


def sections(text: str) -> tuple[Section, ...]:
    """Split a text at its prompts, at `==> FILE <==`, and into the files of `grep . FILES`.

    What comes before the first of them has an empty title. `$ A; B` stays one section.
    """
    found: list[tuple[str, tuple[str, ...], list[str]]] = [("", (), [])]
    for line in text.split("\n"):
        short = line[:4096]
        if (grep := _GREP.match(short)) is not None:
            if found[-1][1] != (grep[1],):
                found.append((grep[1], (grep[1],), []))
            found[-1][2].append(grep[2])
        elif (head := _HEAD.match(short)) is not None:
            found.append((head[1], (head[1],), []))
        elif (prompt := _PROMPT.match(short)) is not None:
            command = prompt["shell"] or prompt["python"]
            found.append((command, tuple(_PATH.findall(command)), []))
        else:
            found[-1][2].append(line)
    return tuple(Section(title, paths, tuple(lines)) for title, paths, lines in found)


def commands(text: str) -> tuple[str, ...]:
    """Return the commands that a transcript shows, in order."""
    return tuple(part.title for part in sections(text) if part.title)
