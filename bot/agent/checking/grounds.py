"""Whether a sentence of a model stands on what was seen or computed: pure, and strict where it is in doubt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from bot.agent.checking.excluded import Excluded
from bot.agent.checking.figures import Figure, figures, unfigured
from bot.agent.checking.ground import Ground, Kind, Seen
from bot.agent.checking.match import in_line, same
from bot.agent.checking.mentions import flags, names, quoted, unquoted
from bot.agent.checking.parroted import joined, parroted
from bot.agent.checking.proof import proof
from bot.agent.checking.sentences import LONGEST, Sentence, strange
from bot.agent.checking.standing import grounds
from bot.followup.suspect import suspects
from bot.investigate import Judged

_OURS = (
    "cause",
    "true",
    "benign",
    "excluded",
    "todo",
    "words",
)  # kinds that hold least of a host's words
_CITES = 10  # looks that one sentence may stand on
_FACTS: frozenset[Kind] = frozenset(
    ("cause", "true", "benign", "excluded", "figure", "look")
)  # tell figures


class Grounds:
    """All that an investigation gives a sentence to stand on.

    `more` are texts that we computed besides, for this answer.
    """

    def __init__(self, end: Judged, more: Iterable[str] = ()) -> None:
        self._told = grounds(end, more)
        self._own = [joined(one.text) for one in self._told if one.kind in _OURS]
        self._seen = {look.id: Seen(look) for look in end.evidence}
        self._found = frozenset(
            name
            for one in end.verdict.findings
            for name in (one.rule.cause.id, one.rule.cause.layer, *suspects(one.finding.statement))
        )
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
            or self._unproven(sentence)
        )

    def _repeats(self, text: str) -> str | None:
        """Say whether a sentence takes a host's words for its own: it may quote them."""
        words = parroted(text, (one.joined for one in self._seen.values()), self._own)
        return f"“{words[:60]}” are a host's words, and not quoted" if words else None

    def invented(self, text: str, cites: Sequence[str] = ()) -> str | None:
        """Return what of an idea stands nowhere: figures, names, flags, quotations."""
        looks = tuple(cites) or tuple(self._seen)
        foreign = strange(text) or self._repeats(unquoted(text))
        made = Sentence(text, looks)
        return foreign or self._unseen(made) or self._uncounted(made, _FACTS, idea=True)

    def _unseen(self, sentence: Sentence) -> str | None:
        """Return the quotation, the flag or the name that stands in no look which a sentence cites."""
        cites = frozenset(sentence.cites)
        for words in quoted(sentence.text):
            if not self._stands(words, cites):
                return f"the quotation “{words[:60]}” stands in no look that it cites"
        rest = unquoted(sentence.text)
        for one in (*flags(rest), *names(unfigured(rest))):
            if not self._named(one, cites):
                return f"{one[:60]} stands in no look that it cites"
        return None

    def _uncounted(self, sentence: Sentence, kinds: Collection[Kind], *, idea: bool) -> str | None:
        """Return the figure that none of our lines of these kinds tells, nor a look that a sentence cites."""
        cites = frozenset(sentence.cites)
        for figure in figures(unquoted(sentence.text)):
            if figure.unit != "#e" and not self._figure(figure, cites, kinds, idea=idea):
                return f"the figure {figure.text} is not what was seen or computed"
        return None

    def _unproven(self, sentence: Sentence) -> str | None:
        """Say whether no lines of ours bear it: those that its looks show, or any where it tells of no host."""
        cites = frozenset(sentence.cites)
        fit = [one for one in self._open_to(cites) if cites or one.kind in ("words", "todo")]
        lines = proof(unquoted(sentence.text), fit, Excluded(fit, self._found))
        if not lines:
            return "no line of ours says that" if cites else "it cites no look"
        kinds = _FACTS | {one.kind for one in lines}
        return self._uncounted(sentence, kinds, idea=False)

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


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
