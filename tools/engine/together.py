"""Copies between GPUs at the same time, as people write them down: "GPU0>GPU4 + GPU1>GPU6   2.7"."""

from __future__ import annotations

import re

from tools.engine.trial import Together

PAIR = re.compile(r"GPU ?(\d{1,2})\s?(>|<|->|<-)\s?GPU ?(\d{1,2})", re.IGNORECASE)


def together_of(line: str) -> Together | None:
    """Read "GPU0>GPU4 + GPU1>GPU6    2.7", a sum of copies in GB/s."""
    pairs = list(PAIR.finditer(line))
    if not pairs:
        return None
    rate = re.match(
        r"\s*(?:\((?P<kind>\w+)\))?\s*[:=|]?\s*(?P<rate>\d+(?:\.\d+)?)\s*(?:GB/s)?\s*$",
        line[pairs[-1].end() :],
    )
    if rate is None:
        return None
    ends = tuple((int(one[1]), int(one[3])) for one in pairs)
    reads = (rate["kind"] or "").lower().startswith("read") or all("<" in one[2] for one in pairs)
    return Together(pairs=ends, gb_s=float(rate["rate"]), reads=reads)
