"""A healthy server, and what it would have said had one thing been otherwise: its raw answers, edited."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from bot.demo import shipped_path
from bot.investigate import conclude
from bot.question import Question
from tools.case import Case
from tools.comparison import Side
from tools.probes import PROBES

Edit = Callable[[str], str]
WELL = shipped_path("ct130").read_text(encoding="utf-8")
_RATE = re.compile(r"(accept len: )([\d.]+)(.{0,80}?gen throughput \(token/s\): )([\d.]+)")


def side(name: str, *edits: Edit, only: tuple[str, ...] = ()) -> Side:
    """Judge the healthy server as if it had said something else; of `only` some probes where named."""
    text = WELL
    for edit in edits:
        text = edit(text)
    raw: dict[str, Any] = json.loads(text)
    if only:
        raw["asked"] = [one for one in raw["asked"] if one["probe"] in only]
    looks = Case.load(json.dumps(raw), name=name).evidence(PROBES)
    end = conclude(Question.of(""), looks)
    return Side(name, end.evidence, end.verdict)


def put(old: str, new: str) -> Edit:
    """Say one thing instead of another, wherever it is said."""

    def edited(text: str) -> str:
        assert old in text, old
        return text.replace(old, new)

    return edited


def decodes(times: float = 1.0, accepted: float = 1.0) -> Edit:
    """Let decode lines show other rates and accept lengths."""

    def one(found: re.Match[str]) -> str:
        length = float(found[2]) * accepted
        return f"{found[1]}{length:.2f}{found[3]}{float(found[4]) * times:.2f}"

    return lambda text: _RATE.sub(one, text)


def jitters(share: float) -> Edit:
    """Let every other request be faster and the next one slower."""
    count = iter(range(100_000))

    def one(found: re.Match[str]) -> str:
        rate = float(found[4]) * (1 + share if next(count) % 2 else 1 - share)
        return f"{found[1]}{found[2]}{found[3]}{rate:.2f}"

    return lambda text: _RATE.sub(one, text)


def runs_at(more: int) -> Edit:
    """Let that many more requests run in every decode line."""
    form = re.compile(r"(Decode batch, #running-req: )(\d+)")
    return lambda text: form.sub(lambda found: f"{found[1]}{int(found[2]) + more}", text)


LINK_AT_GEN1 = put(", 4, 16, 2, 94,", ", 1, 16, 2, 94,")
