"""Serve logs as SGLang 0.5.9 prints them, of a load and a course that a test chooses; seeded."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

BEGAN = datetime(2026, 9, 2, 13, 0, 0)

ARGUMENTS = (
    "model_path='/models/m', tokenizer_path='/models/m', host='0.0.0.0', port={port}, tp_size=2, dp_size=1, dtype='auto',"
    " kv_cache_dtype='auto', mem_fraction_static=0.88, attention_backend='{backend}', disable_cuda_graph=False,"
    " disable_radix_cache=False, speculative_algorithm='EAGLE', speculative_num_steps=3, speculative_eagle_topk=1,"
    " speculative_num_draft_tokens=4, random_seed={seed}, context_length=32768"
)


@dataclass(frozen=True)
class Line:
    """What one decode line of the load is to show, before noise."""

    running: int = 1
    context: int = 2000
    step_ms: float = 20.0
    accept: float | None = 2.8
    queued: int = 0
    graph: bool = True


Course = Callable[[int], Line]


def stamp(second: float) -> str:
    return f"{BEGAN + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}"


def start(
    second: float, *, backend: str = "fa3", port: int = 30000, ready: bool = True
) -> list[str]:
    """Return what a start prints, 40 seconds of it."""
    dump = ARGUMENTS.format(backend=backend, port=port, seed=int(second) % 9973)
    lines = [
        f"[{stamp(second)}] server_args=ServerArgs({dump})",
        f"[{stamp(second + 8)} TP0] Init torch distributed begin.",
        f"[{stamp(second + 12)} TP0] Load weight begin. avail mem=78.71 GB",
        f"[{stamp(second + 24)} TP0] Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem=63.20 GB, mem usage=15.51 GB.",
        f"[{stamp(second + 26)} TP0] KV Cache is allocated. #tokens: 268288, K size: 4.61 GB, V size: 4.61 GB",
        f"[{stamp(second + 38)} TP0] max_total_num_tokens=268288, chunked_prefill_size=4096, max_prefill_tokens=16384, max_running_requests=48, context_len=32768, available_gpu_mem=5.69 GB",
    ]
    return (
        [*lines, f"[{stamp(second + 40)}] The server is fired up and ready to roll!"]
        if ready
        else lines
    )


def decode(
    lines: int,
    course: Course,
    seed: int,
    *,
    began: float = 60,
    every: float = 4,
    noise: float = 0.03,
    memory: float = 0.0,
    rank: str = "TP0",
    outliers: float = 0.01,
) -> list[str]:
    """Return decode lines: steps with noise that remembers, single lines far off."""
    return list(
        _decode(lines, course, random.Random(seed), began, every, noise, memory, rank, outliers)
    )


def _decode(
    lines: int,
    course: Course,
    chance: random.Random,
    began: float,
    every: float,
    noise: float,
    memory: float,
    rank: str,
    outliers: float,
) -> Iterator[str]:
    error = 0.0
    for at in range(lines):
        told = course(at)
        error = memory * error + chance.gauss(0, noise)
        step = (
            told.step_ms
            * (1 + 0.02 * told.running + 2e-6 * told.context * told.running)
            * math.exp(error)
        )
        if chance.random() < outliers:
            step *= chance.choice((2, 5))
        accept = (
            None if told.accept is None else min(4.0, max(1.0, chance.gauss(told.accept, 0.15)))
        )
        rate = told.running * (accept or 1.0) / step * 1e3
        speculation = (
            "" if accept is None else f"accept len: {accept:.2f}, accept rate: {accept / 4:.2f}, "
        )
        yield (
            f"[{stamp(began + at * every)} {rank}] Decode batch, #running-req: {told.running}, #token: {told.running * told.context},"
            f" token usage: {min(0.99, told.running * told.context / 268288):.2f}, {speculation}cuda graph: {told.graph},"
            f" gen throughput (token/s): {rate:.2f}, #queue-req: {told.queued}"
        )


def load(kind: str, seed: int, lines: int) -> Course:
    """Return a course by its load: "single", "wandering", "daily" or "ramp"."""
    chance = random.Random(seed)
    running, told = 1, []
    for at in range(lines):
        running = max(1, min(40, running + chance.choice((-2, -1, -1, 0, 1, 1, 2))))
        count = {
            "single": 1,
            "wandering": running,
            "daily": max(1, round(12 + 10 * math.sin(2 * math.pi * at / 200) + chance.gauss(0, 2))),
            "ramp": 1 + at * 40 // lines,
        }[kind]
        context = 500 + at * 40 % 8000 if kind == "single" else chance.randint(1000, 3000)
        told.append(Line(running=count, context=context))
    return told.__getitem__
