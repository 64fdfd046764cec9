"""What a person can press under a message of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.letter import Button
from bot.slack.blocks.bricks import context, plain_text
from bot.slack.blocks.rendered import Block, Element
from bot.slack.blocks.safe import shown

LABELS: dict[Button, str] = {
    "stop": "Stop",
    "check_again": "Check again",
    "show_evidence": "Show evidence",
    "ask_why": "Ask why",
    "propose": "Propose the change",
    "approve": "Approve",
    "decline": "Decline",
    "know": "I know of it",
}
_STYLES: dict[Button, str] = {"stop": "danger", "approve": "primary"}
# https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
_DIALOG = 300
_OPTION, _OPTIONS = 75, 30  # letters of an option of a menu; Slack takes 100, and they cost room
RIGHT = "Was this right?"


def buttons(
    chosen: Sequence[Button],
    run: int | None,
    *,
    digest: str = "",
    asks: str = "",
    choices: Sequence[str] = (),
) -> Iterator[Block]:
    """Yield a row of buttons, and the question whether it was right, with two thumbs, below it.

    The action id is the button's name and its value the number of the run; the thumbs carry
    "yes:RUN" and "no:RUN", and what approves or declines carries "DIGEST:RUN" of what is shown.
    `asks` is what Slack asks before an approval counts; `choices` are the hosts of which somebody
    may say "I know of it": HOST:RUN, chosen from a list where they are several.
    """
    if run is None:
        return
    names = [name for name in dict.fromkeys(chosen) if name in LABELS and name != "know"]
    row = [_button(name, run, digest, asks) for name in names]
    row += _know(run, choices) if "know" in chosen else []
    if row:
        yield {"type": "actions", "elements": row}
    if "right" in chosen:
        yield context(RIGHT)
        yield {"type": "context_actions", "elements": [_thumbs(run)]}


def _button(name: Button, run: int, digest: str, asks: str) -> Element:
    decides = name in ("approve", "decline")
    made: Element = {
        "type": "button",
        "action_id": name,
        "text": plain_text(LABELS[name]),
        "value": f"{digest}:{run}" if decides else str(run),
    }
    made |= {"style": _STYLES[name]} if name in _STYLES else {}
    return made | ({"confirm": _dialog(asks)} if name == "approve" else {})


def _know(run: int, hosts: Sequence[str]) -> list[Element]:
    """https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element"""
    fit = [host for host in hosts if len(host) <= _OPTION][:_OPTIONS]
    if len(fit) == 1:
        return [{**_button("know", run, "", ""), "value": f"{fit[0]}:{run}"}]
    options = [{"text": plain_text(host), "value": f"{host}:{run}"} for host in fit]
    menu = {
        "type": "static_select",
        "action_id": "know",
        "placeholder": plain_text(f"{LABELS['know']} …"),
        "options": options,
    }
    return [menu] if fit else []


def _dialog(asks: str) -> Element:
    return {
        "title": plain_text("Restart this server?"),
        "text": plain_text(shown(asks, _DIALOG)),
        "confirm": plain_text("Approve"),
        "deny": plain_text("Not now"),
    }


def _thumbs(run: int) -> Element:
    """https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element"""
    return {
        "type": "feedback_buttons",
        "action_id": "right",
        "positive_button": {
            "text": plain_text("This was right"),
            "accessibility_label": f"{RIGHT} Yes",
            "value": f"yes:{run}",
        },
        "negative_button": {
            "text": plain_text("This was wrong"),
            "accessibility_label": f"{RIGHT} No, and I say what was wrong",
            "value": f"no:{run}",
        },
    }
