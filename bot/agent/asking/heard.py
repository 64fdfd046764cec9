"""LangChain's message -> Reply: what is no whole, well-formed call of a whole answer is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot.agent.asking.reply import Call, Finish, Reply

MAX_TEXT = 40_000  # characters of one answer that are kept
MAX_CALLS = 32  # calls of one answer that are looked at
MAX_ARGS = 8_000  # characters of one call's arguments
_TOKENS = 50_000_000  # a count above that is no count
_THOUGHT = re.compile(r"\A\s*<think>(?:.*?</think>|.*\Z)", re.DOTALL)
_FINISH: dict[str, Finish] = {
    # OpenAI (both interfaces), Anthropic, Google, text-generation-inference, each in its own words
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos_token": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
    "completed": "stop",
    "incomplete": "length",
}


def heard(message: Any, model: str, tokens_in: int, ids: Iterator[int]) -> Reply:
    """Read an AIMessage. `tokens_in` is our own count, for a server that gives none.

    Calls get ids of ours, from `ids`: servers give none, give null, or the same one each turn.
    """
    finish = _finish(message.response_metadata)
    given = list(message.tool_calls)
    wrong = list(message.invalid_tool_calls)
    calls, bad = _calls(given, wrong, finish, ids)
    usage = message.usage_metadata or {}
    wrote = len(str(message.content)) + sum(len(str(call.get("args"))) for call in given + wrong)
    return Reply(
        text=_text(message),
        calls=calls,
        bad=bad,
        finish=finish,
        tokens_in=_count(usage.get("input_tokens"), tokens_in),
        tokens_out=_count(usage.get("output_tokens"), wrote // 3 + 1),
        model=model,
    )


def misheard(model: str, tokens_in: int) -> Reply:
    """Return what stands for an answer whose calls LangChain has no form for, as `[1, 2]` for arguments."""
    bad = "Nothing of it was carried out: a call is a name and one JSON object of arguments."
    return Reply("", bad=(bad,), finish="unknown", tokens_in=tokens_in, model=model)


def _finish(metadata: dict[str, Any]) -> Finish:
    said = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("status")
    return _FINISH.get(said.lower(), "unknown") if isinstance(said, str) else "unknown"


def _text(message: Any) -> str:
    text = str(message.text)
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return _THOUGHT.sub("", text, count=1).strip()[:MAX_TEXT]


def _calls(
    given: Sequence[Any], wrong: Sequence[Any], finish: Finish, ids: Iterator[int]
) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    bad = [
        f"{_named(call)} was not carried out: its arguments are not one JSON object."
        for call in wrong[:MAX_CALLS]
    ]
    if given and finish not in ("stop", "tool_calls"):
        # A cut answer's arguments may have been repaired into something that was never meant.
        bad += [
            f"{_named(call)} was not carried out: your answer broke off ({finish}); say less and call again."
            for call in given[:MAX_CALLS]
        ]
        return (), tuple(bad)
    calls: list[Call] = []
    for call in given[:MAX_CALLS]:
        if why := _refused(call):
            bad.append(f"{_named(call)} was not carried out: {why}.")
            continue
        # Nine letters and digits, which is all that the strictest provider (Mistral) takes.
        calls.append(Call(call["name"], call["args"], f"call{next(ids) % 100_000:05d}"))
    if len(given) > MAX_CALLS:
        bad.append(
            f"{len(given) - MAX_CALLS} calls more were not looked at: that is too many at once."
        )
    return tuple(calls), tuple(bad)


def _refused(call: Any) -> str:
    if not isinstance(call.get("name"), str) or not call["name"].strip():
        return "it names no tool"
    if not isinstance(call.get("args"), dict):
        return "its arguments are not one JSON object"
    try:
        size = len(json.dumps(call["args"], allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "its arguments are not JSON"
    return "its arguments are too long" if size > MAX_ARGS else ""


def _named(call: Any) -> str:
    name = call.get("name")
    name = (
        "".join(c for c in name if c.isalnum() or c in "_-")[:60] if isinstance(name, str) else ""
    )
    return f"The call of {name}" if name else "A call"


def _count(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and 0 < value <= _TOKENS else otherwise
