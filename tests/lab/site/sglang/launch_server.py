"""Plays an SGLang server: answers its endpoints from files, on loopback alone, and logs to stdout as it does.

Started as the real one: python3 -m sglang.launch_server --model-path ... --port 30000
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FILES = Path(__file__).parents[2] / "server"
ANSWERS = {
    "/server_info": "server_info.json",
    "/get_server_info": "server_info.json",
    "/model_info": "model_info.json",
    "/get_model_info": "model_info.json",
    "/metrics": "metrics.txt",
    "/v1/loads": "loads.json",
    "/health": None,
}


class Answer(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path not in ANSWERS:
            self.send_error(404)
            return
        name = ANSWERS[path]
        body = (FILES / name).read_bytes() if name else b""
        self.send_response(200)
        self.send_header(
            "Content-Type",
            "application/json" if (name or "").endswith("json") else "text/plain; charset=utf-8",
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


def main() -> None:
    port = int(sys.argv[sys.argv.index("--port") + 1])
    sys.stdout.write((FILES / "serve.log").read_text())
    sys.stdout.flush()
    server = ThreadingHTTPServer(("127.0.0.1", port), Answer)  # last: who is answered finds the log
    server.serve_forever()


if __name__ == "__main__":
    main()
