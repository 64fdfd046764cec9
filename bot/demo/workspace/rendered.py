"""What Slack would make of a message: whom it mentions, where it links, which images it fetches."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bot.demo.workspace.messages import Message

_ANGLE = re.compile(r"<([^<>\n]+)>")
_BARE = re.compile(
    r"(?:\b(?:https?|ftp)://|\bmailto:)[^\s<>|]+|\bwww\.[^\s<>|]+|\b[\w.+-]+@[\w-]+\.[\w.-]+", re.I
)
_DOMAIN = re.compile(
    r"(?<![\w@/.-])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|co|de|example|app)\b(?:/\S*)?",
    re.I,
)
_MARKDOWN = re.compile(r"!?\[[^\]\n]*\]\(\s*<?([^)\s>]+)")
_MARKDOWN_REFERENCE = re.compile(r"^\s{0,3}\[[^\]\n]+\]:\s*(\S+)", re.M)
_AT = re.compile(r"(?<![\w`])@(here|channel|everyone)\b")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


@dataclass
class Rendered:
    """Found in a message; `text` is all that can be read in it, for looking."""

    mentions: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    text: str = ""

    def say(self, text: str) -> None:
        """Add what can be read."""
        self.text += text + "\n"


def rendered(message: Message | dict[str, Any]) -> Rendered:
    """Of a message, or of a payload {text, blocks, chunks}.

    `text` counts in every case: it is what notifications show, and what is shown where there are no blocks.
    """
    found = Rendered()
    if isinstance(message, Message):
        chunks = message.stream.chunks if message.stream else []
        text, blocks = message.text, message.blocks
    else:
        text, blocks = message.get("text") or "", message.get("blocks") or []
        chunks = message.get("chunks") or []
    read_mrkdwn(found, text)
    for chunk in chunks:
        _chunk(found, chunk)
    for block in blocks:
        _block(found, block)
    return found


def read_mrkdwn(found: Rendered, text: str, verbatim: bool = False) -> None:  # noqa: FBT001, FBT002 Slack's own word
    """Slack's mrkdwn: `<…>` works even in code; bare addresses and @here do so unless `verbatim`."""
    found.say(text)
    for inside in _ANGLE.findall(text):
        target = inside.partition("|")[0]
        if target[:1] in "@#!":
            if not target.startswith("!date"):
                found.mentions.append(target)
        else:
            found.links.append(target)
    if not verbatim:
        _bare(found, _CODE.sub(" ", _ANGLE.sub(" ", text)))


def read_markdown(found: Rendered, text: str) -> None:
    """Markdown: links, images, references, bare addresses, and Slack's own `<!channel>` and `<@U…>`."""
    found.say(text)
    for inside in _ANGLE.findall(text):
        target = inside.partition("|")[0]
        if re.match(r"[@#!]\w", target):
            found.mentions.append(target)
        elif re.match(r"\w+:|\S+@\S+\.", target):
            found.links.append(target)
    plain = _CODE.sub(" ", text)
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", "\x00", plain)
    found.links += _MARKDOWN.findall(plain) + _MARKDOWN_REFERENCE.findall(plain)
    _bare(found, _MARKDOWN.sub(" ", _ANGLE.sub(" ", plain)))


def _bare(found: Rendered, text: str) -> None:
    found.links += _BARE.findall(text)
    found.links += [m[0] for m in _DOMAIN.finditer(_BARE.sub(" ", text))]
    found.mentions += [f"@{name}" for name in _AT.findall(text)]


def _chunk(found: Rendered, chunk: dict[str, Any]) -> None:
    if chunk.get("type") == "blocks":
        for block in chunk.get("blocks") or ():
            _block(found, block)
        return
    if chunk.get("type") == "markdown_text":
        read_markdown(found, chunk.get("text") or "")
    for key in ("details", "output", "title"):
        read_markdown(found, chunk.get(key) or "")
    found.links += [str(source.get("url")) for source in chunk.get("sources") or ()]


def _block(found: Rendered, block: dict[str, Any]) -> None:
    if block.get("type") == "markdown":
        read_markdown(found, block.get("text") or "")
    else:
        _walk(found, block)


def _walk(found: Rendered, value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _walk(found, item)
    elif isinstance(value, dict):
        reads = _READS.get(str(value.get("type")))
        if reads is not None and reads(found, value):
            return
        for inner in value.values():
            _walk(found, inner)


def _mrkdwn(found: Rendered, value: dict[str, Any]) -> bool:
    read_mrkdwn(found, str(value.get("text")), bool(value.get("verbatim")))
    return True


def _plain(found: Rendered, value: dict[str, Any]) -> bool:
    if isinstance(value.get("text"), str):
        found.say(value["text"])
    return True


def _link(found: Rendered, value: dict[str, Any]) -> bool:
    found.links.append(str(value.get("url")))
    return _plain(found, value)


def _mention(found: Rendered, value: dict[str, Any]) -> bool:
    found.mentions.append(
        str(
            value.get("user_id")
            or value.get("usergroup_id")
            or value.get("channel_id")
            or value.get("range")
        )
    )
    return True


def _image(found: Rendered, value: dict[str, Any]) -> bool:
    if value.get("image_url"):
        found.images.append(str(value["image_url"]))
    found.say(str(value.get("alt_text") or ""))
    return False


def _button(found: Rendered, value: dict[str, Any]) -> bool:
    if value.get("url"):
        found.links.append(str(value["url"]))
    return False


_READS = {
    "mrkdwn": _mrkdwn,
    "plain_text": _plain,
    "raw_text": _plain,
    "text": _plain,
    "link": _link,
    "user": _mention,
    "usergroup": _mention,
    "channel": _mention,
    "broadcast": _mention,
    "image": _image,
    "button": _button,
    "url": _link,
}
