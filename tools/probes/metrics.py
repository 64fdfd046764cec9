"""What a running server counts: requests, tokens, the KV pool, graphs."""

from __future__ import annotations

import json

from pydantic import Field

from tools.engine import Metrics
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told
from tools.sglang.metrics import is_page, pages, read_metrics


class ReadMetrics(Probe[Metrics]):
    """Read the server's Prometheus metrics: twice, so that counters show what happens right now.

    A person would type: curl -s http://127.0.0.1:PORT/metrics; sleep 2; and the same again.
    """

    seconds: float = Field(2.0, ge=0.5, le=30, description="time between the two readings")
    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Ask over loopback, on the host; what is no number of the engine is left out there."""
        port = (str(self.port),) if self.port else ()
        return script(
            "metrics",
            str(self.seconds),
            *port,
            after=("find_server", "ask_server"),
            limit_s=25 + self.seconds,
            max_bytes=4 << 20,
        )

    def recognises(self, text: str, /) -> bool:
        """Lines that begin with sglang: or vllm:, or the object that our script prints."""
        return is_page(text) or (text.lstrip().startswith('{"first"') and ":" in text)

    def parse(self, stdout: str, /) -> Metrics:
        """Read our two readings, or the pages that somebody pasted."""
        if not stdout.lstrip().startswith("{"):
            return read_metrics(*pages(stdout))
        said = told(stdout)
        first, second, window = said.get("first"), said.get("second"), said.get("window_s")
        if not isinstance(first, str):
            raise Unreadable(
                "the answer is JSON, but not that of the metrics: " + json.dumps(sorted(said))[:80]
            )
        return read_metrics(
            first,
            second if isinstance(second, str) else None,
            float(window) if isinstance(window, (int, float)) else None,
        )
