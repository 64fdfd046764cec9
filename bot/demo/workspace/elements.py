"""What stands inside blocks: buttons, selects, inputs, images."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.bounds import (
    LIMITS,
    Faults,
    many_faults,
    plain_faults,
    string_faults,
    text_faults,
)

_SELECTS = ("static_select", "multi_static_select", "radio_buttons", "checkboxes", "overflow")
_MOST_OPTIONS = {"radio_buttons": 10, "checkboxes": 10, "overflow": 5}
_PICKERS = ("users_select", "channels_select", "conversations_select", "datepicker", "timepicker")
INTERACTIVE = ("button", *_SELECTS, *_PICKERS)
INPUTS = (
    "plain_text_input",
    "email_text_input",
    "url_text_input",
    "number_input",
    "file_input",
    *_SELECTS,
    *_PICKERS,
)
CONTEXT = ("mrkdwn", "plain_text", "image")
FEEDBACK = ("feedback_buttons", "icon_button")


def element_faults(element: Any, kinds: tuple[str, ...], at: str) -> Faults:
    """What is wrong with one element; `kinds` are those that may stand here."""
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in kinds:
        return [f"unsupported type: {kind} [json-pointer:{at}/type]"]
    if kind in ("mrkdwn", "plain_text"):
        return text_faults(element, LIMITS.section, at)
    if kind == "image":
        return image_faults(element, at)
    found: Faults = []
    action = element.get("action_id")
    if action is not None:
        found += string_faults(action, LIMITS.action_id, f"{at}/action_id")
    if "confirm" in element:
        found += _confirm(element["confirm"], f"{at}/confirm")
    if "placeholder" in element:
        found += plain_faults(element["placeholder"], LIMITS.placeholder, f"{at}/placeholder")
    return found + _own_faults(element, kind, at)


def _own_faults(element: dict[str, Any], kind: str, at: str) -> Faults:
    if kind in ("button", "icon_button"):
        return _button(element, at)
    if kind == "feedback_buttons":
        return [
            fault
            for which in ("positive_button", "negative_button")
            for fault in _button(element.get(which), f"{at}/{which}", needs_value="yes")
        ]
    if kind in _SELECTS:
        return _options(element, kind, at)
    return []


def _button(element: Any, at: str, needs_value: str = "") -> Faults:
    if not isinstance(element, dict):
        return [f"missing required field [json-pointer:{at}]"]
    found = plain_faults(element.get("text"), LIMITS.button, f"{at}/text")
    value = element.get("value")
    if needs_value or value is not None:
        found += string_faults(value, LIMITS.value, f"{at}/value")
    if element.get("url") is not None:
        found += string_faults(element["url"], LIMITS.url, f"{at}/url")
    if element.get("style") not in (None, "primary", "danger"):
        found.append(f"must be primary or danger [json-pointer:{at}/style]")
    if len(element.get("accessibility_label") or "") > LIMITS.button:
        found.append(
            f"must be less than {LIMITS.button + 1} characters [json-pointer:{at}/accessibility_label]"
        )
    return found


def _options(element: dict[str, Any], kind: str, at: str) -> Faults:
    if "option_groups" in element:
        return many_faults(element["option_groups"], LIMITS.options, f"{at}/option_groups")
    options = element.get("options")
    found = many_faults(options, _MOST_OPTIONS.get(kind, LIMITS.options), f"{at}/options")
    if found or not isinstance(options, list):
        return found
    for number, option in enumerate(options):
        here = f"{at}/options/{number}"
        found += text_faults(option.get("text"), LIMITS.option, f"{here}/text")
        found += string_faults(option.get("value"), LIMITS.option_value, f"{here}/value")
    return found


def _confirm(confirm: Any, at: str) -> Faults:
    if not isinstance(confirm, dict):
        return [f"must be an object [json-pointer:{at}]"]
    return (
        plain_faults(confirm.get("title"), 100, f"{at}/title")
        + text_faults(confirm.get("text"), 300, f"{at}/text")
        + plain_faults(confirm.get("confirm"), 30, f"{at}/confirm")
        + plain_faults(confirm.get("deny"), 30, f"{at}/deny")
    )


def image_faults(image: dict[str, Any], at: str) -> Faults:
    """An image needs a source and its text for those who do not see it."""
    found = string_faults(image.get("alt_text"), LIMITS.alt_text, f"{at}/alt_text")
    if "slack_file" in image:
        return found
    return found + string_faults(image.get("image_url"), LIMITS.url, f"{at}/image_url")
