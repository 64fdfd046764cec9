"""The engine's own serving benchmark, run on the host with arguments that are safe on every version."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from tools.engine.benchmark_json import SERVED
from tools.errors import HostError
from tools.evidence import Evidence, learn
from tools.host import Command, Host, script
from tools.probes.benchmark import ReadBenchmark

LIMIT_S = 100  # of one run; its interpreter alone takes 10 to 30 s to import the engine
SLACK_S = 15.0
MOST_REQUESTS, MOST_AT_ONCE = 256, 32
MOST_RUNS = 40
SEEDS = 1 << 31


class Serving(BaseModel):
    """One run: so many requests of so many random tokens, so many at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int | None = Field(None, ge=1, le=65535)
    requests: int = Field(16, ge=1, le=MOST_REQUESTS)
    at_once: int = Field(4, ge=1, le=MOST_AT_ONCE)
    input_tokens: int = Field(512, ge=1, le=16_384)
    output_tokens: int = Field(128, ge=2, le=4096)
    others: int = Field(0, ge=0, le=8)
    seed: int = Field(1, ge=0, lt=SEEDS)

    @property
    def key(self) -> str:
        """Name it, as a probe does."""
        return "Serving" + self.model_dump_json(exclude_defaults=True)

    def stated(self) -> str:
        """Say the bounds of one run in one sentence."""
        return (
            f"Each run sends {self.requests} requests of {self.input_tokens} random tokens, {self.at_once} at once,"
            f" and lets {self.output_tokens} be generated for each; it ends within {LIMIT_S} s and flushes no cache."
        )

    def command(self) -> Command:
        """Run the script on the host, with the names of the figures that it may print."""
        plan = json.dumps(self.model_dump() | {"limit_s": LIMIT_S})
        told = script("bench_serving", plan, limit_s=LIMIT_S + SLACK_S)
        names = f'KEPT_FIGURES = frozenset("""{" ".join(sorted(SERVED))}""".split())\n'
        return told.model_copy(update={"stdin": names + told.stdin})

    def recognises(self, text: str, /) -> bool:
        """Know its answers as ReadBenchmark does."""
        return ReadBenchmark().recognises(text)


def runs(serving: Serving, host: Host, number: int) -> Iterator[Evidence]:
    """Run it so many times, each with data that no cache knows; raise HostError where nobody answers."""
    for run in range(1, number + 1):
        fresh = serving.model_copy(update={"seed": secrets.randbelow(SEEDS)})
        output = host.answer([fresh])[0]
        if output.lost:
            raise HostError(f"{host.name}: {output.lost}")
        yield learn(run, ReadBenchmark(), host.name, output)
