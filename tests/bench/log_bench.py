"""A serve log of 1 GB, judged where it lies: time against `grep -c`, memory of both sides, bytes on the wire.

Run `python tests/bench/log_bench.py [MB]`; it writes one file into the folder for temporary files
and deletes it.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.probes.server_log import ReadServerLog

START = (
    "[2026-09-02 06:59:01] Max running requests is reset to 48 for speculative decoding. You can override this by explicitly setting --max-running-requests.\n"
    "[2026-09-02 06:59:02] server_args=ServerArgs(model_path='/models/m', tp_size=2, api_key='sk-very-secret-value-0', disable_cuda_graph=False, "
    + ", ".join(f"field_{at}=None" for at in range(400))
    + ")\n[2026-09-02 06:59:31 TP0] Load weight begin. avail mem=30.71 GB\n"
    "[2026-09-02 06:59:43 TP0] Load weight end. elapsed=11.80 s, type=Qwen3ForCausalLM, quant=fp8, avail mem=15.20 GB, mem usage=15.51 GB.\n"
    "[2026-09-02 07:00:11 TP0] Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=4, bs=[1, 2, 4, 8, 12, 16], avail mem=5.90 GB\n"
    "[2026-09-02 07:00:14 TP0] Capture target decode CUDA graph end. elapsed=2.94 s, mem usage=0.21 GB, avail mem=5.69 GB.\n"
    "[2026-09-02 07:00:14 TP0] max_total_num_tokens=268288, chunked_prefill_size=4096, max_prefill_tokens=16384, max_running_requests=48, context_len=32768, available_gpu_mem=5.69 GB\n"
    "[2026-09-02 07:00:16] The server is fired up and ready to roll!\n"
)


def block(second: int) -> str:
    """Return the lines of one second of a busy server."""
    day, clock = divmod(second, 86400)
    at = f"2026-09-{2 + day % 28:02d} {clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    running, queued = 1 + second * 7 % 40, max(0, second % 97 - 90)
    graph = running <= 16
    lines = [
        f'[{at}] INFO:     192.0.2.{second % 250}:{40000 + second % 20000} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    ] * (1 + second % 4)
    lines += [
        f"[{at} TP0] Prefill batch, #new-seq: {1 + second % 3}, #new-token: {200 + second % 3000}, #cached-token: {second % 900}, token usage: 0.{second % 90:02d}, #running-req: {running}, #queue-req: {queued}, #pending-token: 0, cuda graph: False, input throughput (token/s): {4000 + second % 5000}.{second % 99:02d}"
    ]
    lines += [
        f"[{at} TP0] Decode batch, #running-req: {running}, #token: {1000 + second % 200000}, token usage: 0.{second % 90:02d}, accept len: 2.{second % 99:02d}, accept rate: 0.{second % 99:02d}, cuda graph: {graph}, gen throughput (token/s): {60 * running}.{second % 99:02d}, #queue-req: {queued}"
    ] * 4
    if second % 5 == 0:
        lines.append(
            f"[{at} TP0] Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, token usage: 0.02, #running-req: {running}, #queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 1.00"
        )
        lines.append(
            f'[{at}] INFO:     127.0.0.1:{40000 + second % 20000} - "GET /health HTTP/1.1" 200 OK'
        )
    if second % 301 == 0:
        lines.append(
            f"[{at} TP0] KV cache pool is full. Retract requests. #retracted_reqs: {1 + second % 4}, #new_tokens_gained: {second % 5000}, #new_token_ratio: 0.5 -> 0.9"
        )
    return "\n".join(lines) + "\n"


def write(path: Path, size: int) -> None:
    """Write a log of so many bytes: one start, then traffic; seconds in an order that does not repeat soon."""
    with path.open("w", encoding="utf-8") as file:
        written = file.write(START)
        second = 25217
        while written < size:
            written += file.write("".join(block(at) for at in range(second, second + 200)))
            second += 200


def timed(argv: list[str], stdin: str = "") -> tuple[float, bytes, float]:
    """Return seconds, standard output and the peak memory in MB that a child told on stderr."""
    began = time.perf_counter()
    done = subprocess.run(argv, input=stdin.encode(), capture_output=True, check=True)
    took = time.perf_counter() - began
    peak = re.search(rb"VmHWM:\s+(\d+) kB", done.stderr)
    return took, done.stdout, int(peak[1]) / 1024 if peak else 0.0


def main(megabytes: int) -> None:
    """Print what it takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "serve.log")
        began = time.perf_counter()
        write(path, megabytes << 20)
        print(f"wrote {path.stat().st_size / 1e6:.0f} MB in {time.perf_counter() - began:.1f} s")
        probe = ReadServerLog(log_path=str(path))
        command = probe.command()
        watched = command.stdin + "\nsys.stderr.write(open('/proc/self/status').read())\n"
        for _ in range(3):
            grep, counted, _ = timed(["grep", "-c", "Decode batch", str(path)])
            ours, out, memory = timed([sys.executable, *command.argv[1:]], watched)
            print(
                f"grep -c {grep:.2f} s ({counted.decode().strip()} lines)   filter {ours:.2f} s ({ours / grep:.1f}x), {memory:.0f} MB of memory on the host"
            )
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began = time.perf_counter()
        log = probe.parse(probe.clean(out.decode()))
        parse = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"printed {len(out) / 1e6:.2f} MB, {len(zlib.compress(out, 6)) / 1e6:.2f} MB on the wire; cleaned and read in {parse:.2f} s, {after:.0f} MB here (was {before:.0f})"
        )
        print(out.split(b"\n", 1)[0].decode())
        print(
            f"{len(log.decode)} decode, {len(log.prefill)} prefill, {len(log.steady())} steady, {len(log.notices)} notices, started {log.started}, arguments {len(log.resolved or {})}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
