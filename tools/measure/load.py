"""The load of a burst: its bounds, as they are stated before it begins and kept on the host."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tools.errors import HostError
from tools.evidence import Evidence, learn
from tools.host import Command, Host, Output, script
from tools.nvidia.nvml_json import is_watch
from tools.probes.burst import ReadBurst
from tools.probes.gpu_samples import SampleGpus

SHORTEST_S, LONGEST_S = 5, 15
MOST_STREAMS, MOST_COUNTS = 8, 4
ROUNDS = 2  # of requests for each count of streams, as in tools/remote/burst.py
PROMPT_TOKENS = 8192  # of the long prompt: four chunks of the smallest usual size (2048)
NEW_TOKENS = 512  # of one request; the engine repeats all that was generated in every chunk
WARM_TOKENS = 24
HZ = 8.0  # NVML looks a second; NVML itself refreshes power and utilisation at some 10
SLACK_S = 25.0  # for looking before, and for an NVML that hangs


class Load(BaseModel):
    """What may be put on the server at the most; a question like any other to the host.

    `others` is how many requests of others may run meanwhile; with more, nothing is begun, and what
    was begun ends. `again` sends the long prompt a second time: what a prefix cache gives shows then alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: int | None = Field(None, ge=1, le=65535)
    seconds: int = Field(10, ge=SHORTEST_S, le=LONGEST_S)
    streams: tuple[int, ...] = Field((1, 4), min_length=1, max_length=MOST_COUNTS)
    others: int = Field(0, ge=0, le=MOST_STREAMS)
    again: bool = False

    @field_validator("streams")
    @classmethod
    def _few(cls, streams: tuple[int, ...]) -> tuple[int, ...]:
        if not all(1 <= one <= MOST_STREAMS for one in streams):
            raise ValueError(f"1 to {MOST_STREAMS} streams at once")
        return tuple(sorted(set(streams)))

    @property
    def key(self) -> str:
        """Name it, as a probe does."""
        return "Burst" + self.model_dump_json(exclude_defaults=True)

    @property
    def at_once(self) -> int:
        """Return the most requests of ours at one moment."""
        return max(self.streams)

    @property
    def requests(self) -> int:
        """Return the most requests altogether: a first, the rounds of each count, the long prompt, that again."""
        return 2 + ROUNDS * sum(self.streams) + self.again

    @property
    def new_tokens(self) -> int:
        """Return the most tokens that the server is made to generate."""
        return WARM_TOKENS + NEW_TOKENS * ROUNDS * sum(self.streams) + 1 + self.again

    def stated(self) -> str:
        """Say the bounds in one sentence."""
        return (
            f"At most {self.seconds} s, {self.at_once} requests at once and {self.requests} altogether, one of them"
            f" a prompt of {PROMPT_TOKENS:,} tokens that no cache knows{self._twice()}; at most"
            f" {self.new_tokens:,} tokens are generated. It begins only while {self._quiet()},"
            " ends when that changes, and flushes no cache."
        )

    def _twice(self) -> str:
        return ", and then the same once more" if self.again else ""

    def _quiet(self) -> str:
        if not self.others:
            return "no other request runs or waits"
        return f"at most {self.others} other requests run and none waits"

    def command(self) -> Command:
        """Run the script on the host; what it prints is what ReadBurst reads."""
        plan = self.model_dump() | {
            "prompt_tokens": PROMPT_TOKENS,
            "new_tokens": NEW_TOKENS,
            "hz": HZ,
        }
        limit_s = self.seconds + SLACK_S
        return script("burst", json.dumps(plan), limit_s=limit_s, max_bytes=16 << 20)

    def recognises(self, text: str, /) -> bool:
        """Know its answers as ReadBurst does."""
        return ReadBurst().recognises(text)


def put(load: Load, host: Host) -> list[Evidence]:
    """Put the load on a host; return what was learned: the burst, and the GPUs under it.

    Both looks hold the same raw answer. Raises HostError where the host does not answer.
    """
    output = host.answer([load])[0]
    if output.lost:
        raise HostError(f"{host.name}: {output.lost}")
    return looks(output, host.name)


def looks(output: Output, source: str) -> list[Evidence]:
    """Return what one raw answer teaches."""
    probes: Sequence[ReadBurst | SampleGpus] = [ReadBurst()]
    if is_watch(output.stdout):
        probes = [*probes, SampleGpus()]
    return [learn(number, probe, source, output) for number, probe in enumerate(probes, start=1)]
