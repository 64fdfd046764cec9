"""An experiment on a stand-in server with its real keeper: the load is small, so that a run takes no second."""

from __future__ import annotations

import http.client
import json
import threading
import time

from bot.experiment.hands import Run
from bot.experiment.on_host import OnHost
from tools.change import Bounds, Proposal
from tools.host import Host

BOUNDS = Bounds(drain_s=2, stop_s=10, ready_s=20, silence_s=30, whole_s=120)
AT_ONCE, TOKENS = 6, 12


class SmallLoad(OnHost):
    """Sends a few requests from here instead of a burst from there."""

    def __init__(
        self, host: Host, key: str = "", *, at_once: int = AT_ONCE, tokens: int = TOKENS
    ) -> None:
        super().__init__(host)
        self._key, self._at_once, self._tokens = key, at_once, tokens

    def longest_s(self, proposal: Proposal, /) -> float:
        return 1.0

    def run(self, proposal: Proposal, /) -> Run:
        rate, failed = self._rate(proposal.port, self._at_once)
        return Run({"output rate, tok/s": rate}, errors=failed)

    def _rate(self, port: int, at_once: int) -> tuple[float, int]:
        failed: list[str] = []
        began = time.monotonic()
        every = [threading.Thread(target=self._one, args=(port, failed)) for _ in range(at_once)]
        for one in every:
            one.start()
        for one in every:
            one.join()
        return at_once * self._tokens / (time.monotonic() - began), len(failed)

    def _one(self, port: int, failed: list[str]) -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            headers = {"Content-Type": "application/json"}
            headers |= {"Authorization": f"Bearer {self._key}"} if self._key else {}
            sampling = {"max_new_tokens": self._tokens, "ignore_eos": True}
            body = json.dumps({"text": "a story", "sampling_params": sampling})
            line.request("POST", "/generate", body, headers)
            answer = line.getresponse()
            answer.read()
            failed += [] if answer.status == 200 else [str(answer.status)]
        except OSError as why:
            failed.append(str(why))
        finally:
            line.close()
