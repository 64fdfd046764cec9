"""Lines of the serve log that hold a text."""

from __future__ import annotations

import json
import re
from typing import ClassVar, Self

from pydantic import Field, model_validator

from tools.engine import LogMatches
from tools.engine.prompts import cleaned
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told

LONGEST = 200  # characters of what is looked for
LINE_CAP = 600
_CLASS = re.compile(r"\[:\w{1,12}:\]")  # of POSIX, which Python does not know
_PART = re.compile(r"\{[\d,]*\}|.")
_PLAIN = re.compile(r"[^\x00-\x1f]+")


class GrepServerLog(Probe[LogMatches]):
    """Find lines of the serve log: a fixed text, or a pattern of grep -E.

    The newest matches are kept. A person would type: grep -F TEXT LOG | tail. Prompts and secrets are left out.
    """

    routine: ClassVar[bool] = False

    text: str = Field("error", min_length=2, max_length=LONGEST, description="what to look for")
    pattern: bool = Field(
        default=False, description="whether it is a pattern of grep -E instead of a fixed text"
    )
    limit: int = Field(40, ge=1, le=200, description="how many lines at most")
    port: int | None = Field(None, ge=1, le=65535, description="port of the server")
    log_path: str | None = Field(None, max_length=1000, description="the log's path on the host")

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        if not _PLAIN.fullmatch(self.text):
            raise ValueError("a text of one line without control characters")
        if self.pattern:
            check(self.text)
        return self

    def command(self) -> Command:
        """Run grep where the log lies, as a child that is ended after some seconds."""
        path = self.log_path or ""
        return script(
            "grep_log",
            json.dumps({"text": self.text, "pattern": self.pattern, "limit": self.limit}),
            str(self.port or 0),
            *(("./" + path if path.startswith("-") else path,) if path else ()),
            after=("find_server", "log_source"),
            limit_s=45,
        )

    def recognises(self, text: str, /) -> bool:
        """Only our script prints such an object."""
        return text.lstrip().startswith("{") and '"needle"' in text[:400] and '"matches"' in text

    def clean(self, text: str, /) -> str:
        """Drop prompts and secrets."""
        return cleaned(text)

    def parse(self, stdout: str, /) -> LogMatches:
        """Read the object that our script printed."""
        said = told(stdout)
        lines = said.get("matches")
        if not isinstance(lines, list):
            raise Unreadable("the answer holds no list of lines")
        kept = [cleaned(str(line))[:LINE_CAP] for line in lines]
        count = said.get("count")
        return LogMatches(
            needle=str(said.get("needle", self.text))[:LONGEST],
            lines=tuple(line for line in kept if line)[-self.limit :],
            count=count if isinstance(count, int) else None,
            cut=bool(said.get("cut")),
        )


def check(pattern: str) -> None:
    """Refuse a pattern that could take exponential time, or is none; raise ValueError."""
    if re.search(r"\\[1-9]|\(\?", pattern):
        raise ValueError("no back-references and no (?...) in a pattern")
    plain = _CLASS.sub("x", pattern)
    bare = re.sub(r"\\.|\[[^\]]*\]", "x", plain)
    if _nests(bare):
        raise ValueError("no repetition of what repeats or chooses already: (a+)+, (a|b)*")
    if any(int(number) > 200 for number in re.findall(r"\{\d*,?(\d+)\}", bare)):
        raise ValueError("no repetition beyond {200}")
    try:
        re.compile(plain)
    except re.error as why:
        raise ValueError(f"not a pattern: {why}") from None


def _nests(bare: str) -> bool:
    """Say whether something is repeated that repeats or chooses already, at whatever depth."""
    groups, last = [False], False  # of each open group, and of what stands just before
    for part in _PART.findall(bare):
        if part == "(":
            groups.append(False)
            last = False
        elif part == ")":
            last = groups.pop() if len(groups) > 1 else False
            groups[-1] = groups[-1] or last
        elif part[0] in "*+{":
            if last:
                return True
            groups[-1] = last = True
        else:
            groups[-1] = groups[-1] or part == "|"
            last = last and part == "?"
    return False
