"""What a model was given and what it said: kept with the case, so that anybody can see why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.asking.reply import Reply, Said
from tools.harmless import harmless
from tools.secrets import scrub

KEPT = 20_000  # characters of one message that are kept; what is given is shorter


@dataclass(frozen=True)
class Exchange:
    """One ask. `purpose` is what for ("plan", "explain"), `prompt` which words ("planner 1a2b3c4d").

    `given` are the messages in full, but for the words of the prompt; secrets were dropped before
    they were given, and of the answer they are dropped here. `trouble` says why there is no answer.
    """

    purpose: str
    prompt: str
    given: tuple[Said, ...]
    reply: Reply | None = None
    trouble: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        told: dict[str, Any] = {
            "purpose": self.purpose,
            "prompt": self.prompt,
            "given": [_message(one) for one in self.given],
        }
        if self.trouble:
            told["trouble"] = self.trouble
        if self.reply is not None:
            told["said"] = _answer(self.reply)
        return told


def as_json(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """Return exchanges as a case keeps them; of each only what the one before had not been given."""
    kept: list[dict[str, Any]] = []
    before: tuple[Said, ...] = ()
    for one in exchanges:
        told = one.as_json()
        same = _same(before, one.given)
        if same:
            told["given"] = [{"as_before": same}, *told["given"][same:]]
        kept.append(told)
        before = one.given
    return kept


def _same(before: Sequence[Said], now: Sequence[Said]) -> int:
    pairs = zip(before, now, strict=False)
    differs = (at for at, (old, new) in enumerate(pairs) if old != new)
    return next(differs, min(len(before), len(now)))


def _message(one: Said) -> dict[str, Any]:
    told: dict[str, Any] = {"role": one.role, "text": _clean(one.text)}
    if one.calls:
        told["calls"] = [_call(call.name, call.args) for call in one.calls]
    return told


def _answer(reply: Reply) -> dict[str, Any]:
    return {
        "text": _clean(reply.text),
        "calls": [_call(call.name, call.args) for call in reply.calls],
        "refused": [_clean(one) for one in reply.bad],
        "finish": reply.finish,
        "model": harmless(reply.model)[:200],
        "tokens": [reply.tokens_in, reply.tokens_out],
    }


def _call(name: str, args: dict[str, Any]) -> str:
    return _clean(f"{name} {args}")[:2000]


def _clean(text: str) -> str:
    return scrub("\n".join(harmless(line) for line in text[:KEPT].splitlines()))
