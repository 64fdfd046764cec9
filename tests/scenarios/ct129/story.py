"""The story of CT129 in numbers: what serves what, in which state, and what each step takes.

All times follow from tools.physics: the healthy step, what Gen1 adds, and a rest that no term
explains, chosen once so that one stream at an accept length of 3.2 gives 55 tok/s (58.2 ms).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tools.knowledge.gpus import gpu_named
from tools.physics import HOST_MS, Checkpoint, Deployment, Link, decode_step, prefill_rate

HERE = Path(__file__).parent
SEED = 129
HOST = "CT129"
QUESTION = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?"
MADE = "synthetic; no real host is in it"

VERSION = "0.5.11"
MODEL = "/models/Qwen3.6-27B"
PORT = 30000
MAIN_PID, TP0_PID, TP1_PID, DETOKENIZER_PID = 412, 688, 689, 690
VENV = "/opt/sglang/venv"
PACKAGE = f"{VENV}/lib/python3.12/site-packages/sglang"
LOG_PATH = "/var/log/sglang/serve.log"
STARTED = datetime(2026, 11, 24, 6, 41, 12)
NOW = datetime(2026, 11, 25, 14, 32, 20)

GPU_NAME = "NVIDIA RTX A6000"
BDFS = ("0000:01:00.0", "0000:02:00.0")
PORTS = ("0000:00:01.1", "0000:00:03.1")
DRIVER, CUDA = "580.95.05", "13.0"
LINK_GEN = 1  # under load; at rest every link is at Gen1
PREFIX_CACHE = False  # kept by the server, and used by its prompts
SOURCE = True  # whether the case holds the parts of the engine's source that can be followed

ACCEPT_LEN = 3.2
DRAFT_STEPS, DRAFT_TOKENS = 3, 4
CHUNK = 4096
STATE_EVERY = 256  # tokens between two saved states (mamba_track_interval), where a prefix can end
MAX_RUNNING, GRAPH_SIZES = 48, (1, 2, 4, 8, 12, 16, 24, 32)
STEP_MS = 58.2  # measured, at one stream and CONTEXT tokens
CONTEXT = 7600
PREFILL_SHARE = 0.9795  # of what the model says: 1,430 tok/s at Gen1


def random() -> Random:
    """Return the same numbers in every run."""
    return Random(SEED)


@cache
def deployment() -> Deployment:
    """Return the deployment on the link that it has under load."""
    gpu = gpu_named(GPU_NAME)
    assert gpu is not None
    # sizes of its config.json; the recurrent state is kept in bf16 (--mamba-ssm-dtype bfloat16)
    checkpoint = Checkpoint(
        layers=64, hidden=5120, params_b=24.35, head_b=1.271, kv_bytes_per_token=65536,
        state_gb=0.0755, kernels_per_layer=18, draft_b=0.372, draft_replicated_b=0.0524,
    )  # fmt: skip
    return Deployment(
        checkpoint=checkpoint,
        gpu=gpu,
        tp=2,
        link=Link.pcie(LINK_GEN),
        context=CONTEXT,
        draft_forwards=DRAFT_STEPS,
        verify_tokens=DRAFT_TOKENS,
        accept_len=ACCEPT_LEN,
        host_ms=HOST_MS["spec_v2"],
    )


@cache
def unexplained_ms() -> float:
    """Return what of the measured step no term of the model explains."""
    return STEP_MS - decode_step(deployment()).ms.mid


def step_s(batch: int, context: float) -> float:
    """Return the seconds of one decode step of some streams of a mean context."""
    now = replace(deployment(), batch=batch, context=round(context, -2))
    return (_step_ms(now) + unexplained_ms()) / 1e3


@cache
def _step_ms(now: Deployment) -> float:
    return decode_step(now).ms.mid


def prefill_s(tokens: int) -> float:
    """Return the seconds of one prefill chunk; a short one waits for the weights to be read."""
    rate = prefill_rate(deployment(), max(tokens, 512)).tok_s.mid * PREFILL_SHARE
    return max(tokens / rate, 0.062)


def config_json() -> dict[str, Any]:
    """Return the model's config.json."""
    import json

    loaded: dict[str, Any] = json.loads((HERE / "config.json").read_text(encoding="utf-8"))
    return loaded
