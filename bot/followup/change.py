"""What somebody would change, in thought: the link, peer access, how many GPUs, the accept length."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(\d{1,2}(?:[.,]\d{1,3})?)"
_NVLINK = re.compile(r"\bnv-?link\b|\bbridge\b", re.IGNORECASE)
_GEN = re.compile(r"\b(?:pci-?e\s*)?gen\s*-?([1-7])\b|\bpci-?e\s*([1-7])(?:\.0)?\b", re.IGNORECASE)
_WIDTH = re.compile(r"\bx(1|2|4|8|16)\b|\b(1|2|4|8|16)\s+lanes\b", re.IGNORECASE)
_NO_PEER = re.compile(
    r"\b(?:without|no|disable[ds]?|off)\s+(?:p2p|peer(?:\s+(?:access|to\s+peer))?)\b"
    r"|\b(?:p2p|peer\s+access)\s+(?:(?:was|were|is)\s+)?(?:off|disabled|gone|denied)",
    re.IGNORECASE,
)
_TP = re.compile(
    r"\b(?:tp|tensor[- ]parallel(?:ism)?)(?:[- _]?size)?\s*(?:=|of|was|were|is)?\s*(\d{1,2})\b"
    r"|\b(?:on|only|just|with)\s+(?:only\s+)?(one|1|2|two|4|four|8|eight)\s+(?:gpus?|cards?)\b",
    re.IGNORECASE,
)
_ACCEPT = re.compile(
    rf"\baccept(?:ance|ed)?[- ]len(?:gth)?\s*(?:(?:=|of|was|were|is|at|to|rose\s+to)\s*)*{_NUMBER}",
    re.IGNORECASE,
)
_REPAIRED = re.compile(
    r"\b(?:the\s+)?(?:pci-?e\s+)?(?:links?|risers?|slots?)\s+(?:was|were|is|are|worked|gets?|got)?\s*"
    r"(?:fixed|repaired|healthy|ok(?:ay)?|fine|good|at\s+full\s+speed)"
    r"|\b(?:fix(?:ed)?|repair(?:ed)?|replac(?:e|ed)|swap(?:ped)?|reseat(?:ed)?)\s+(?:the\s+)?(?:pci-?e\s+)?"
    r"(?:links?|risers?|slots?|fault)\b"
    r"|\bwithout\s+the\s+(?:pci-?e\s+|link\s+|riser\s+|hardware\s+)*(?:fault|problem|defect)\b"
    r"|\bhealthy\s+(?:pci-?e\s+)?links?\b",
    re.IGNORECASE,
)
_COUNTS = {"one": 1, "two": 2, "four": 4, "eight": 8}


@dataclass(frozen=True)
class Change:
    """One change that the step model can work out. `gen` and `width` are of PCIe; `tp` counts GPUs."""

    nvlink: bool = False
    repaired: bool = False
    gen: int | None = None
    width: int | None = None
    no_peer: bool = False
    tp: int | None = None
    accept_len: float | None = None

    @classmethod
    def of(cls, text: str) -> Change:
        """Read it out of a text; what is not named stays as it is."""
        gen, width, tp, accepted = (form.search(text) for form in (_GEN, _WIDTH, _TP, _ACCEPT))
        return cls(
            nvlink=bool(_NVLINK.search(text)),
            repaired=bool(_REPAIRED.search(text)),
            gen=_whole(gen),
            width=_whole(width),
            no_peer=bool(_NO_PEER.search(text)),
            tp=_whole(tp),
            accept_len=float(accepted[1].replace(",", ".")) if accepted else None,
        )

    def __bool__(self) -> bool:
        return self != Change()


def _whole(found: re.Match[str] | None) -> int | None:
    told = next((part for part in found.groups() if part), None) if found else None
    if told is None:
        return None
    return _COUNTS.get(told.lower()) or int(told)
