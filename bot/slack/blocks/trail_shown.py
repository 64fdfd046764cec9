"""A trail as a message that is edited while the looks come in: a line for each look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.slack.blocks.bricks import context, rich, section
from bot.slack.blocks.buttons import buttons
from bot.slack.blocks.fallback import whole
from bot.slack.blocks.rendered import Block, Element, Rendered
from bot.slack.blocks.safe import capped, mrkdwn, shown
from bot.slack.blocks.spans import plain, spans
from bot.slack.blocks.trail import Item, Status, TrailState

AT_LENGTH = 12  # finished looks that are told in a line of their own; earlier ones only by name
_TITLE, _SAID, _MEANING = 100, 220, 400
_BY_NAME = 60  # finished looks told by name, the rest counted
_WAITING = 20
_SIGNS: Mapping[Status, str] = {
    "pending": "·",
    "in_progress": "◦",
    "complete": "✓",
    "error": "–",
}


def trail_blocks(state: TrailState, mark: str) -> Rendered:
    """Return the trail as it is now; `mark` becomes the id of its first block.

    It has at most six blocks, whatever the number of looks.
    """
    blocks = [rich([section(spans(state.title, {}, most=_MEANING, bold=True) or [plain("–")])])]
    if state.items:
        blocks.append(rich([section(list(_lines(state.items)))]))
    if means := [text for text in (shown(one, _MEANING) for one in state.meaning) if text][-6:]:
        blocks.append(rich([section([plain(text)]) for text in means]))
    if small := " · ".join(filter(None, (state.progress, state.note))):
        blocks.append(context(small))
    if state.stop is not None and not state.ended:
        blocks += buttons(("stop",), state.stop)
    blocks[0] = {**blocks[0], "block_id": mark[:255]}
    return Rendered(_text(state), blocks)


def opening(state: TrailState, mark: str) -> list[Block]:
    """Return what stands above the looks, where those are shown by the platform itself."""
    return trail_blocks(TrailState(state.title, stop=state.stop, ended=state.ended), mark).blocks


def _text(state: TrailState) -> str:
    told = [state.title, state.progress, *state.meaning[-6:], state.note]
    return whole(mrkdwn(capped(one, _MEANING)) for one in told if one)


def _lines(items: Sequence[Item]) -> Iterator[Element]:
    """Tell the older looks by name, the newest ones in a line each, then what is still out."""
    done = [one for one in items if one.over]
    early, late = done[:-AT_LENGTH], done[-AT_LENGTH:]
    waiting = [one for one in items if not one.over]
    rows = [*([list(_by_name(early))] if early else []), *(list(_row(one)) for one in late)]
    rows += [list(_row(one)) for one in waiting[:_WAITING]]
    if more := len(waiting) - _WAITING:
        rows += [[plain(f"and {more} more")]] if more > 0 else []
    for number, row in enumerate(rows):
        yield from [plain("\n"), *row] if number else row


def _row(one: Item) -> Iterator[Element]:
    yield plain(f"{_SIGNS[one.status]} ")
    yield plain(shown(one.title, _TITLE) or "–", bold=one.over)
    if one.took_s:
        yield plain(f" · {one.took_s:.1f} s")
    if cite := shown(one.cite, 20):
        yield plain(f"  {cite}")
    if said := shown(one.said, _SAID):
        yield plain(f" — {said}")


def _by_name(early: Sequence[Item]) -> Iterator[Element]:
    told = " · ".join(
        f"{shown(one.title, _TITLE)} {shown(one.cite, 20)}".strip() for one in early[:_BY_NAME]
    )
    more = f" · and {len(early) - _BY_NAME} more" if len(early) > _BY_NAME else ""
    yield plain(f"✓ {capped(told, 2500)}{more}")
