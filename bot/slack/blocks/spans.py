"""The inline pieces of rich text: plain, bold, code, and the links that we make ourselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bot.slack.blocks.rendered import Element
from bot.slack.blocks.safe import shown

LONG = 600  # characters of one line of a story; a tired reader reads no more of it

_CITES = 120  # characters of ids in a row

_CODE = re.compile(r"`([^`]{1,200})`")
_CITED = re.compile(r"(?<=\()E\d{1,4}(?: E\d{1,4})*(?=\))")  # as the narrator writes it: (E3 E11)
_ID = re.compile(r"E\d{1,4}")


def plain(text: str, *, bold: bool = False, italic: bool = False, code: bool = False) -> Element:
    """Return a text element, which Slack shows as it is: no mention, no link, no formatting.

    https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
    """
    styles = {"bold": bold, "italic": italic, "code": code}
    style = {name: True for name, on in styles.items() if on}
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def cited(ids: Iterable[str], links: Mapping[str, str]) -> Iterator[Element]:
    """Yield evidence ids, linked to the looks that show them where there is an address.

    Neighbours with one address are one link: each address takes room in the message.
    """
    shared = groupby(ids, key=lambda name: links.get(name, ""))
    for number, (url, group) in enumerate(shared):
        text = shown(" ".join(group), _CITES)
        if not text:
            continue
        if number:
            yield plain(" ")
        if url.startswith(("https://", "http://127.0.0.1")):
            yield {"type": "link", "url": url, "text": text}
        else:
            yield plain(text)


def spans(
    text: str,
    links: Mapping[str, str],
    *,
    most: int = LONG,
    bold: bool = False,
    italic: bool = False,
) -> list[Element]:
    """Return a line of text as elements: what stands in back-ticks as code, "(E3 E11)" as links."""
    made: list[Element] = []
    text, at = shown(text, most), 0
    for found in _CODE.finditer(text):
        made += _linked(text[at : found.start()], links, bold=bold, italic=italic)
        made.append(plain(found[1], code=True))
        at = found.end()
    return made + _linked(text[at:], links, bold=bold, italic=italic)


def _linked(text: str, links: Mapping[str, str], *, bold: bool, italic: bool) -> list[Element]:
    made: list[Element] = []
    at = 0
    for found in _CITED.finditer(text):
        made.append(plain(text[at : found.start()], bold=bold, italic=italic))
        made += cited(_ID.findall(found[0]), links)
        at = found.end()
    if rest := text[at:]:
        made.append(plain(rest, bold=bold, italic=italic))
    return made
