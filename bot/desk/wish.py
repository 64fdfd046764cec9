"""What a message wants: read with its thread, and silence where it is not meant for us; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from bot.desk.aside import beside
from bot.desk.small_talk import small_talk, stops
from bot.desk.thread import Thread
from bot.followup import Intent, intent
from bot.followup.rejudge import on_the_verdict
from bot.message import Message
from bot.question import Question
from bot.question.comparing import comparing
from bot.question.names import strangers

Act = Literal[
    "silent", "hello", "help", "hosts", "stop", "thanks",
    "look", "compare", "again", "which", "unknown", "files", "followup", "aside",
]  # fmt: skip

_A_NAME_WORDS = 4  # of an answer to "which host?"
_EDGES = " \t\n.!?,;:"


@dataclass(frozen=True)
class Wish:
    """What is wanted. `hosts` are to be looked at; `text` is the whole question, where it came in parts."""

    act: Act
    text: str = ""
    hosts: tuple[str, ...] = ()
    port: int | None = None
    intent: Intent | None = None
    strange: tuple[str, ...] = ()  # named beside the hosts, and none of those that we know


def wish(message: Message, thread: Thread, hosts: Collection[str]) -> Wish:
    """Read a message; `hosts` are those that are known by name."""
    text = message.text.strip()
    if not message.addressed:
        return _overheard(message, text, thread, hosts)
    if message.files or message.pasted:
        return Wish("files", text)
    word = small_talk(text)
    if word and not (word == "help" and thread.about):
        return Wish(word, text)
    if thread.unnamed:
        found = _told_late(text, thread.unnamed.text, hosts)
        if found.act == "look":
            return found
    return _followup(text, thread, hosts) or _compare(text, hosts) or _look(text, thread, hosts)


def _overheard(message: Message, text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    """In a thread of ours people also talk to each other: only what is clearly meant for us counts."""
    if message.others or not thread.known or message.files or message.pasted:
        return Wish("silent")
    if stops(text) and thread.open:
        return Wish("stop", text)
    asked = thread.unnamed
    if asked and asked.user == message.user and len(text.split()) <= _A_NAME_WORDS:
        return _told_late(text, asked.text, hosts)
    meant = intent(text, hosts) if thread.looking or thread.about else None
    if meant is None or meant.kind in ("thanks", "help") or _elsewhere(text, meant, thread, hosts):
        return Wish("silent")
    return _meant(meant, text, thread, hosts)


def _told_late(text: str, asked: str, hosts: Collection[str]) -> Wish:
    """Read the answer to "which host?" as people give it: "CT-129", "ct 129 please"."""
    if found := _named_late(text, asked, hosts):
        return found
    squeezed = re.sub(r"[^a-z0-9]", "", text.lower().removesuffix("please"))
    for host in hosts:
        if re.sub(r"[^a-z0-9]", "", host.lower()) == squeezed:
            return _named_late(host, asked, hosts) or Wish("silent")
    strange = _unknown(text, hosts)
    return Wish("unknown", text, strange) if strange else Wish("silent")


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
    if meant and _elsewhere(text, meant, thread, hosts):
        return None
    if meant is None or meant.kind == "rejudge":
        named = Question.of(text, hosts).hosts or _unknown(text, hosts)
        if any(name.lower() != (thread.host or "").lower() for name in named):
            return None  # another host: another question
    if meant is None and not on_the_verdict(text) and (other := beside(text, hosts)):
        return Wish(other, text)
    return _meant(meant or Intent.rejudging(text), text, thread, hosts)


def _elsewhere(text: str, meant: Intent, thread: Thread, hosts: Collection[str]) -> bool:
    """Say whether a follow-up names a host that this thread knows nothing of."""
    if meant.kind in ("compare", "rejudge"):
        return False
    seen = {run.host.lower() for run in thread.runs if run.host}
    return any(name.lower() not in seen for name in Question.of(text, hosts).hosts)


def _meant(meant: Intent, text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    if (
        meant.between
        and thread.about_one_of(meant.between) is None
        and (both := _compare(text, hosts))
    ):
        return both
    if meant.kind == "thanks" or (meant.kind == "help" and not thread.about):
        return Wish(meant.kind, text)
    if meant.kind == "again" and thread.host:
        named = Question.of(text, hosts).hosts[:1]
        return Wish("again", text, named or (thread.host,), intent=meant)
    return Wish("followup", text, intent=meant)


def _compare(text: str, hosts: Collection[str]) -> Wish | None:
    pair = comparing(text, hosts) if hosts else None
    return Wish("compare", text, pair, Question.of(text, hosts).port) if pair else None


def _look(text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    named = Question.of(text, hosts)
    found = Wish("look", text, named.hosts, named.port)
    if named.hosts and not (hosts and beside(text, hosts)):
        strange = strangers(text, hosts)
        return replace(found, strange=strange) if hosts else replace(found, act="unknown")
    if strange := _unknown(text, hosts):
        return Wish("unknown", text, strange)
    if other := beside(text, hosts):
        return Wish(other, text)
    if thread.host:
        return replace(found, hosts=(thread.host,))
    if len(hosts) == 1:
        return replace(found, hosts=tuple(hosts))
    return Wish("which", text)


def _unknown(text: str, hosts: Collection[str]) -> tuple[str, ...]:
    """Return what is named like a host and is none that we know."""
    known = {name.lower() for name in hosts}
    named = (name for name in Question.of(text).hosts if name.lower() not in known)
    return tuple(dict.fromkeys((*named, *strangers(text, hosts))))
