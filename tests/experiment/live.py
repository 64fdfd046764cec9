"""An experiment on a stand-in server with its real keeper: real requests, and a figure that no busy machine sways."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any

from bot.experiment.hands import Run
from bot.experiment.on_host import OnHost
from tools.change import Bounds, Proposal
from tools.host import Host

BOUNDS = Bounds(drain_s=2, stop_s=10, ready_s=20, silence_s=30, whole_s=120)
AT_ONCE, TOKENS = 6, 12
FEW_TOK_S, MANY_TOK_S = (
    100.0,
    150.0,
)  # of a server that takes two at once, and of one that takes more


class SureLoad(OnHost):
    """Requests that must be answered, sent from here; the rate is what the server's cap allows.

    The speed of the machine that runs the tests is not what they test: that is done on the real engine.
    """

    def __init__(
        self, host: Host, key: str = "", *, at_once: int = AT_ONCE, tokens: int = TOKENS
    ) -> None:
        super().__init__(host)
        self._key, self._at_once, self._tokens, self._runs = key, at_once, tokens, 0

    def longest_s(self, proposal: Proposal, /) -> float:
        return 1.0

    def run(self, proposal: Proposal, /) -> Run:
        failed: list[str] = []
        every = [
            threading.Thread(target=self._one, args=(proposal.port, failed))
            for _ in range(self._at_once)
        ]
        for one in every:
            one.start()
        for one in every:
            one.join()
        _, said = self._sent(proposal.port, "GET", "/server_info")
        few = json.loads(said)["max_running_requests"] == 2
        self._runs += 1
        rate = (FEW_TOK_S if few else MANY_TOK_S) + self._runs % 2
        return Run({"output rate, tok/s": rate}, errors=len(failed))

    def _one(self, port: int, failed: list[str]) -> None:
        sampling = {"max_new_tokens": self._tokens, "ignore_eos": True}
        body = {"text": "a story", "sampling_params": sampling}
        try:
            status, _ = self._sent(port, "POST", "/generate", body)
            failed += [] if status == 200 else [str(status)]
        except OSError as why:
            failed.append(str(why))

    def _sent(self, port: int, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            headers = {"Content-Type": "application/json"}
            headers |= {"Authorization": f"Bearer {self._key}"} if self._key else {}
            line.request(method, path, json.dumps(body) if body else None, headers)
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()
