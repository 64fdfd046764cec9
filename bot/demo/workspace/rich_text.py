"""Rich text: sections, lists, code and quotes, made of elements that are what they say."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.bounds import LIMITS, Faults

_CONTAINERS = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
_STYLES = {
    "bold",
    "italic",
    "strike",
    "code",
    "underline",
    "highlight",
    "client_highlight",
    "unlink",
}
_NEEDED = {  # https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    "text": "text",
    "link": "url",
    "user": "user_id",
    "channel": "channel_id",
    "usergroup": "usergroup_id",
    "emoji": "name",
    "broadcast": "range",
    "date": "timestamp",
    "team": "team_id",
    "color": "value",
}


def rich_text_faults(block: Any, at: str) -> Faults:
    """Only the four containers stand at the top, lists hold sections, and each element has what it needs."""
    if not isinstance(block, dict) or block.get("type") != "rich_text":
        return [f"must be rich_text [json-pointer:{at}]"]
    parts = block.get("elements")
    if not isinstance(parts, list) or not parts:
        return [f"missing required field: elements [json-pointer:{at}/elements]"]
    found: Faults = []
    for number, part in enumerate(parts):
        found += _container(part, f"{at}/elements/{number}")
    return found


def _container(part: Any, at: str) -> Faults:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _CONTAINERS:
        return [f"unsupported type: {kind} [json-pointer:{at}/type]"]
    inner = part.get("elements")
    if not isinstance(inner, list):
        return [f"missing required field: elements [json-pointer:{at}/elements]"]
    if kind == "rich_text_list":
        return _list(part, inner, at)
    found: Faults = []
    for number, element in enumerate(inner):
        found += _element(element, f"{at}/elements/{number}")
    return found


def _list(part: dict[str, Any], inner: list[Any], at: str) -> Faults:
    if part.get("style") not in ("bullet", "ordered"):
        return [f"must be bullet or ordered [json-pointer:{at}/style]"]
    if not 0 <= int(part.get("indent", 0)) <= 8:
        return [f"indent must be 0 to 8 [json-pointer:{at}/indent]"]
    found: Faults = []
    for number, item in enumerate(inner):
        if not isinstance(item, dict) or item.get("type") != "rich_text_section":
            found.append(f"a list holds rich_text_section [json-pointer:{at}/elements/{number}]")
        else:
            found += _container(item, f"{at}/elements/{number}")
    return found


def _element(element: Any, at: str) -> Faults:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in _NEEDED:
        return [f"unsupported type: {kind} [json-pointer:{at}/type]"]
    needed = element.get(_NEEDED[kind])
    if needed is None or needed == "" or (kind != "date" and not isinstance(needed, str)):
        return [f"missing required field: {_NEEDED[kind]} [json-pointer:{at}]"]
    if kind == "link" and (":" not in needed or len(needed) > LIMITS.url):
        return [f"invalid url [json-pointer:{at}/url]"]
    style = element.get("style") or {}
    if not isinstance(style, dict) or not set(style) <= _STYLES:
        return [f"unknown style [json-pointer:{at}/style]"]
    return []
