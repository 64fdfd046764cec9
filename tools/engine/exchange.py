"""JSON of the API as people paste it, cut down to what may be kept: figures, and no prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.engine.request import Requests
from tools.errors import Unreadable
from tools.probe import JSON

MOST = 200  # objects of one text
LOOK = 1 << 20  # characters of a text that are searched
_GRAMMARS = ("response_format", "regex", "ebnf", "json_schema", "structural_tag", "guided_json")
_FORMATS = ("json_schema", "json_object", "structural_tag")
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")


def slimmed(text: str) -> str:
    """Return the requests and answers of a text, a line each, without what users wrote."""
    return "\n".join(json.dumps(one) for one in _exchanges(text))


def read(text: str) -> Requests:
    """Count the requests of a text and take the figures of its last answer."""
    found = list(_exchanges(text))
    if not found:
        raise Unreadable("this is neither a request to an OpenAI-like API nor an answer of one")
    asked = [one for one in found if "grammar" in one]
    usage: dict[str, Any] = next((one["usage"] for one in reversed(found) if "usage" in one), {})
    last = asked[-1] if asked else {}
    sizes = [one["schema_chars"] for one in asked if one.get("schema_chars")]
    return Requests(
        with_grammar=sum(one["grammar"] for one in asked),
        without_grammar=sum(not one["grammar"] for one in asked),
        schema_chars=max(sizes, default=None),
        max_tokens=last.get("max_tokens"),
        temperature=last.get("temperature"),
        **{name: usage.get(name) for name in _FIGURES},
    )


_FIGURES = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")


def holds_any(text: str) -> bool:
    """Say whether a text holds a request or an answer."""
    return next(_exchanges(text), None) is not None


def _exchanges(text: str) -> Iterator[dict[str, Any]]:
    """Yield each request and answer, slimmed; what was slimmed before passes as it is."""
    at, tried = 0, 0
    text = text[:LOOK]
    while (at := text.find("{", at)) >= 0 and tried < MOST:
        tried += 1
        try:
            found, end = JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if one := _slim(found):
            yield one
        at = end


def _slim(found: Any) -> dict[str, Any] | None:
    if not isinstance(found, dict):
        return None
    if (
        found.keys() <= {"grammar", "schema_chars", "max_tokens", "temperature"}
        and "grammar" in found
    ):
        return found
    usage = found.get("usage")
    if isinstance(usage, dict) and "prompt_tokens" in usage:
        return {"usage": _usage(usage)}
    said = isinstance(found.get("messages"), list) or isinstance(found.get("prompt"), str | list)
    return _request(found) if said and not ("choices" in found or "model_path" in found) else None


def _request(found: dict[str, Any]) -> dict[str, Any]:
    params = found.get("sampling_params")
    given = found | params if isinstance(params, dict) else found
    schema = next((given[name] for name in _GRAMMARS if given.get(name)), None)
    grammar = schema is not None
    if isinstance(schema, dict) and "type" in schema:
        grammar = schema["type"] in _FORMATS
    slim: dict[str, Any] = {"grammar": grammar}
    if grammar:
        slim["schema_chars"] = len(json.dumps(schema))
    if _is_number(given.get("max_tokens")):
        slim["max_tokens"] = int(given["max_tokens"])
    if _is_number(given.get("temperature")):
        slim["temperature"] = given["temperature"]
    return slim


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    flat = {**usage}
    for name in _DETAILS:
        part = usage.get(name)
        flat |= part if isinstance(part, dict) else {}
    kept = (*_COUNTS, *_FIGURES)
    return {name: int(flat[name]) for name in dict.fromkeys(kept) if _is_number(flat.get(name))}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
