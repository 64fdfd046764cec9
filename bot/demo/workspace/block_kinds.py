"""Each kind of block: what it must have, and how much of it."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.bounds import (
    LIMITS,
    Check,
    Faults,
    many_faults,
    plain_faults,
    string_faults,
    text_faults,
)
from bot.demo.workspace.elements import (
    CONTEXT,
    FEEDBACK,
    INPUTS,
    INTERACTIVE,
    element_faults,
    image_faults,
)
from bot.demo.workspace.rich_text import rich_text_faults
from bot.demo.workspace.stream_kinds import task_card_faults

_LEVELS = ("default", "info", "warning", "error", "success")


def _section(block: dict[str, Any], at: str) -> Faults:
    found: Faults = []
    fields = block.get("fields")
    if "text" not in block and not fields:
        return [f"missing required field: text or fields [json-pointer:{at}]"]
    if "text" in block:
        found += text_faults(block["text"], LIMITS.section, f"{at}/text")
    if fields is not None:
        found += many_faults(fields, LIMITS.fields, f"{at}/fields")
        for number, field in enumerate(fields if isinstance(fields, list) else ()):
            found += text_faults(field, LIMITS.field, f"{at}/fields/{number}")
    if "accessory" in block:
        found += element_faults(block["accessory"], (*INTERACTIVE, "image"), f"{at}/accessory")
    return found


def _header(block: dict[str, Any], at: str) -> Faults:
    return plain_faults(block.get("text"), LIMITS.header, f"{at}/text")


def _divider(_block: dict[str, Any], _at: str) -> Faults:
    return []


def _elements(kinds: tuple[str, ...], most: int) -> Check:
    def check(block: dict[str, Any], at: str) -> Faults:
        elements = block.get("elements")
        found = many_faults(elements, most, f"{at}/elements")
        if found or not isinstance(elements, list):
            return found
        for number, element in enumerate(elements):
            found += element_faults(element, kinds, f"{at}/elements/{number}")
        actions = [e.get("action_id") for e in elements if e.get("action_id")]
        if len(actions) > len(set(actions)):
            found.append(f"`action_id` already exists [json-pointer:{at}/elements]")
        return found

    return check


def _image(block: dict[str, Any], at: str) -> Faults:
    title = plain_faults(block["title"], 2000, f"{at}/title") if "title" in block else []
    return image_faults(block, at) + title


def _input(block: dict[str, Any], at: str) -> Faults:
    found = plain_faults(block.get("label"), LIMITS.label, f"{at}/label")
    if "hint" in block:
        found += plain_faults(block["hint"], LIMITS.label, f"{at}/hint")
    return found + element_faults(block.get("element"), INPUTS, f"{at}/element")


def _markdown(block: dict[str, Any], at: str) -> Faults:
    return string_faults(block.get("text"), LIMITS.markdown, f"{at}/text")


def _alert(block: dict[str, Any], at: str) -> Faults:
    found = text_faults(block.get("text"), LIMITS.section, f"{at}/text")
    if block.get("level", "default") not in _LEVELS:
        found.append(f"must be one of {', '.join(_LEVELS)} [json-pointer:{at}/level]")
    return found


def _rich_text(block: dict[str, Any], at: str) -> Faults:
    return rich_text_faults(block, at)


def _table(block: dict[str, Any], at: str) -> Faults:
    rows = block.get("rows")
    if not isinstance(rows, list) or not rows:
        return [f"missing required field: rows [json-pointer:{at}/rows]"]
    if len(rows) > LIMITS.table_rows:
        return [f"no more than {LIMITS.table_rows} items allowed [json-pointer:{at}/rows]"]
    found: Faults = []
    for number, row in enumerate(rows):
        found += many_faults(row, LIMITS.table_cells, f"{at}/rows/{number}")
        for column, cell in enumerate(row if isinstance(row, list) else ()):
            found += _cell(cell, f"{at}/rows/{number}/{column}")
    if len({len(row) for row in rows if isinstance(row, list)}) > 1:
        found.append(f"rows must have the same number of cells [json-pointer:{at}/rows]")
    if len(block.get("column_settings") or ()) > LIMITS.table_cells:
        found.append(
            f"no more than {LIMITS.table_cells} items allowed [json-pointer:{at}/column_settings]"
        )
    return found


def _cell(cell: Any, at: str) -> Faults:
    kind = cell.get("type") if isinstance(cell, dict) else None
    if kind == "rich_text":
        return rich_text_faults(cell, at)
    if kind == "raw_number":
        ok = isinstance(cell.get("value", cell.get("number")), int | float)
        return [] if ok else [f"must be a number [json-pointer:{at}]"]
    if kind != "raw_text":
        return [f"unsupported type: {kind} [json-pointer:{at}/type]"]
    return string_faults(cell.get("text"), LIMITS.section, f"{at}/text")


def _plan(block: dict[str, Any], at: str) -> Faults:
    found = string_faults(block.get("title"), LIMITS.task_text, f"{at}/title")
    for number, task in enumerate(block.get("tasks") or ()):
        found += task_card_faults(task, f"{at}/tasks/{number}")
    return found


def _file(block: dict[str, Any], at: str) -> Faults:
    return (
        [] if block.get("source") == "remote" else [f"only remote files [json-pointer:{at}/source]"]
    )


CHECKS: dict[str, Check] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "context": _elements(CONTEXT, LIMITS.context_elements),
    "actions": _elements(INTERACTIVE, LIMITS.actions),
    "context_actions": _elements(FEEDBACK, LIMITS.context_actions),
    "image": _image,
    "input": _input,
    "markdown": _markdown,
    "alert": _alert,
    "rich_text": _rich_text,
    "table": _table,
    "task_card": task_card_faults,
    "plan": _plan,
    "file": _file,
}
ONLY_IN: dict[str, tuple[str, ...]] = {
    "markdown": ("message",),
    "table": ("message",),
    "file": ("message",),
    "context_actions": ("message",),
    "task_card": ("message",),
    "plan": ("message",),
}
