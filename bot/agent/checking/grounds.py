"""Whether a sentence of a model stands on what was seen or computed: pure, and strict where it is in doubt."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from bot.agent.checking.bearing import borne
from bot.agent.checking.claims import Stand, causal, clears, excludes, firm, hedged
from bot.agent.checking.denials import VERBATIM, flipped, revived, switched
from bot.agent.checking.figures import Figure, figures, unfigured
from bot.agent.checking.ground import Ground, Kind, Seen
from bot.agent.checking.match import in_line, same
from bot.agent.checking.mentions import flags, names, quoted, unquoted
from bot.agent.checking.numerals import plain
from bot.agent.checking.parroted import joined, parroted
from bot.agent.checking.sentences import LONGEST, Sentence, strange
from bot.agent.checking.standing import grounds
from bot.agent.checking.stems import stem, stems
from bot.investigate import Judged

_OURS = (
    "cause",
    "true",
    "benign",
    "excluded",
    "todo",
    "words",
)  # lines that hold least of a host's words
_CITES = 10  # looks that one sentence may stand on
_COVERED = 0.6  # share of a sentence's words that must stand in what it stands on
_NEAR = 0.5  # share of the words that a line must hold, to lend its word that turns a sentence
_LONG = 4  # words that a sentence has at least, to be ours because they stand in one line of ours
_TOGETHER = 3  # lines of ours that one sentence may sum up
# Words that turn a sentence: what it stands on must hold each of them.
_HARD = frozenset(map(stem, (
    "all every always never entirely completely none fine healthy normal irrelevant harmless optimal perfect"
    " excellent broken faulty defective dead overheat throttle crash corrupt bug leak saturate starve exhaust"
    " faster higher better improve increase upgrade downgrade replace restart reboot reinstall kill delete"
    " onstate offstate upstate downstate enough sufficient suffices somebody someone colleague people possible impossible"
    " old outdated recover overload free idle rose fell grew dropped became dominates majority reject firmware virus malware attack secret password approve approved certain definitely guarantee"
    " thermal stolen mining hacked fan dust"
).split()))  # fmt: skip
_FAILED = re.compile(
    r"\b(?:fail\w*|refus\w*|not|lost|missing|absent|denied|no answer|unread\w*)\b", re.I
)
_STEP = re.compile(r"^\W*(?:verify|risk|to (?:check|verify|see it))\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"^[^\w-]*(?:please |then |also |now |next,? |first,? |so |just |try (?:to )?)*(?:set|add|remove|disable|enable|pass|use|restart|upgrade"
    r"|downgrade|replace|reseat|swap|reboot|kill|delete|switch|turn|raise|lower|increase|decrease|install|run|change|drop|update"
    r"|roll|start|stop|power (?:the|it|off|on)|move|send|put|keep|ask|buy|unplug|reset|retrain|rebuild|format|reduce|try)\b"
    r"|\b(?:should|must|recommend\w*|need(?:s)? to|advis\w+|suggest\w*|consider|have to|ought)\b",
    re.IGNORECASE,
)


class Grounds:
    """All that an investigation gives a sentence to stand on.

    `more` are texts that we computed besides, for this answer.
    """

    def __init__(self, end: Judged, more: Iterable[str] = ()) -> None:
        self._told = grounds(end, more)
        self._own = [joined(one.text) for one in self._told if one.kind in _OURS]
        self._seen = {look.id: Seen(look) for look in end.evidence}
        self._stand = Stand(end.verdict, self._told)
        self._every = " \n ".join(one.text.lower() for one in self._told)

    def checked(self, sentence: Sentence) -> str | None:
        """Return why a sentence may not be told; None where it may."""
        text = sentence.text
        if not sentence.whole or len(text) > LONGEST:
            return "it has no end" if len(text) <= LONGEST else "it is too long to be checked"
        if missing := [one for one in sentence.cites if one not in self._seen]:
            return f"it cites {missing[0]}, which no look has"
        if "?" in unquoted(text):
            return "it asks"
        if len(sentence.cites) > _CITES:
            return "it cites too much to be checked"
        return (
            strange(text)
            or self._repeats(unquoted(text))
            or self._unseen(sentence)
            or self._unsupported(sentence)
        )

    def _repeats(self, text: str) -> str | None:
        """Say whether a sentence takes a host's words for its own: it may quote them."""
        words = parroted(text, (one.joined for one in self._seen.values()), self._own)
        return f"“{words[:60]}” are a host's words, and not quoted" if words else None

    def invented(self, text: str, cites: Sequence[str] = ()) -> str | None:
        """Return what of an idea stands nowhere: figures, names, flags, quotations."""
        looks = tuple(cites) or tuple(self._seen)
        foreign = strange(text) or self._repeats(unquoted(text))
        return foreign or self._unseen(Sentence(text, looks), idea=True)

    def _unseen(self, sentence: Sentence, *, idea: bool = False) -> str | None:
        cites = frozenset(sentence.cites)
        for words in quoted(sentence.text):
            if not self._stands(words, cites):
                return f"the quotation “{words[:60]}” stands in no look that it cites"
        rest = unquoted(sentence.text)
        for one in (*flags(rest), *names(unfigured(rest))):
            if not self._named(one, cites):
                return f"{one[:60]} stands in no look that it cites"
        kinds = _bearing(sentence.text, cites)
        for figure in figures(rest):
            if figure.unit != "#e" and not self._figure(figure, cites, kinds, idea=idea):
                return f"the figure {figure.text} is not what was seen or computed"
        return None

    def _stands(self, words: str, cites: frozenset[str]) -> bool:
        low = " ".join(words.lower().split()).strip(" …")
        if not low:
            return False
        return any(low in self._seen[one].text for one in cites) or any(
            low in " ".join(one.text.lower().split()) for one in self._open_to(cites)
        )

    def _named(self, name: str, cites: frozenset[str]) -> bool:
        low = name.lower()
        if any(_holds(self._seen[one].text, low) for one in cites):
            return True
        if low.lstrip("-") not in self._every:
            return False
        return any(_holds(one.text.lower(), low) for one in self._open_to(cites))

    def _open_to(self, cites: frozenset[str]) -> Iterator[Ground]:
        """Yield our lines that a sentence with these ids may stand on."""
        return (one for one in self._told if not one.looks or one.looks & cites)

    def _figure(
        self, figure: Figure, cites: frozenset[str], kinds: Collection[Kind], *, idea: bool
    ) -> bool:
        for ground in self._open_to(cites):
            if ground.kind in kinds and any(same(figure, one, ground) for one in ground.figures):
                return True
        return not idea and any(self._in_raw(figure, one) for one in cites)

    def _in_raw(self, figure: Figure, look: str) -> bool:
        """Say whether a raw line of a look holds the figure together with what it counts."""
        lines = self._seen[look].lines_with(figure)
        return any(in_line(figure, line, Ground(line, "look")) for line in lines)

    def _unsupported(self, sentence: Sentence) -> str | None:
        text = unquoted(sentence.text)
        words = stems(plain(text))
        cites = frozenset(sentence.cites)
        fit = [one for one in self._open_to(cites) if _fits(one, text)]
        chosen = _covering(words, fit)
        sayers = [one for one in fit if one.kind != "open" or not firm(text)]
        near = (one for one in sayers if len(words & one.stems) >= max(2, _NEAR * len(words)))
        if hard := (words & _HARD) - frozenset[str]().union(*(one.stems for one in near)):
            return f"nothing that it stands on says “{min(hard)}”"
        best = len(words & chosen[0].stems) / len(words) if chosen and words else 0.0
        verbatim = best >= VERBATIM and len(words) >= _LONG and not self._repeats(chosen[0].text)
        if why := self._stand.against(text, fit, verbatim=verbatim) or self._turned(sentence, fit):
            return why
        if not words or (not cites and not self._claims(text, words)):
            return None
        return self._loose(text, words, cites, chosen, fit)

    def _loose(
        self,
        text: str,
        words: frozenset[str],
        cites: frozenset[str],
        chosen: Sequence[Ground],
        fit: Sequence[Ground],
    ) -> str | None:
        """Say whether too little holds a sentence: no look, no step of ours, too few of its words."""
        if not cites and any(one.kind not in ("words", "todo") for one in chosen[:1]):
            return "it cites no look"
        if _ADVICE.search(text) and not _advised(words, fit):
            return "it advises what the verdict does not"
        raw = () if causal(text) else (self._seen[one].stems for one in cites)
        pool = frozenset[str]().union(*(one.stems for one in chosen), *raw)
        few = len(words & pool) < _COVERED * len(words)
        return "what it says stands in no look that it cites" if few else None

    def _turned(self, sentence: Sentence, fit: Sequence[Ground]) -> str | None:
        """Say whether it denies what we say, says what we deny, or tells of a look that failed."""
        text = unquoted(sentence.text)
        failed = sentence.cites and all(self._seen[one].failed for one in sentence.cites)
        if failed and not hedged(text) and not _FAILED.search(text):
            return "it tells of a look that failed"
        sure, advice = firm(text), _ADVICE.search(text) or _STEP.search(text)
        fit = [one for one in fit if one.kind != "open"]
        gone = [one for one in self._told if one.kind in ("excluded", "open")]
        if any(revived(one, fit, gone) for one in sure):
            return "it says what was excluded, or is open"
        if not advice:
            fit = [one for one in fit if one.kind != "todo"]
        if not advice and not all(borne(one, fit, _HARD) for one in sure):
            return "no one line of ours says that"
        whys = (flipped(one, fit) or switched(one, fit) for one in sure)
        return next((why for why in whys if why), None)

    def _claims(self, text: str, words: frozenset[str]) -> bool:
        """Say whether a sentence says anything of this host: any of our words, any figure or name."""
        ours = frozenset[str]().union(*(one.stems for one in self._told if one.kind != "words"))
        return bool(words & ours) or any(figures(text)) or any(names(unfigured(text)))


def _bearing(text: str, cites: frozenset[str]) -> Collection[Kind]:
    """Return the kinds of our lines that may bear a figure: a step to take tells of no fact."""
    kinds: list[Kind] = ["cause", "true", "benign", "excluded", "figure", "look"]
    if _ADVICE.search(text) or _STEP.search(text):
        kinds.append("todo")
    if hedged(text):
        kinds += ["open", "todo"]
    return kinds if cites else [*kinds, "words", "todo"]


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _fits(one: Ground, text: str) -> bool:
    """Say whether a line of ours may bear a sentence of that kind: what is open is no fact."""
    if one.kind == "open":
        return hedged(text)
    if one.kind == "excluded":  # its words are the hypothesis: one that denies is not denied again
        return excludes(text) or (clears(text) and not one.denials)
    return True


def _covering(words: frozenset[str], fit: Sequence[Ground]) -> list[Ground]:
    """Return the few lines that hold most of the words, the best first."""
    chosen: list[Ground] = []
    left = words
    for _ in range(_TOGETHER):
        best = max(fit, key=lambda one: (len(left & one.stems), -len(one.stems)), default=None)
        if best is None or not left & best.stems:
            break
        chosen.append(best)
        left -= best.stems
    return chosen


def _advised(words: frozenset[str], fit: Sequence[Ground]) -> bool:
    """Say whether one step of ours says most of it."""
    steps = (one for one in fit if one.kind == "todo" or one.kind == "open")
    return any(len(words & one.stems) >= _COVERED * len(words) for one in steps)
