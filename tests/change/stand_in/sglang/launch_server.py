"""Plays a whole SGLang server within a fifth of a second: flags, log, processes, endpoints, speed and failures.

Started as the real one: python -m sglang.launch_server --port 30000 [flags]. What goes wrong is told by a real flag,
--json-model-override-args '{"stand_in": {"fail": "hang"}}', or by the variable STAND_IN (the same object), which
the flag completes. Its words: fail (see `start`), start_s, pace_ms, on_term ("drain", "ignore"), orphans.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time

from sglang.serving import Serving, say

BACKENDS = ("triton", "torch_native", "fa3", "flashinfer")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="sglang serve")
    for flag in ("--model-path", "--host", "--api-key", "--served-model-name", "--config", "--kv-cache-dtype",
                 "--json-model-override-args", "--ssl-certfile", "--schedule-policy"):  # fmt: skip
        made.add_argument(flag)
    made.add_argument("--model", dest="model_path")
    for flag in ("--port", "--max-running-requests", "--chunked-prefill-size", "--max-total-tokens", "--context-length",
                 "--decode-log-interval", "--num-continuous-decode-steps", "--max-prefill-tokens", "--random-seed"):  # fmt: skip
        made.add_argument(flag, type=int)
    made.add_argument("--tensor-parallel-size", "--tp-size", dest="tp_size", type=int, default=1)
    made.add_argument("--mem-fraction-static", type=float)
    made.add_argument("--attention-backend", choices=BACKENDS)
    made.add_argument("--cuda-graph-bs", type=int, nargs="+")
    for flag in ("--enable-metrics", "--disable-overlap-schedule", "--disable-cuda-graph", "--disable-radix-cache",
                 "--sleep-on-idle", "--trust-remote-code"):  # fmt: skip
        made.add_argument(flag, action="store_true")
    return made


def merged(argv: list[str]) -> list[str]:
    """Put what a --config file gives before the command line, as the real one does."""
    if "--config" not in argv:
        return argv
    more: list[str] = []
    with open(argv[argv.index("--config") + 1], encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            name, colon, value = line.strip().partition(":")
            if colon and not name.startswith("#"):
                flag = "--" + name.strip(" '\"").replace("_", "-")
                told = value.strip().strip("'\"")
                more += [flag] if told == "true" else [] if told == "false" else [flag, told]
    return more + argv


def mood(args: argparse.Namespace) -> dict[str, object]:
    found = json.loads(os.environ.get("STAND_IN", "{}"))
    over = json.loads(args.json_model_override_args or "{}").get("stand_in", {})
    return (
        {"fail": "", "start_s": 0.0, "pace_ms": 4.0, "on_term": "drain", "orphans": False}
        | found
        | over
    )


def child(title: str, *, orphan: bool) -> None:
    """Start a process that looks like one of the engine's and dies with the main one, unless it is to be an orphan."""
    if os.fork():
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN if orphan else signal.SIG_DFL)
    if not orphan:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    os.execv("/bin/sleep", [title, "86400"])


def die(*lines: str, status: int) -> None:
    for line in lines:
        print(line, flush=True)
    if status > 128:
        os.kill(os.getpid(), status - 128)
    os._exit(status)


SIGQUIT = "[2026-11-29 22:57:28] Received sigquit from a child process. It usually means the child failed."
NO_MEMORY = "Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.001. Raise --mem-fraction-static above 0.009."
FAILURES: dict[str, tuple[tuple[str, ...], int]] = {
    "weights": (("Traceback (most recent call last):", "ValueError: " + NO_MEMORY, SIGQUIT), 137),
    "cuda_oom": (
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 47.43 GiB",
            SIGQUIT,
        ),
        137,
    ),
    "host_oom": (
        (
            "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4096000512 bytes.",
            SIGQUIT,
        ),
        137,
    ),
    "capture": (
        (
            "Exception: Capture cuda graph failed: CUDA error: an illegal memory access was encountered",
            "Possible solutions:",
            SIGQUIT,
        ),
        137,
    ),
    "capture_oom": (
        (
            "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 20.00 MiB.",
            SIGQUIT,
        ),
        137,
    ),
    "crash": (
        ("Traceback (most recent call last):", "AssertionError: tp_size must divide the heads"),
        1,
    ),
}


def start(told: dict[str, object]) -> None:
    """Load, or fail in the way that is told; `hang` says nothing more, `slow` goes on loading."""
    fail = str(told["fail"])
    say("Load weight begin. avail mem=47.10 GB")
    until = time.monotonic() + float(str(told["start_s"]))
    while time.monotonic() < until:
        time.sleep(0.02)
    if fail in FAILURES:
        lines, status = FAILURES[fail]
        die(*lines, status=status)
    while fail == "hang":
        time.sleep(3600)
    while fail == "slow":
        say("Loading safetensors checkpoint shards")
        time.sleep(0.1)
    say(
        "Load weight end. elapsed=0.10 s, type=LlamaForCausalLM, avail mem=31.05 GB, mem usage=16.05 GB."
    )


def bind(args: argparse.Namespace, told: dict[str, object]) -> socket.socket:
    """Listen; where the port is taken, say that all is ready, and end, as the real one does."""
    where = (args.host or "127.0.0.1", args.port)
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if told["fail"] != "never_bind":
            one.bind(where)
            one.listen(128)
    except OSError:
        say(
            f"ERROR:    [Errno 98] error while attempting to bind on address {where!r}: address already in use"
        )
        say("The server is fired up and ready to roll!")
        time.sleep(0.05)
        os._exit(3)
    return one


def main() -> None:
    args = parser().parse_args(merged(sys.argv[1:]))
    told = mood(args)
    serving = Serving(args, float(str(told["pace_ms"])))
    say("server_args=" + repr(serving.told()))
    orphan = bool(told["orphans"])
    for rank in range(args.tp_size):
        child(
            f"sglang::scheduler_TP{rank}" if args.tp_size > 1 else "sglang::scheduler",
            orphan=orphan,
        )
    child("sglang::detokenizer", orphan=orphan)
    start(told)
    over = threading.Event()
    if told["on_term"] == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: over.set())
    door = bind(args, told)
    if told["fail"] == "never_bind":
        say("The server is fired up and ready to roll!")
        time.sleep(3600)
    say(f"INFO:     Uvicorn running on http://127.0.0.1:{args.port} (Press CTRL+C to quit)")
    say("The server is fired up and ready to roll!")
    # last: who is answered finds the lines
    threading.Thread(target=serving.serve, args=(door,), daemon=True).start()
    while not over.wait(0.2):
        pass
    say("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
    while serving.running:
        time.sleep(0.02)
    say("Gracefully exiting... Remaining number of requests 0.")
    os._exit(0)


if __name__ == "__main__":
    main()
