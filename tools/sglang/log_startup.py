"""What a server says of itself while it starts: weights, pools, graphs, limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.engine.gathered import count, number
from tools.engine.log import Capture

State = dict[str, Any]
Reads = Callable[["Startup", re.Match[str], str], None]

_GB = r"(\d+(?:\.\d+)?) ?GB"
_SIZES = re.compile(r"\b(?:bs|num_tokens|num tokens:?) ?=? ?\[([\d, ]{0,4000})")
_PHASE = re.compile(
    r"(draft extend|draft prefill|draft decode|draft verify|target verify|draft|piecewise|prefill|verify)"
)
_PHASES = {
    "draft": "draft decode",
    "piecewise": "prefill",
    "target verify": "verify",
    "draft verify": "verify",
}


def phase_of(text: str) -> str:
    """Return which graphs a capture line is about; a bare "cuda graph" is the decode graph."""
    found = _PHASE.search(text.replace("_", " "))
    return _PHASES.get(found[1], found[1]) if found else "decode"


class Startup:
    """The start-up of one run: what its lines said so far."""

    def __init__(self) -> None:
        self.facts: State = {}
        self.captures: dict[str, State] = {}
        self._latest = "decode"

    def first(self, **facts: Any) -> None:
        """Keep what was not said before: ranks repeat, and draft models load after the target."""
        for name, value in facts.items():
            if value is not None:
                self.facts.setdefault(name, value)

    def reads(self, message: str) -> bool:
        """Read a start-up line, if it is one."""
        for sign, pattern, take in _FORMS:
            if sign in message and (found := pattern.search(message, 0, 6000)):
                take(self, found, message)
                return True
        return False

    def capture(self, what: str) -> State:
        """Return what is known of one kind of capture."""
        self._latest = what
        return self.captures.setdefault(
            what, {"sizes": (), "took_s": None, "mem_gb": None, "finished": False}
        )

    @property
    def latest(self) -> State:
        """Return the capture that began last."""
        return self.capture(self._latest)

    def captured(self) -> tuple[Capture, ...]:
        """Return the captures, ranks taken together."""
        return tuple(Capture(what=what, **said) for what, said in self.captures.items())


def sizes_of(message: str) -> tuple[int, ...]:
    """Return the sizes that a capture line lists."""
    found = _SIZES.search(message)
    read = (count(part) for part in found[1].split(",")) if found else ()
    return tuple(size for size in read if size is not None)


def _nothing(_run: Startup, _found: re.Match[str], _message: str) -> None:
    return None


def _weights(run: Startup, found: re.Match[str], message: str) -> None:
    kind, quant = re.search(r"\btype=(\w+)", message), re.search(r"\bquant=([\w.-]+)", message)
    took = re.search(r"\belapsed=(\d+(?:\.\d+)?) ?s\b", message)
    run.first(
        load_s=number(took[1]) if took else None,
        weights_gb=number(found[1]),
        model_type=kind[1] if kind else None,
        quant=quant[1] if quant and quant[1] != "None" else None,
    )


def _shards(run: Startup, found: re.Match[str], _message: str) -> None:
    hours, minutes, seconds = (float(part or 0) for part in found.groups()[1:])
    run.first(load_s=3600 * hours + 60 * minutes + seconds)


def _kv(run: Startup, found: re.Match[str], message: str) -> None:
    parts = [
        number(size) for size in re.findall(r"\b(?:K|V|KV) size: (\d+(?:\.\d+)?) ?GB", message)
    ]
    run.first(kv_gb=round(sum(part or 0.0 for part in parts), 2) if parts else None)
    run.facts.setdefault("_tokens", count(found[1]))


def _mamba(run: Startup, found: re.Match[str], _message: str) -> None:
    run.first(mamba_slots=count(found[1]))


def _limits(run: Startup, _found: re.Match[str], message: str) -> None:
    said = dict(
        re.findall(
            r"\b(max_total_num_tokens|chunked_prefill_size|max_running_requests|context_len)=(-?\d{1,15}|None)",
            message,
        )
    )
    run.first(
        max_total_tokens=count(said.get("max_total_num_tokens")),
        chunked_prefill=count(said.get("chunked_prefill_size")),
        max_running=count(said.get("max_running_requests")),
        context_len=count(said.get("context_len")),
    )


def _ready(run: Startup, _found: re.Match[str], _message: str) -> None:
    run.facts["started"] = True


def _addresses(run: Startup, found: re.Match[str], _message: str) -> None:
    run.first(graph_addresses=count(found[1]))


def _begins(run: Startup, found: re.Match[str], message: str) -> None:
    said = run.capture(phase_of(found[1].lower()))
    said["sizes"] = said["sizes"] or sizes_of(message)


def _ends(run: Startup, found: re.Match[str], message: str) -> None:
    said = run.capture(phase_of(found[1].lower()))
    took = re.search(r"(?:elapsed=|Time elapsed: )(\d+(?:\.\d+)?) ?s", message)
    used = re.search(r"mem usage=" + _GB, message)
    said["sizes"] = said["sizes"] or sizes_of(message)
    said["took_s"] = max(
        filter(None, (said["took_s"], number(took[1]) if took else None)), default=None
    )
    said["mem_gb"] = max(
        filter(None, (said["mem_gb"], number(used[1]) if used else None)), default=None
    )
    said["finished"] = True


def _lists(run: Startup, found: re.Match[str], message: str) -> None:
    said = run.capture("prefill") if "tokens" in found[0] else run.latest
    said["sizes"] = said["sizes"] or sizes_of(message)


# (a sign that is looked for first, the form, what it tells); the first form that fits counts
_FORMS: tuple[tuple[str, re.Pattern[str], Reads], ...] = (
    ("Capture", re.compile(r"Capture (.{0,40}?)(?:cuda|CUDA|npu|NPU|cpu|CPU) graph begin"), _begins),
    ("Capture", re.compile(r"Capture (.{0,40}?)(?:cuda|CUDA|npu|NPU|cpu|CPU) graph end"), _ends),
    ("Capture", re.compile(r"Capture .{0,40}?graph (?:bs|num tokens) \["), _lists),
    ("[BCG] Capture", re.compile(r"Capture num tokens:? \["), _lists),
    ("Load weight end", re.compile(r"mem usage=" + _GB), _weights),
    ("100% Completed", re.compile(
        r"Loading .{0,60}shards: 100% Completed \| (\d{1,5})/\1 \[(?:(\d{1,3}):)?(\d{2}):(\d{2})<"), _shards),
    ("Load weight", re.compile(r"Load weight (?:begin|end)"), _nothing),
    ("Cache is allocated", re.compile(r"(?:KV|Cache) Cache is allocated\..*?#tokens: (\d+)"), _kv),
    ("KV cache allocated", re.compile(r"Post-capture KV sizing: .*?#tokens: (\d+)"), _kv),
    ("Cache is allocated", re.compile(r"max_mamba_cache_size: (\d+)"), _mamba),
    ("Cache is allocated", re.compile(r"Cache is allocated"), _nothing),
    ("max_total_num_tokens=", re.compile(r"^max_total_num_tokens=\d"), _limits),
    ("Post-capture KV sizing", re.compile(r"max_total_num_tokens=(\d+), free"), _limits),
    ("fired up and ready", re.compile(r"The server is fired up and ready to roll"), _ready),
    ("graph addresses", re.compile(r"Registering (\d+) cuda graph addresses"), _addresses),
    ("nit ", re.compile(r"Init (?:torch distributed|parallel) (?:begin|ends)"), _nothing),
    ("Memory", re.compile(r"Memory (?:pool end|baseline taken)"), _nothing),
    ("Engine startup timings", re.compile(r"Engine startup timings"), _nothing),
    ("Tree cache initialized", re.compile(r"Tree cache initialized"), _nothing),
    ("Using KV cache dtype", re.compile(r"Using KV cache dtype"), _nothing),
)  # fmt: skip
