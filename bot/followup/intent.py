"""What a message in a thread asks of an investigation that is over; None where it may be people talking."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from bot.followup.change import Change
from bot.followup.chinese import said_in_english
from bot.followup.forms import FORMS
from bot.followup.sentence import asking, thanks
from bot.followup.suspect import flag, suspects, topical
from bot.question.comparing import comparing
from bot.question.names import hosts as hosts_in

Kind = Literal[
    "why_not", "gpu", "what_if", "again", "compare", "log_lines", "evidence", "who_set", "flags", "grep", "why", "todo",
    "unchecked", "sure", "rejudge", "thanks", "help",
]  # fmt: skip


@dataclass(frozen=True)
class Intent:
    """What is asked. `suspects` are layers and cause ids, `gpu` an index, `looks` evidence ids in order.

    `text` is the flag of "who_set", what "flags" are about or the one that is meant ("--x"), the
    needle of "grep", the words of "why_not" and "evidence", the change of "what_if", and the whole
    question of "rejudge". `host` is the other one of "compare"; without it the earlier run of the
    same host is meant; `between` are both, where two are named.
    `plain` asks "why" in simple words.
    """

    kind: Kind
    suspects: frozenset[str] = frozenset()
    gpu: int | None = None
    host: str | None = None
    looks: tuple[str, ...] = ()
    text: str = ""
    plain: bool = False
    between: tuple[str, str] | None = None

    @classmethod
    def rejudging(cls, text: str) -> Intent:
        """Return the intent to judge the looks again for a text that is no other follow-up."""
        return cls("rejudge", suspects(text), text=text)


def intent(text: str, hosts: Collection[str] = (), *, addressed: bool = False) -> Intent | None:
    """Return what a message asks, or None where it is not clearly a follow-up.

    `hosts` are those that are known. A message that is `addressed` to us for certain may name what
    no rule knows ("why not the moon?"); one that only stands in the thread must be about the case.
    """
    if addressed and (pair := comparing(text, hosts)):
        return Intent("compare", host=pair[1], between=pair)
    text = said_in_english(text)
    if thanks(text):
        return Intent("thanks")
    bare = asking(text)
    if bare is None:
        return None
    placeless = _without(bare, hosts)
    last = _CLAUSES.split(placeless)[-1] if addressed else bare
    for words in dict.fromkeys((bare, placeless, last)):
        for name, form in FORMS:
            found = form.fullmatch(words)
            if found and (meant := _READERS[name](found, hosts)):
                return meant
    return _loose(placeless) if addressed else None


def _without(bare: str, hosts: Collection[str]) -> str:
    """Take away where something is asked of: "why not NCCL on CT129"."""
    if not hosts:
        return bare
    names = "|".join(re.escape(host) for host in hosts)
    return (
        re.sub(rf" (?:on|about|for|at|of|in) (?:{names})$", "", bare, flags=re.IGNORECASE) or bare
    )


def _why_not(found: re.Match[str], _: Collection[str]) -> Intent | None:
    what = _bare(found["what"])
    if name := flag(what):
        return Intent("why_not", suspects(what), text=name)
    about = topical(what)
    return Intent("why_not", about, text=what) if about else None


def _what_about(found: re.Match[str], hosts: Collection[str]) -> Intent | None:
    what = found["what"]
    return Intent.rejudging(what) if _ASPECT.fullmatch(what) else _why_not(found, hosts)


def _what_if(found: re.Match[str], _: Collection[str]) -> Intent | None:
    what = found["what"]
    if len(what.split()) > _WORDS_OF_A_CHANGE or _PLANS.search(what):
        return None  # people who plan; who wants us to work it out says so in few words
    bare = _VERBS.sub("", what)
    meant = Change.of(what) or flag(bare) or topical(bare)
    return Intent("what_if", suspects(what), text=what) if meant else None


def _compare(found: re.Match[str], hosts: Collection[str]) -> Intent | None:
    what = (found.groupdict().get("what") or "").strip()
    if not what or _EARLIER.fullmatch(what):
        return Intent("compare")
    named = hosts_in(what, hosts)[0] if hosts else ()
    named = named or hosts_in(what, ())[0]
    if len(named) != 1 or len(what.split()) > _WORDS_OF_A_HOST:
        return None
    return Intent("compare", host=named[0])


def _gpu(found: re.Match[str], _: Collection[str]) -> Intent:
    return Intent("gpu", gpu=int(found["gpu"]))


def _looks(found: re.Match[str], _: Collection[str]) -> Intent:
    named = dict.fromkeys(f"E{int(one)}" for one in _LOOK.findall(found[0]))
    return Intent("evidence", looks=tuple(named))


def _shown(found: re.Match[str], _: Collection[str]) -> Intent | None:
    what = _bare(found["what"]).lower()
    if _ALL.fullmatch(what):
        return Intent("evidence")
    return Intent("evidence", text=what) if _OF_A_LOOK.fullmatch(what) else None


def _grep(found: re.Match[str], _: Collection[str]) -> Intent | None:
    what = _bare(found["what"])
    return Intent("grep", text=what) if len(what) > 1 else None


def _who_set(found: re.Match[str], _: Collection[str]) -> Intent | None:
    what = _bare(found["what"])
    name = flag(what) or (what if topical(what) else "")
    return Intent("who_set", suspects(what), text=name) if name else None


def _flags(found: re.Match[str], _: Collection[str]) -> Intent:
    told = found.groupdict()
    return Intent("flags", text=told.get("flag") or _bare(told.get("what") or ""))


def _just(kind: Kind, *, plain: bool = False) -> Reader:
    return lambda _found, _hosts: Intent(kind, plain=plain)


def _loose(bare: str) -> Intent | None:
    """Read what is addressed to us though it names nothing that we know, or is a wish that talk is full of."""
    if _DONE.fullmatch(bare):
        return Intent("again")
    if _DO.fullmatch(bare):
        return Intent("todo", text=bare)
    found = _NAMES_SOMETHING.fullmatch(bare)
    if found is None:
        denied = _NOT.fullmatch(bare)
        about = topical(denied["what"]) if denied else None
        return Intent("why_not", about, text=denied["what"]) if denied and about else None
    kind: Kind = "what_if" if found["if"] else "why_not"
    return Intent(kind, suspects(found["what"]), text=_bare(found["what"]))


def _bare(text: str) -> str:
    return text.strip().strip("'\"`“”‘’").strip()


Reader = Callable[[re.Match[str], Collection[str]], Intent | None]

_WORDS_OF_A_HOST = 3
_WORDS_OF_A_CHANGE = 9
_PLANS = re.compile(
    r"\b(?:ask|asked|buy|bought|order(?:ed)?|bring|call(?:ed)?|wait|customers?|vendor|boss|tonight|today|tomorrow|yesterday"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month)|budget|euros?|production|breaks?)\b",
    re.IGNORECASE,
)
_LOOK = re.compile(r"\be(\d{1,3})\b", re.IGNORECASE)
_VERBS = re.compile(
    r"^(?:(?:we|i|you|it|they|somebody|someone) )?(?:(?:had|have|used|use|set|enabled?|disabled?|switch(?:ed)?"
    r"|turn(?:ed)?|did|without|with|no|kept|keep|was|were"
    r"|drop(?:ped)?|remove[d]?|lower(?:ed)?|raise[d]?|passed) ?)*(?:off|on)? ?",
    re.IGNORECASE,
)
_ASPECT = re.compile(
    r"(?:the )?(?:prefill|decode|decoding|ttft|latency|time to first token|throughput|tail|tail latency|p9[059]"
    r"|long (?:prompts?|context)|start-?up)(?: (?:speed|rate|side))?",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"(?:(?:the|my|our) )?(?:last|previous|earlier|first|old) (?:run|time|look|check|one|case)|yesterday|before",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"(?:(?:the|all|your|me|some) )*(?:raw )?(?:evidence|looks|raw (?:output|answers?|data)|proof)"
)
_OF_A_LOOK = re.compile(
    r"(?:(?:the|raw|full|whole) )*(?:output of )?(?:nvidia-smi|gpus?|lspci|pcie|links?|dmesg|kernel log|topo(?:logy)?"
    r"|nvlinks?|metrics|environment|env|launch|command line|server args|server_info|arguments|config(?:\.json)?|source"
    r"|processes|top|machine|lscpu|samples)(?: (?:output|look|lines|samples|variables))?"
)
_NOT = re.compile(r"not (?:because of )?(?P<what>.{2,60})", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;]\s+(?:(?:so|and|but|please|now)\s+)*")
_NAMES_SOMETHING = re.compile(
    r"(?:why not|(?:what|how) about|is it|could it be|(?P<if>what if)) (?P<what>.{2,120})",
    re.IGNORECASE,
)
_IT = r"(?:it|this|that|them|(?:the|that|our) [\w ]{2,30})"
_DONE = re.compile(
    r"(?:i|we|somebody|they)(?:(?:'ve| have| has| had| just| now))*"
    r" (?:re-?(?:booted|started|seated|placed|paired|moved)"
    rf"|fixed|swapped|changed|upgraded|updated|power[- ]?cycled) {_IT}(?:[ ,;].{{0,60}})?"
    r"|(?:it(?:'s| is)|still) (?:still )?(?:the same|slow|bad|not (?:fixed|better|faster))",
    re.IGNORECASE,
)
_DO = re.compile(
    r"(?:fix|repair|solve|apply|undo|restart|reboot|kill|upgrade|change|set|enable|disable)"
    rf" (?:{_IT}|sglang|\S{{4,60}})(?: (?:for (?:me|us)|now|on \S+|to \S+|[\d.]+))*",
    re.IGNORECASE,
)
_READERS: dict[str, Reader] = {
    "gpu": _gpu,
    "looks": _looks,
    "lines": _just("log_lines"),
    "grep": _grep,
    "shown": _shown,
    "what_if": _what_if,
    "again": _just("again"),
    "compare": _compare,
    "who_set": _who_set,
    "flags": _flags,
    "why": _just("why"),
    "plain": _just("why", plain=True),
    "sure": _just("sure"),
    "todo": _just("todo"),
    "unchecked": _just("unchecked"),
    "help": _just("help"),
    "why_not": _why_not,
    "what_about": _what_about,
}
