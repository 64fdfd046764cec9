"""Scripted models for an evaluation: one that retells what was found, and one that lies about everything."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from bot.agent.asking.patient import Patient
from bot.agent.asking.reply import Call, Reply, Said
from bot.agent.planning.planner import ModelPlanner
from bot.agent.prose import Explained, explain
from bot.evaluation import Spent
from bot.investigate import Judged
from bot.planner import Planner
from bot.question import Question
from tests.agent.voices import Claim, honest, lies

Voice = Callable[[Question, Judged], Iterable[Claim]]
SAID = 12  # sentences of one explanation
CURIOUS = (
    ("ReadKernelLog", {}),
    ("GrepServerLog", {"text": "retract"}),
    ("excerpt", {"look": "E1"}),
    ("find_argument", {"text": "cuda_graph"}),
)


@cache
def _encode() -> Callable[[str], list[int]]:
    from dashscope.tokenizers.tokenizer import get_tokenizer

    encode: Callable[[str], list[int]] = get_tokenizer("qwen-7b-chat").encode
    return encode


def tokens(text: str) -> int:
    """Count as a model does: by Qwen's tokenizer."""
    return len(_encode()(text))


class Scripted:
    """A speaker of one case: it looks once, finishes, and explains in its voice."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._said = ""
        self._spent = Spent()
        self._planner: ModelPlanner | None = None

    def planner(self, playbook: Planner, scope: Mapping[str, Any]) -> Planner:
        self._planner = ModelPlanner(playbook, Patient(self), scope=scope)
        return self._planner

    def explain(self, question: Question, end: Judged) -> Explained:
        told = [one.written for one in self._voice(question, end)]
        step = max(1, len(told) // SAID)
        self._said = "\n".join(told[::step][:SAID])
        return explain(Patient(self), question, end)

    def spent(self) -> Spent:
        return self._spent

    def ask(
        self,
        system: str,
        messages: Sequence[Said],
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_output_tokens: int | None = None,
    ) -> Reply:
        reply = self._reply(bool(tools))
        given = [system, *(one.text + _written(one.calls) for one in messages)]
        given += [json.dumps(tools, ensure_ascii=False)] if tools else []
        took = sum(map(tokens, given)), tokens(reply.text + _written(reply.calls))
        before = self._spent
        self._spent = Spent(
            before.turns + 1, before.tokens_in + took[0], before.tokens_out + took[1]
        )
        return reply

    def _reply(self, planning: bool) -> Reply:
        if not planning:
            return Reply(self._said)
        if self._spent.turns == 0:
            calls = (Call(name, dict(args), f"c{n}") for n, (name, args) in enumerate(CURIOUS))
            return Reply("", tuple(calls), finish="tool_calls")
        return Reply("", (Call("finish", {}, "c9"),), finish="tool_calls")


def _written(calls: Sequence[Call]) -> str:
    return "".join(f"{one.name}{json.dumps(one.args)}" for one in calls)


def retelling(question: Question, end: Judged) -> Iterable[Claim]:
    return honest(question, end)


def lying(question: Question, end: Judged) -> Iterable[Claim]:
    return itertools.islice(lies(question, end), 400)
