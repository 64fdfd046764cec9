"""A load by which it shows how many requests may run at once: how long the first token of each of them takes."""

from __future__ import annotations

import http.client
import json
import threading
import time
from statistics import mean

from bot.experiment.hands import Run
from bot.experiment.on_host import OnHost
from tools.change import Proposal
from tools.host import Host

AT_ONCE, TOKENS = 8, 48
FIRST = f"first token with {AT_ONCE} streams, ms"


class Waits(OnHost):
    """Streams requests from here, all at once, as one person's script would; the key is the server's own.

    Where two may run at once, the last two wait for three times 48 steps; without a cap they wait for
    eight short prompts. The one is twenty times the other, so that nobody else's load on the machine decides.
    """

    def __init__(self, host: Host, key: str) -> None:
        super().__init__(host)
        self._key = key

    def longest_s(self, proposal: Proposal, /) -> float:
        return 1.0

    def run(self, proposal: Proposal, /) -> Run:
        firsts: list[float] = []
        failed: list[str] = []
        began = time.monotonic()
        every = [
            threading.Thread(target=self._one, args=(proposal.port, firsts, failed))
            for _ in range(AT_ONCE)
        ]
        for one in every:
            one.start()
        for one in every:
            one.join()
        took_s = time.monotonic() - began
        if failed:
            return Run({}, errors=len(failed))
        return Run(
            {
                FIRST: mean(firsts) * 1e3,
                "output rate, tok/s": AT_ONCE * TOKENS / took_s,
            }
        )

    def _one(self, port: int, firsts: list[float], failed: list[str]) -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        sampling = {"max_new_tokens": TOKENS, "ignore_eos": True}
        body = json.dumps({"text": "a story", "sampling_params": sampling, "stream": True})
        began = time.monotonic()
        try:
            line.request("POST", "/generate", body, headers)
            answer = line.getresponse()
            first = answer.readline()
            firsts.append(time.monotonic() - began)
            if answer.status != 200 or not first.startswith(b"data:"):
                failed.append(f"{answer.status} {first!r}")
            answer.read()
        except OSError as why:
            failed.append(str(why))
        finally:
            line.close()
