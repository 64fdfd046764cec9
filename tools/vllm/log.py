"""A serve log of vLLM, V0 and V1, read line by line: the last run that is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.engine.gathered import Gathered, count, number, unglued
from tools.engine.launch import Value
from tools.engine.log import Capture, NoticeKind, ServerLog
from tools.engine.prompts import is_private
from tools.engine.sentences import Sorter, alarms
from tools.engine.tracebacks import BEGINS, Traceback
from tools.vllm.log_lines import built, speculation_of, stats_of
from tools.vllm.log_notices import LOUD_FORMS, QUIET_FORMS
from tools.vllm.log_prefix import Said, said

ReadDump = Callable[[str], dict[str, Value]]

LONGEST = 400_000
_N = r"(\d[\d,]{0,20}(?:\.\d{1,9})?)"
_BEGINS = re.compile(
    r"vLLM API server version (\S{1,40})"
    r"|Initializing an? (?:V\d )?LLM engine \(v?([^)\s]{1,40})\)"
    r"|non-default args: \{"
)
_ACCESS = re.compile(
    r"\"(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH) (\S{1,400}) HTTP/[\d.]{1,3}\" (\d{3})"
)
_BAR = re.compile(r"Capturing CUDA graphs? \(([^)]{1,80})\)")
_FACTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("max_total_tokens", re.compile(r"(?:GPU|CPU) KV cache size: " + _N + " tokens")),
    ("context_len", re.compile(r"Maximum concurrency for " + _N + r" tokens per|Using max model len (\d{1,9})")),
    ("weights_gb", re.compile(r"(?:Model loading|Loading model weights) took " + _N + " Gi?B")),
    ("load_s", re.compile(r"(?:Model loading|Loading model weights) took [\d.]{1,12} Gi?B(?: memory)? and "
                          + _N + " s")),
    ("kv_gb", re.compile(r"Available KV cache memory: " + _N + " GiB|Explicitly set \\(([\\d.]{1,12})/")),
    ("chunked_prefill", re.compile(r"Chunked prefill is enabled with max_num_batched_tokens=" + _N)),
    ("graph_addresses", re.compile(r"Registering " + _N + " cuda graph addresses")),
)  # fmt: skip
_COUNTS = ("max_total_tokens", "context_len", "chunked_prefill", "graph_addresses")
_BLOCKS = re.compile(r"# (?:GPU|cuda) blocks: (\d{1,9}), # CPU blocks: ")  # V0
_BLOCK_TOKENS = 16  # the default of V0 on NVIDIA GPUs
_GRAPHS = re.compile(r"Graph capturing finished in " + _N + r" secs?, took " + _N + r" Gi?B")
_READY = re.compile(
    r"Application startup complete|Uvicorn running on|Starting vLLM (?:API )?server"
)
_DIGITS = 7  # of a batch size
_LAST_WORDS = ("shutdown", "crash")
_MILD = ("benign", "refusal", "override", "shutdown")
_QUIET, _LOUD = Sorter(*QUIET_FORMS), Sorter(*LOUD_FORMS)


def read_log(text: str, read_dump: ReadDump) -> ServerLog:
    """Return what a serve log of vLLM says; wrappers and escapes are gone from it already.

    `read_dump` reads arguments by the allow-list. Never raises: what no form explains is listed.
    """
    reader = _Reader(read_dump)
    for line in unglued(text):
        reader.read(line)
    return reader.facts()


class _Reader:
    """What was read so far, of the run that is being read."""

    def __init__(self, read_dump: ReadDump) -> None:
        self._read_dump = read_dump
        self.lines = self.runs = 0
        self._alive = self._begun = 0
        self._trace = Traceback()
        self._said = Gathered()
        self._begin()

    def _begin(self) -> None:
        self._resolved: dict[str, Value] | None = None
        self._facts: dict[str, Any] = {}
        self._captures: dict[str, dict[str, Any]] = {}
        self._rows: list[dict[str, Any]] = []
        self._first_at: str | None = None
        self._last_at: str | None = None
        self._request_at: str | None = None

    def read(self, line: str) -> None:
        """Read one line."""
        self.lines += 1
        line = line[:LONGEST]
        if is_private(line):
            return
        heard = said(line)
        if heard.level in ("", "ERROR") and self._trace.takes(heard.message):
            return
        self._flush()
        if heard.at is not None:
            self._first_at, self._last_at = self._first_at or heard.at, heard.at
        if BEGINS in heard.message[:2000]:
            self._trace.begin(heard.message.partition(BEGINS)[0], heard.at, heard.rank)
        elif not self._traffic(heard) and not self._start(heard):
            self._sentence(line, heard)

    def _traffic(self, heard: Said) -> bool:
        row = stats_of(heard.message, heard.at)
        if row is not None:
            self._rows.append(row)
            if row["running"] or row["tok_s"]:
                self._request_at = heard.at
        elif (accepted := speculation_of(heard.message)) is not None:
            if self._rows:
                self._rows[-1].update(accepted)
        elif (access := _ACCESS.search(heard.message, 0, 2000)) is not None:
            if access[1].startswith("/health") and access[2].startswith("5"):
                self._said.add("health", access[0], line=self.lines)
        else:
            return False
        self._alive = self.lines
        return True

    def _start(self, heard: Said) -> bool:
        message = heard.message
        if (begins := _BEGINS.search(message, 0, 600)) is not None:
            self._new_run(message, begins, heard)
            return True
        if _READY.search(message, 0, 200):
            self._facts["started"] = True
            self._facts.setdefault("ready_at", heard.at)
            self._alive = self.lines
            return True
        return self._graphs(message) or self._fact(message)

    def _new_run(self, message: str, begins: re.Match[str], heard: Said) -> None:
        if not self._begun or self._alive > self._begun:
            self._said.forget(self._alive)
            self.runs += 2 if self._alive and not self.runs else 1
            self._begin()
            self._first_at = self._last_at = heard.at
        self._begun = self.lines
        version = begins[1] or begins[2]
        if version:
            self._facts["version"] = version.lstrip("v")
        if "args: {" in message or "with config: " in message:
            self._resolved = (self._resolved or {}) | self._read_dump(message)

    def _graphs(self, message: str) -> bool:
        if (done := _GRAPHS.search(message)) is not None:
            said = self._captures.setdefault("decode", {})
            said |= {"took_s": number(done[1]), "mem_gb": number(done[2]), "finished": True}
            return True
        bar = _BAR.search(message, 0, 400)
        if bar is not None:
            self._captures.setdefault("prefill" if "prefill" in bar[1] else "decode", {})
        return bar is not None

    def _fact(self, message: str) -> bool:
        known = False
        for name, pattern in _FACTS:
            if (found := pattern.search(message, 0, 600)) is not None:
                text = next(filter(None, found.groups()), None)
                value = count(text) if name in _COUNTS else number(text)
                self._facts.setdefault(name, value)
                known = True
        if (blocks := _BLOCKS.search(message, 0, 200)) is not None:
            size = (self._resolved or {}).get("block_size")
            tokens = int(blocks[1]) * (size if isinstance(size, int) else _BLOCK_TOKENS)
            self._facts.setdefault("max_total_tokens", tokens)
            known = True
        if (model := re.search(r"Resolved architecture: (\w{1,80})", message)) is not None:
            self._facts.setdefault("model_type", model[1])
        return known or model is not None

    def _sentence(self, line: str, heard: Said) -> None:
        loud = heard.level in ("WARNING", "ERROR", "CRITICAL")
        unprefixed = not heard.level and not heard.message[:1].isspace()
        found = (_LOUD if loud or unprefixed else _QUIET).sort(heard.message)
        if found is not None:
            form, figures = found
            self._said.add(
                form.kind,
                heard.message,
                at=heard.at,
                rank=heard.rank,
                numbers=figures,
                line=self.lines,
                fold=form.fold,
            )
            if form.kind in _LAST_WORDS:
                self._alive = self.lines
        elif loud or (not _plain(heard.message) and (unprefixed or alarms(heard.message))):
            self._said.leave(line, line=self.lines)

    def _flush(self) -> None:
        ended = self._trace.end()
        if ended is None:
            return
        form, figures = _LOUD.sort(ended.last or ended.head) or (None, {})
        kind: NoticeKind = form.kind if form is not None and form.kind not in _MILD else "crash"
        if kind == "crash" and self._begun and not self._facts.get("started"):
            kind = "start_failed"
        self._said.add(
            kind, ended.text, at=ended.at, rank=ended.rank, numbers=figures, line=self.lines
        )
        self._alive = self.lines

    def facts(self) -> ServerLog:
        """Return what was read of the last run."""
        self._flush()
        facts = dict(self._facts)
        if self._begun:
            facts.setdefault("started", None if self._rows else False)
        resolved = self._resolved or {}
        quant, most = resolved.get("quantization"), resolved.get("max_num_seqs")
        return ServerLog(
            engine="vllm",
            runs=max(self.runs, 1),
            resolved=self._resolved,
            decode=built(self._rows),
            captures=tuple(
                Capture(what=what, sizes=_sizes(resolved) if what == "decode" else (), **said)
                for what, said in self._captures.items()
            ),
            notices=self._said.notices(),
            quant=str(quant) if quant else None,
            max_running=most if isinstance(most, int) else None,
            first_line_at=self._first_at,
            last_line_at=self._last_at,
            last_request_at=self._request_at,
            lines=self.lines,
            unexplained=self._said.unexplained(),
            unexplained_count=self._said.unexplained_count,
            **facts,
        )


def _sizes(resolved: dict[str, Value]) -> tuple[int, ...]:
    """Return the batch sizes that graphs are captured for, as the configuration lists them."""
    told = resolved.get("compilation_config.cudagraph_capture_sizes")
    sizes = told if isinstance(told, tuple) else ()
    return tuple(int(size) for size in sizes if size.isdecimal() and len(size) < _DIGITS)


_PLAIN = re.compile(
    r"^(?:INFO:|DEBUG:|Route: |\s|Loading |Capturing |Triton is |See https|Thread |Current thread"
    r"|Extension modules|usage: |Process \S+:| - |\d{1,3}%)"
    r"|\d{1,3}%\||\d{1,3}% Completed|it/s\]|s/it\]|\?it/s|--\.-KB/s"
)


def _plain(message: str) -> bool:
    return not message.strip() or bool(_PLAIN.search(message[:600]))
