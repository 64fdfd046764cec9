"""Plays an SGLang server that decodes at a set pace, and counts what is asked of it (GET /counted).

Started as the real one: python3 -m sglang.launch_server --port 30000 [--api-key KEY]; the mood is JSON in STUB:
pace_ms, accept (0: no speculation), door ("/v1/loads", "/get_load", "/metrics" or ""), others (how many requests of
others run), others_after_s (they come so long after the first request of ours), waiting, info (more fields).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOOD: dict[str, Any] = {"pace_ms": 4.0, "accept": 0, "door": "/v1/loads", "others": 0, "others_after_s": 0.0,
                        "waiting": 0, "prefill_ms": 20.0, "caches": True, "info": {}} | json.loads(os.environ.get("STUB", "{}"))  # fmt: skip
KEY = sys.argv[sys.argv.index("--api-key") + 1] if "--api-key" in sys.argv else ""
LOCK = threading.Lock()
TEXTS: set[str] = set()
COUNTED: dict[str, Any] = {"at_once": 0, "most_at_once": 0, "requests": 0, "tokens": 0, "prompt_chars": [], "paths": [],
                           "aborted": [], "steps_ms": [], "first": 0.0, "rids": []}  # fmt: skip


def others() -> int:
    began = COUNTED["first"]
    late = MOOD["others_after_s"] and (
        not began or time.monotonic() < began + MOOD["others_after_s"]
    )
    return 0 if late else MOOD["others"]


class Answer(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/counted":
            self.reply(200, json.dumps(COUNTED))
            return
        COUNTED["paths"].append(path)
        running, waiting = COUNTED["at_once"] + others(), MOOD["waiting"]
        if path not in ("/metrics", "/health") and not self.allowed():
            return
        if path in ("/server_info", "/get_server_info"):
            told = {"version": "0.5.23", "model_path": "/models/stub", "tokenizer_path": "/models/stub", "tp_size": 1,
                    "api_key": KEY, "max_total_num_tokens": 200_000, "max_req_input_len": 32_000,
                    "disaggregation_mode": "null", "internal_states": [{}]}  # fmt: skip
            self.reply(200, json.dumps(told | MOOD["info"]))
        elif path == MOOD["door"] == "/v1/loads":
            self.reply(
                200,
                json.dumps({"loads": [{"num_running_reqs": running, "num_waiting_reqs": waiting}]}),
            )
        elif path == MOOD["door"] == "/get_load":
            told = [
                {
                    "dp_rank": 0,
                    "num_reqs": running + waiting,
                    "num_waiting_reqs": waiting,
                    "num_tokens": 0,
                }
            ]
            self.reply(200, json.dumps(told))
        elif path == MOOD["door"] == "/metrics":
            labels = '{engine_type="unified",model_name="stub",tp_rank="0"}'
            page = f"sglang:num_running_reqs{labels} {running}.0\nsglang:num_queue_reqs{labels} {waiting}.0\n"
            page += f"sglang:generation_tokens_total{labels} {COUNTED['tokens']}.0\n"
            self.reply(200, page)
        else:
            self.reply(404, "")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        COUNTED["paths"].append(self.path)
        if not self.allowed():
            return
        if self.path == "/abort_request":
            COUNTED["aborted"].append(body["rid"])
            self.reply(200, "")
        elif self.path == "/generate":
            self.generate(body)
        else:
            self.reply(404, "")

    def allowed(self) -> bool:
        if KEY and self.headers.get("Authorization") != f"Bearer {KEY}":
            self.reply(401, json.dumps({"error": "Unauthorized"}))
            return False
        return True

    def reply(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def generate(self, body: dict[str, Any]) -> None:
        with LOCK:
            COUNTED["first"] = COUNTED["first"] or time.monotonic()
            COUNTED["at_once"] += 1
            COUNTED["most_at_once"] = max(COUNTED["most_at_once"], COUNTED["at_once"])
            COUNTED["requests"] += 1
            COUNTED["prompt_chars"].append(len(body["text"]))
            COUNTED["rids"].append(body["rid"])
        try:
            self.stream(body)
        except OSError:
            return
        finally:
            with LOCK:
                COUNTED["at_once"] -= 1

    def stream(self, body: dict[str, Any]) -> None:
        most = body["sampling_params"]["max_new_tokens"]
        prompt, made, verifies = len(body["text"]) // 3, 1, 0
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        with LOCK:
            cached = prompt - 1 if MOOD["caches"] and body["text"] in TEXTS else 1
            TEXTS.add(body["text"])
        time.sleep(MOOD["prefill_ms"] / 1e3 * max(1.0, (prompt - cached) / 1000))
        began = time.monotonic()
        while True:
            with LOCK:
                COUNTED["tokens"] += 1 if made == 1 else max(1, MOOD["accept"])
            meta = {"id": body["rid"], "finish_reason": {"type": "length"} if made >= most else None,
                    "prompt_tokens": prompt, "completion_tokens": made, "cached_tokens": cached}  # fmt: skip
            if MOOD["accept"] and verifies and made >= most:
                meta |= {"spec_verify_ct": verifies, "spec_accept_length": made / verifies}
            self.wfile.write(
                b"data: " + json.dumps({"text": "x" * made, "meta_info": meta}).encode() + b"\n\n"
            )
            if made >= most:
                break
            time.sleep(MOOD["pace_ms"] / 1e3)
            verifies, made = verifies + 1, min(most, made + max(1, MOOD["accept"]))
        self.wfile.write(b"data: [DONE]\n\n")
        if verifies > 20:
            COUNTED["steps_ms"].append((time.monotonic() - began) / verifies * 1e3)

    def log_message(self, format: str, *args: object) -> None:
        return


if __name__ == "__main__":
    port = int(sys.argv[sys.argv.index("--port") + 1])
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", port), Answer).serve_forever()
