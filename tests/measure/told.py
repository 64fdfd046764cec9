"""What the burst script prints, made of round figures."""

from __future__ import annotations

from typing import Any


def request(
    streams: int,
    *,
    step_ms: float,
    steps: int,
    accept: int = 1,
    sent_s: float = 0.0,
    first_ms: float = 30.0,
    kind: str = "decode",
    prompt: int = 30,
    ended: str = "done",
    spec: dict[str, float] | None = None,
) -> dict[str, Any]:
    chunks = [[round((first_ms + step_ms * n) * 10), 1 + accept * n] for n in range(steps + 1)]
    meta = {"prompt_tokens": prompt, "completion_tokens": chunks[-1][1], "cached_tokens": 0}
    return {"kind": kind, "streams": streams, "sent_s": sent_s, "chunks": chunks, "ended": ended, "meta": meta | (spec or {})}  # fmt: skip


def burst(
    *requests: dict[str, Any],
    counters: dict[str, float] | None = None,
    cores: list[list[float]] | None = None,
    cgroup: dict[str, int] | None = None,
    stopped: str = "",
) -> dict[str, Any]:
    host = {
        "window_s": 8.0,
        "processes": [["sglang::scheduler", 98]],
        "cgroup": cgroup or {},
        "pcie_errors": {},
        "pcie_counted": 2,
    }
    return {"version": "0.5.23", "took_s": 8.0, "stopped": stopped, "requests": list(requests), "host": host,
            "counters": counters or {}, "cores": cores or [], "gpus": "nvidia-smi is not installed there"}  # fmt: skip
