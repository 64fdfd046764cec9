"""What the log of a server proves of one flag, by the lines that are known to prove it in its version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.engine.launch import Value
from tools.knowledge.traps import Proof, proof_of

_SHOWN = 300  # characters of a line
_DUMP = "server_args="  # what was asked for, written down: no proof
# Proofs of tools/knowledge/traps.yaml that show that something is in use, by the flags that turn it on or off. A line
# of a capture is none of them: what was captured is not used yet.
_IN_USE = {
    "enforce_piecewise_cuda_graph": "prefill_graph",
    "enable_breakable_cuda_graph": "prefill_graph",
    "cuda_graph_backend_prefill": "prefill_graph",
    "disable_piecewise_cuda_graph": "prefill_graph",
    "disable_prefill_cuda_graph": "prefill_graph",
    "cuda_graph_backend_decode": "decode_graph",
    "disable_cuda_graph": "decode_graph",
    "disable_custom_all_reduce": "custom_all_reduce",
    "disable_radix_cache": "prefix_cache",
    "speculative_algorithm": "speculation",
}
_DEFAULTS = ("cuda_graph_backend_prefill", "cuda_graph_backend_decode")  # the engine picks one
_LARGEST = ("cuda_graph_max_bs", "cuda_graph_max_bs_decode")


@dataclass(frozen=True)
class Line:
    """A line of the log that tells of a flag, and the flag's value in it.

    Without a value it shows what is in use, and `on` says whether the flag asks for that: a line of a graph
    that is replayed speaks against --disable-cuda-graph.
    """

    text: str
    value: str = ""
    on: bool = True


def proven(
    flag: str, asked: Value, version: str | None, log: Sequence[str], *, ranks: int = 1
) -> Line | None:
    """Return the line that proves a flag, or speaks against it; None where none does.

    `asked` is None for a flag that was taken out. A scheduler's line tells the value of its own rank, so
    of several data-parallel ranks no value is taken.
    """
    for proof in proof_of(flag, version) if version else ():
        for line in log:
            found = None if _DUMP in line else proof.in_log(line)
            told = _told(flag, asked, proof, found, ranks) if found else None
            if told:
                return told
    return None


def _told(flag: str, asked: Value, proof: Proof, found: re.Match[str], ranks: int) -> Line | None:
    """Return what a line says of this very flag; a proof may be of several, and tell the value of one."""
    text = found.string.strip()[:_SHOWN]
    if _IN_USE.get(flag) == proof.id:
        return None if asked is None and flag in _DEFAULTS else Line(text, on=_wants(flag, asked))
    if f"{flag}=" in proof.pattern and ranks == 1:
        return Line(text, found[1])
    if flag in _LARGEST and proof.id.startswith("decode_capture"):
        return Line(text, str(max(int(size) for size in found[1].split(","))))
    return None


def _wants(flag: str, asked: Value) -> bool:
    """Say whether a flag asks for what it is about to be in use."""
    if flag.startswith("disable_"):
        return not asked
    return bool(asked) and asked != "disabled"
