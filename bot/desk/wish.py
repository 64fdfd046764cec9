"""What a message wants: read with its thread, and silence where it is not meant for us; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from bot.desk.message import Message
from bot.desk.thread import Thread
from bot.followup import Intent, intent
from bot.question import Question

Act = Literal[
    "silent", "hello", "help", "hosts", "stop", "thanks",
    "look", "again", "which", "unknown", "files", "followup",
]  # fmt: skip

_STOP = re.compile(
    r"(?:please\s+)?(?:stop|cancel|abort|halt)(?:\s+(?:it|this|that|now|everything|looking|please)){0,2}"
)
_HELP = re.compile(
    r"help|help me|what can you do|what do you do|how do (?:you|i use you) work|usage"
)
_HOSTS = re.compile(r"hosts|list hosts|(?:which|what) hosts(?: do you know| can i ask about)?")
_HELLO = re.compile(
    r"|hi|hello|hey|hey there|hi there|good (?:morning|afternoon|evening)|ping|test"
)
_THANKS = re.compile(r"(?:many )?thanks?(?: you)?(?: a lot| so much)?|thx|ty|great,? thanks?")
_EDGES = " \t\n.!?,;:"


@dataclass(frozen=True)
class Wish:
    """What is wanted. `hosts` are to be looked at; `text` is the whole question, where it came in parts."""

    act: Act
    text: str = ""
    hosts: tuple[str, ...] = ()
    port: int | None = None
    intent: Intent | None = None


def wish(message: Message, thread: Thread, hosts: Collection[str]) -> Wish:
    """Read a message; `hosts` are those that are known by name."""
    text = message.text.strip()
    if not message.addressed:
        return _overheard(message, text, thread, hosts)
    if message.files or message.pasted:
        return Wish("files", text)
    word = _word(text)
    if word and not (word == "help" and thread.about):
        return Wish(word, text)
    if thread.unnamed and (found := _named_late(text, thread.unnamed.text, hosts)):
        return found
    return _followup(text, thread, hosts) or _look(text, thread, hosts)


def _word(text: str) -> Act | None:
    bare = " ".join(text.lower().strip(_EDGES).split())
    words: tuple[tuple[Act, re.Pattern[str]], ...] = (
        ("hello", _HELLO),
        ("stop", _STOP),
        ("help", _HELP),
        ("hosts", _HOSTS),
        ("thanks", _THANKS),
    )
    return next((act for act, form in words if form.fullmatch(bare)), None)


def _overheard(message: Message, text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    """In a thread of ours people also talk to each other: only what is clearly meant for us counts."""
    if message.others or not thread.known or message.files or message.pasted:
        return Wish("silent")
    if _word(text) == "stop" and thread.open:
        return Wish("stop", text)
    asked = thread.unnamed
    if asked and asked.user == message.user and text.lower() in {name.lower() for name in hosts}:
        return _named_late(text, asked.text, hosts) or Wish("silent")
    meant = intent(text, hosts) if thread.looking or thread.about else None
    if meant is None or meant.kind in ("thanks", "help"):
        return Wish("silent")
    return _meant(meant, text, thread)


def _named_late(text: str, asked: str, hosts: Collection[str]) -> Wish | None:
    """Join the question that named no host with the answer that names it."""
    named = Question.of(text, hosts)
    if not named.hosts:
        return None
    bare = text.lower().strip(_EDGES) in {name.lower() for name in hosts}
    whole = asked if bare else f"{asked}\n{text}"
    return Wish("look", whole, named.hosts, named.port or Question.of(asked, hosts).port)


def _followup(text: str, thread: Thread, hosts: Collection[str]) -> Wish | None:
    """Return the follow-up that an addressed message is, in a thread that has a verdict or will."""
    if not (thread.looking or thread.about):
        return None
    meant = intent(text, hosts, addressed=True)
    if meant is None or meant.kind == "rejudge":
        named = Question.of(text, hosts).hosts or _unknown(text, hosts)
        if any(name.lower() != (thread.host or "").lower() for name in named):
            return None  # another host: another question
    return _meant(meant or Intent.rejudging(text), text, thread)


def _meant(meant: Intent, text: str, thread: Thread) -> Wish:
    if meant.kind == "thanks" or (meant.kind == "help" and not thread.about):
        return Wish(meant.kind, text)
    if meant.kind == "again" and thread.host:
        return Wish("again", text, (thread.host,), intent=meant)
    return Wish("followup", text, intent=meant)


def _look(text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    named = Question.of(text, hosts)
    found = Wish("look", text, named.hosts, named.port)
    if named.hosts:
        return found if hosts else replace(found, act="unknown")
    if strange := _unknown(text, hosts):
        return Wish("unknown", text, strange)
    if thread.host:
        return replace(found, hosts=(thread.host,))
    if len(hosts) == 1:
        return replace(found, hosts=tuple(hosts))
    return Wish("which", text)


def _unknown(text: str, hosts: Collection[str]) -> tuple[str, ...]:
    """Return what is named like a host and is none that we know."""
    known = {name.lower() for name in hosts}
    return tuple(name for name in Question.of(text).hosts if name.lower() not in known)
