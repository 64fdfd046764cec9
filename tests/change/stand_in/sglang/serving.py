"""The endpoints of the stand-in: it decodes at a pace that its flags decide, and logs as the real one does."""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
from typing import Any

ANSWERS = {200: "OK", 401: "Unauthorized", 404: "Not Found"}


def say(text: str) -> None:
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}", flush=True)


class Serving:
    """One server: its flags, its queue, its speed."""

    def __init__(self, args: argparse.Namespace, pace_ms: float) -> None:
        self.args, self.running, self.waiting, self.tokens, self.prompted = args, 0, 0, 0, 0
        most = args.max_running_requests or 64
        self.room = threading.Semaphore(most)
        self.most = most
        # What helps and what hurts, so that a difference can be measured: overlap off costs a quarter, graphs off cost
        # half, two continuous decode steps win a sixth; the chunk decides how fast a prompt is read.
        slower = (1.25 if args.disable_overlap_schedule else 1.0) * (
            2.0 if args.disable_cuda_graph else 1.0
        )
        self.step_s = (
            pace_ms / 1e3 * slower * (0.85 if (args.num_continuous_decode_steps or 1) > 1 else 1.0)
        )
        self.prefill_tok_s = 40_000.0 * min(1.0, (args.chunked_prefill_size or 8192) / 8192)
        self.lock = threading.Lock()

    def told(self) -> dict[str, Any]:
        """Return the arguments as the engine resolves them; like the real one, with its key in clear."""
        found = {name: value for name, value in vars(self.args).items() if value is not None}
        return {
            "model_path": "/models/stand-in",
            "chunked_prefill_size": 8192,
            "max_running_requests": self.most,
        } | found

    def info(self) -> dict[str, Any]:
        rest = {"version": "0.5.23", "max_total_num_tokens": self.args.max_total_tokens or 200_000,
                "max_req_input_len": 32_000, "disaggregation_mode": "null", "internal_states": [self.told()]}  # fmt: skip
        return self.told() | rest

    def serve(self, door: socket.socket) -> None:
        while True:
            line, _ = door.accept()
            threading.Thread(target=self.hear, args=(line,), daemon=True).start()

    def hear(self, line: socket.socket) -> None:
        try:
            with line, line.makefile("rb") as file:
                method, path, _ = file.readline().decode().split(" ", 2)
                heads = {}
                while row := file.readline().strip():
                    name, _, value = row.decode("latin-1").partition(":")
                    heads[name.lower()] = value.strip()
                body = file.read(int(heads.get("content-length", 0)))
                self.answer(line, method, path.partition("?")[0], heads, json.loads(body or b"{}"))
        except (OSError, ValueError):
            return

    def answer(
        self,
        line: socket.socket,
        method: str,
        path: str,
        heads: dict[str, str],
        body: dict[str, Any],
    ) -> None:
        key = self.args.api_key
        if (
            key
            and path not in ("/health", "/metrics")
            and heads.get("authorization") != f"Bearer {key}"
        ):
            self.reply(line, 401, "")
        elif path == "/generate":
            self.generate(line, body)
        else:
            text = self.page(path)
            self.reply(line, 404 if text is None else 200, text or "")

    def page(self, path: str) -> str | None:
        """Return what a path answers, None where there is none."""
        load = {"num_running_reqs": self.running, "num_waiting_reqs": self.waiting}
        pages: dict[str, Any] = {
            "/v1/loads": {"loads": [load]},
            "/v1/models": {"data": [{"id": "stand-in"}]},
            "/model_info": {"model_path": self.told()["model_path"]},
            "/server_info": self.info(),
            "/get_server_info": self.info(),
        }
        if path in ("/health", "/health_generate", "/abort_request", "/flush_cache"):
            return ""
        if path == "/metrics":
            return self.metrics() if self.args.enable_metrics else None
        return json.dumps(pages[path]) if path in pages else None

    def metrics(self) -> str:
        rows = {"num_running_reqs": self.running, "num_queue_reqs": self.waiting, "generation_tokens_total": self.tokens,
                "prompt_tokens_total": self.prompted, "token_usage": 0.01, "gen_throughput": 0.0}  # fmt: skip
        labels = '{engine_type="unified",model_name="stand-in",tp_rank="0"}'
        return "".join(
            f"# TYPE sglang:{name} {'counter' if name.endswith('total') else 'gauge'}\nsglang:{name}{labels} {float(value)}\n"
            for name, value in rows.items()
        )

    @staticmethod
    def reply(line: socket.socket, status: int, text: str) -> None:
        head = f"HTTP/1.1 {status} {ANSWERS[status]}\r\nContent-Length: {len(text.encode())}\r\nConnection: close\r\n\r\n"
        line.sendall(head.encode() + text.encode())

    def generate(self, line: socket.socket, body: dict[str, Any]) -> None:
        with self.lock:
            self.waiting += 1
        with self.room:
            with self.lock:
                self.waiting, self.running = self.waiting - 1, self.running + 1
            try:
                self.decode(line, body)
            finally:
                with self.lock:
                    self.running -= 1

    def decode(self, line: socket.socket, body: dict[str, Any]) -> None:
        most = int(body.get("sampling_params", {}).get("max_new_tokens", 16))
        prompt, stream = max(1, len(str(body.get("text", ""))) // 4), bool(body.get("stream"))
        say(
            f"Prefill batch, #new-seq: 1, #new-token: {prompt}, #cached-token: 0, token usage: 0.01, #running-req: {self.running},"
            f" #queue-req: {self.waiting}, #pending-token: 0, cuda graph: False, input throughput (token/s): {self.prefill_tok_s:.2f}"
        )
        if stream:
            line.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            )
        began, late = time.monotonic(), prompt / self.prefill_tok_s + 0.005
        for made in range(1, most + 1):
            wait = began + late + self.step_s * (made - 1) - time.monotonic()
            time.sleep(max(0.0, wait))
            with self.lock:
                self.tokens += 1
            if stream:
                line.sendall(
                    b"data: " + json.dumps(self.piece(body, made, most, prompt)).encode() + b"\n\n"
                )
            if made % 40 == 0:
                say(
                    f"Decode batch, #running-req: {self.running}, #token: {made + prompt}, token usage: 0.01, cuda graph: True,"
                    f" gen throughput (token/s): {self.running / self.step_s:.2f}, #queue-req: {self.waiting}"
                )
        self.prompted += prompt
        if stream:
            line.sendall(b"data: [DONE]\n\n")
        else:
            self.reply(line, 200, json.dumps(self.piece(body, most, most, prompt)))

    @staticmethod
    def piece(body: dict[str, Any], made: int, most: int, prompt: int) -> dict[str, Any]:
        meta = {"id": body.get("rid", "x"), "finish_reason": {"type": "length"} if made >= most else None,
                "prompt_tokens": prompt, "completion_tokens": made, "cached_tokens": 0}  # fmt: skip
        return {"text": "x" * made, "meta_info": meta}
