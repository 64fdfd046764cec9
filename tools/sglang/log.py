"""A serve log of SGLang 0.4.6 to 0.5.23, read line by line: the last run that is in it."""

from __future__ import annotations

import re
from typing import Any

from tools.engine.gathered import Gathered, unglued
from tools.engine.launch import Value
from tools.engine.log import NoticeKind, PrefillLine, ServerLog
from tools.engine.prompts import is_private
from tools.engine.runs import EarlierRun, folded
from tools.engine.sentences import Sorter
from tools.engine.tracebacks import BEGINS, Traceback
from tools.engine.troubles import COMMON
from tools.sglang.args import read_dump
from tools.sglang.log_gaps import mark
from tools.sglang.log_lines import (
    Batch,
    batch_of,
    built,
    decode_line,
    is_health_probe,
    prefill_line,
)
from tools.sglang.log_notices import SORTED, TROUBLE, is_quiet
from tools.sglang.log_prefix import Said, said
from tools.sglang.log_startup import Startup
from tools.sglang.log_wrapped import whole

LONGEST = 400_000  # characters of one line that are looked at; a dump of the arguments has 20,000

_HEAD = re.compile(r"[^'\"]{0,300}?\bserver_args=(?:ServerArgs\(|\{)")
_ACCESS = re.compile(
    r"\"(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH) (\S{1,400}) HTTP/[\d.]{1,3}\" (\d{3})"
)
_FIELD = re.compile(r", \w{3,60}=")  # of a dump whose head is cut off
_LAST_WORDS = ("shutdown", "crash")  # after them comes another run, or nothing
_DEADLY = ("crash", "oom", "start_failed")
_USAGE = re.compile(r"^[\w .-]{1,40}: error: ")  # argparse ends the launch with it, before any dump
_MILD = (
    "benign",
    "refusal",
    "override",
    "clamp",
    "shutdown",
)  # no kinds for the end of a traceback
_SORTER = Sorter(*SORTED)
_TROUBLES = Sorter(TROUBLE, COMMON)


def read_log(text: str) -> ServerLog:
    """Return what a serve log says; wrappers of collectors and escapes are gone from it already.

    Reads any fragment. Never raises: what no form explains is counted and listed.
    """
    reader = _Reader()
    lines = whole(unglued(text))
    for line in lines:
        reader.read(line)
    return reader.facts()


class _Reader:
    """What was read so far, of the run that is being read."""

    def __init__(self) -> None:
        self.lines = 0
        self.runs = 0
        self._alive = 0  # the last line that surely belongs to a run: start-up, traffic, its end
        self._dumped = 0  # the line of the last dump of arguments
        self._private = False
        self._trace = Traceback()
        self._said = Gathered()
        self._earlier: list[EarlierRun] = []
        self._served: ServerLog | None = None
        self._begin()

    def _begin(self) -> None:
        self._resolved: dict[str, Value] | None = None
        self._start = Startup()
        self._decode: list[tuple[dict[str, Any], str]] = []
        self._prefill: list[PrefillLine] = []
        self._before: dict[str, str] = {}
        self._health = 0
        self._first_at: str | None = None
        self._last_at: str | None = None
        self._request_at: str | None = None

    def read(self, line: str) -> None:
        """Read one line."""
        self.lines += 1
        if " batch" in line and (batch := batch_of(line)) is not None:
            return self._traffic(batch)
        line = line[:LONGEST]
        if "server_args=" in line and _HEAD.match(line):
            return self._arguments(line)
        return self._other(line, said(line))

    def _traffic(self, batch: Batch) -> None:
        self._flush()
        self._alive, self._private = self.lines, False
        self._seen(batch.at)
        if batch.decode:
            row = decode_line(batch)
            start = "start" if self._start.facts else ""
            self._decode.append((row, self._before.get(batch.rank, start)))
            self._before[batch.rank] = ""
        else:
            line = prefill_line(batch)
            if is_health_probe(line):
                self._health += 1
                return
            self._prefill.append(line)
            idle = line.running == 0 or self._before.get(batch.rank) == "idle"
            self._before[batch.rank] = "idle" if idle else "prefill"
        self._request_at = batch.at or self._request_at

    def _arguments(self, line: str) -> None:
        """Begin a run: what was said since the last sign of life belongs to it already."""
        self._flush()
        head, _, dump = line.partition("server_args=")
        if self.runs == 0 or self._alive > self._dumped:
            if self._alive:
                self._end_run()
            self._said.forget(self._alive)
            self.runs += 2 if self._alive and not self.runs else 1
            self._begin()
        self._resolved = read_dump(dump)
        self._dumped = self._alive = self.lines
        self._seen(said(head).at)

    def _end_run(self) -> None:
        """Keep what later runs are compared with, and whole the newest run that served."""
        ended = self._run(until=self._alive)
        if not ended.unready:
            self._served = ended.after(self._earlier, None)
        self._earlier = list(folded([*self._earlier, ended.as_earlier()]))

    def _other(self, line: str, heard: Said) -> None:
        if is_private(line):
            self._private, self._alive = True, self.lines
            return
        if not heard.prefixed and (self._trace.takes(line) or self._still_private(line)):
            return
        self._flush()
        self._private = False
        self._seen(heard.at)
        if (access := _ACCESS.search(line, 0, 2000)) is not None:
            self._accessed(access, heard)
        elif BEGINS in line[:2000]:
            self._trace.begin(heard.message.partition(BEGINS)[0], heard.at, heard.rank)
        elif self._start.reads(heard.message):
            self._alive = self.lines
            if self._start.facts.get("started"):
                self._start.first(ready_at=heard.at)
        else:
            self._sentence(line, heard)

    def _still_private(self, line: str) -> bool:
        return self._private and not line.startswith((BEGINS, "Fatal Python"))

    def _flush(self) -> None:
        """Keep what the last traceback said, now that nothing of it follows."""
        ended = self._trace.end()
        if ended is None:
            return
        form, figures = _SORTER.sort(ended.last or ended.head) or (None, {})
        kind: NoticeKind = "crash"
        if form is not None and form.kind not in _MILD:
            kind = form.kind
        if kind == "crash" and not (self._start.facts.get("started") or self._request_at):
            kind = "start_failed"
        line = self.lines - 1  # this one came after it
        self._said.add(kind, ended.text, at=ended.at, rank=ended.rank, numbers=figures, line=line)
        if kind in _DEADLY or (ended.at is None and not ended.head):  # no run goes on after it
            self._alive = line

    def _accessed(self, access: re.Match[str], heard: Said) -> None:
        self._alive = self.lines
        if access[1].startswith("/health") and access[2].startswith("5"):
            self._said.add("health", access[0], at=heard.at, line=self.lines)

    def _sentence(self, line: str, heard: Said) -> None:
        indented = not heard.prefixed and line[:1].isspace()  # goes on from the line before
        sorted_as = (_TROUBLES if indented else _SORTER).sort(heard.message)
        if sorted_as is not None:
            form, figures = sorted_as
            self._said.add(
                form.kind,
                heard.message,
                at=heard.at,
                rank=heard.rank,
                numbers=figures,
                line=self.lines,
                fold=form.fold,
            )
            if form.kind in _LAST_WORDS or (not heard.prefixed and _USAGE.search(heard.message)):
                self._alive = self.lines
        elif self.lines == 1 and line.rstrip().endswith((")", "}")) and _FIELD.search(line):
            self._resolved = read_dump(line)
        elif not is_quiet(heard.message):
            self._said.leave(line, line=self.lines)

    def _seen(self, at: str | None) -> None:
        if at is not None:
            self._first_at = self._first_at or at
            self._last_at = at

    def facts(self) -> ServerLog:
        """Return what was read: the last run, and in short those before it."""
        self._flush()
        return self._run().after(self._earlier, self._served)

    def _run(self, until: int | None = None) -> ServerLog:
        mark(self._decode)
        start = dict(self._start.facts)
        tokens = start.pop("_tokens", None)
        start.setdefault("max_total_tokens", tokens)
        if self._resolved is not None:
            start.setdefault("started", False if not self._decode and not self._prefill else None)
        return ServerLog.model_construct(
            engine="sglang",
            runs=max(self.runs, 1),
            resolved=self._resolved,
            decode=tuple(built(row) for row, _ in self._decode),
            prefill=tuple(self._prefill),
            captures=self._start.captured(),
            notices=self._said.notices(until),
            health_prefills=self._health,
            first_line_at=self._first_at,
            last_line_at=self._last_at,
            last_request_at=self._request_at,
            lines=self.lines,
            unexplained=self._said.unexplained(),
            unexplained_count=self._said.unexplained_count,
            **start,
        )
