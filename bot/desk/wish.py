"""What a message wants: read with its thread, and silence where it is not meant for us; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from bot.desk import morning_words
from bot.desk.aside import beside
from bot.desk.small_talk import small_talk, stops
from bot.desk.thread import Thread
from bot.followup import Intent, intent
from bot.followup.rejudge import on_the_verdict
from bot.message import Message
from bot.proposal.wanted import Wanted
from bot.proposal.words import asks_to_put_back, asks_to_try, clearly_asks, read
from bot.question import Question
from bot.question.comparing import comparing
from bot.question.names import strangers
from bot.tuning.tuning import Tuning
from bot.tuning.tuning import read as tuning_of
from tools.errors import ToolsError

Act = Literal[
    "silent", "hello", "help", "hosts", "stop", "thanks",
    "look", "compare", "again", "which", "unknown", "files", "followup", "aside", "try", "tune", "refused",
    "know", "changed", "watch", "unwatch", "watches",
]  # fmt: skip

_A_NAME_WORDS = 4  # of an answer to "which host?"
_EDGES = " \t\n.!?,;:"


@dataclass(frozen=True)
class Wish:
    """What is wanted. `hosts` are to be looked at; `text` is the whole question, where it came in parts.

    Of what is to be tried `wanted` is the change; without one it is the remedy of the verdict, or,
    where it is to be put `back`, what was kept before. `tuning` is what a plan is to make better.
    """

    act: Act
    text: str = ""
    hosts: tuple[str, ...] = ()
    port: int | None = None
    intent: Intent | None = None
    strange: tuple[str, ...] = ()  # named beside the hosts, and none of those that we know
    wanted: Wanted | None = None
    back: bool = False
    tuning: Tuning | None = None
    why_not: str = ""  # of what is refused at once


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
        if found.act in ("look", "tune"):
            return found
    return (
        _of_morning(text, thread, hosts, addressed=True)
        or _tuned(text, thread, hosts)
        or _tried(text, thread, hosts)
        or _followup(text, thread, hosts)
        or _compare(text, hosts)
        or _look(text, thread, hosts)
    )


def _of_morning(
    text: str, thread: Thread, hosts: Collection[str], *, addressed: bool
) -> Wish | None:
    found = morning_words.read(text, thread, hosts, addressed=addressed)
    return Wish(found[0], text, found[1], Question.of(text, hosts).port) if found else None


def _tuned(text: str, thread: Thread, hosts: Collection[str]) -> Wish | None:
    """Return the host for which a plan is to be made; of one that is not clear none is."""
    try:
        tuning = tuning_of(text)
    except ToolsError as why:
        return Wish("refused", text, why_not=str(why))
    named = Question.of(text, hosts)
    where = named.hosts or ((thread.host,) if thread.host else tuple(hosts))
    if tuning is None or _unknown(text, hosts) or len(where) != 1:
        return None
    return Wish("tune", text, where, named.port or _port_of(thread, where[0]), tuning=tuning)


def _tried(text: str, thread: Thread, hosts: Collection[str]) -> Wish | None:
    """Return the change that is to be tried; of a host that is not clear nothing is tried."""
    if (asked := _it(text, thread, hosts)) is not None:
        return asked
    wanted = read(text)
    if wanted is None:
        return None
    named = Question.of(text, hosts)
    if _unknown(text, hosts):
        return None  # it is told that we do not know that host
    where = named.hosts or ((thread.host,) if thread.host else tuple(hosts))
    if len(where) != 1:
        return None
    return Wish("try", text, where, named.port or _port_of(thread, where[0]), wanted=wanted)


def _it(text: str, thread: Thread, hosts: Collection[str]) -> Wish | None:
    """Read "try it" and "put it back", which mean what the thread is about."""
    named = Question.of(text, hosts).hosts
    about = thread.about_one_of(named) if named else thread.about
    if asks_to_put_back(text):
        if thread.changing:
            return Wish("stop", text)
        where = named[:1] or ((thread.host,) if thread.host else ())
        return Wish("try", text, where, back=True)
    if not asks_to_try(text) or about is None:
        return None
    return Wish("try", text, (about.host,) if about.host else (), about.port)


def _port_of(thread: Thread, host: str) -> int | None:
    earlier = thread.asked_of(host)
    return earlier.port if earlier else None


def _overheard(message: Message, text: str, thread: Thread, hosts: Collection[str]) -> Wish:
    """In a thread of ours people also talk to each other: only what is clearly meant for us counts."""
    if message.others or not thread.known or message.files or message.pasted:
        return Wish("silent")
    if stops(text) and thread.open:
        return Wish("stop", text)
    tried = _tried if clearly_asks(text) else _it
    wanted = _of_morning(text, thread, hosts, addressed=False) or tried(text, thread, hosts)
    if wanted is not None:
        return wanted
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
    if len(named.hosts) == 1 and (tuning := tuning_of(asked)):
        return Wish("tune", whole, named.hosts, named.port, tuning=tuning)
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
