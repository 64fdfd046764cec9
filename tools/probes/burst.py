"""A burst of our own load, as it was kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from tools.engine.burst import Burst, BusyLink
from tools.engine.burst_text import read_burst
from tools.errors import ProbeError
from tools.host import Command, script
from tools.nvidia.gpus import Gpus
from tools.nvidia.nvml_json import is_watch, read_watch
from tools.probe import Probe, told

_USUAL = "/tmp/burst.json"  # noqa: S108 - it is read, never written
_MARK = r'"burst": ?\{'


class ReadBurst(Probe[Burst]):
    """Read a burst that was measured before: step time, prefill rate and links under our own load.

    It adds no load itself; `perfsleuth bench HOST --burst --save FILE` is what measures.
    """

    routine: ClassVar[bool] = False  # a file of the user, not of the server

    path: str = Field(_USUAL, pattern=r"^[^-]", max_length=400, description="the file it is in")

    def command(self) -> Command:
        """Print the file, if there is a burst in it."""
        return script("print_file", self.path, _MARK)

    def recognises(self, text: str, /) -> bool:
        """The object that our script prints: of the burst alone, or after what watched the GPUs."""
        head = text.lstrip()
        return head.startswith('{"burst"') or (is_watch(head) and '"burst":' in head)

    def parse(self, stdout: str, /) -> Burst:
        """Turn times of tokens into figures, and samples of GPUs at work into links."""
        found = read_burst(told(stdout))
        if not is_watch(stdout):
            return found
        try:
            gpus = read_watch(stdout)
        except ProbeError as why:
            return found.model_copy(update={"unwatched": str(why)})
        return found.model_copy(update={"links": _links(gpus), "replays": _replays(gpus)})


def _links(gpus: Gpus) -> tuple[BusyLink, ...]:
    return tuple(
        BusyLink(
            gpu=gpu,
            gen=_usual(one.link_gen for one in group),
            width=_usual(one.link_width for one in group),
            gen_possible=_usual(one.gen_possible for one in group),
            width_possible=_usual(one.link_width_max for one in group),
            samples=len(group),
        )
        for gpu, group in gpus.working().items()
    )


def _replays(gpus: Gpus) -> dict[str, int]:
    found: dict[str, int] = {}
    for gpu, group in gpus.by_gpu().items():
        told = [one.replays for one in group if one.replays is not None]
        if len(told) > 1:
            found[gpu] = told[-1] - told[0]
    return found


def _usual(values: Iterable[int | None]) -> int | None:
    told = Counter(value for value in values if value is not None)
    return told.most_common(1)[0][0] if told else None
