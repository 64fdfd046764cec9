"""How far an investigation is, as its one live message shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bot import narrator
from bot.investigate import Asking, Event, Judged, Learned, Noted
from bot.narrator import Line
from tools.evidence import AnyProbe, Evidence

Status = Literal["pending", "in_progress", "complete", "error"]

NOT_ANSWERED = "not answered"


@dataclass(frozen=True)
class Item:
    """One look. `id` is unique in its trail; `key` tells which question it puts.

    `said` is what came back in a line, `cite` its evidence id, `took_s` seconds.
    """

    id: str
    title: str
    status: Status
    key: str = ""
    said: str = ""
    took_s: float | None = None
    cite: str = ""

    @property
    def over(self) -> bool:
        """Say whether nothing more will come of it."""
        return self.status in ("complete", "error")


@dataclass(frozen=True)
class TrailState:
    """`title` is the first line, said before anything is asked; `meaning` is what was learned by it.

    `stop` is the run that the Stop button ends, None where there is none. `troubles` were told
    already, and are not told again at length.
    """

    title: str
    items: tuple[Item, ...] = ()
    meaning: tuple[str, ...] = ()
    note: str = ""
    ended: bool = False
    stop: int | None = None
    troubles: frozenset[str] = frozenset()

    @classmethod
    def of(cls, title: str, looks: Iterable[Evidence], stop: int | None = None) -> TrailState:
        """Return the state of a run of which these looks are known."""
        state = cls(title, stop=stop)
        for look in looks:
            state = state.after(Learned(look))
        return state

    def after(self, event: Event) -> TrailState:
        """Return the state after something happened."""
        if isinstance(event, Asking):
            return self._asking(event.probes)
        if isinstance(event, Learned):
            return self._learned(event.look)
        if isinstance(event, Noted):
            return self._noted(event)
        return self._judged(event)

    def noting(self, note: str) -> TrailState:
        """Return it with a note: "I was restarted and go on."."""
        return replace(self, note=note)

    def saying(self, text: str) -> TrailState:
        """Return it with one more line of what the looks mean."""
        return replace(self, meaning=(*self.meaning, text)) if text else self

    def over(self, note: str = "") -> TrailState:
        """Return its end: what was not answered says so, and there is nothing left to stop."""
        items = tuple(
            one if one.over else replace(one, status="error", said=NOT_ANSWERED)
            for one in self.items
        )
        return replace(self, items=items, ended=True, stop=None, note=note or self.note)

    @property
    def progress(self) -> str:
        """Say in a few words how far it is: "7 of 16 looks"."""
        done = sum(one.over for one in self.items)
        if self.ended or done == len(self.items):
            return f"{done} look{'' if done == 1 else 's'}" if self.items else ""
        return f"{done} of {len(self.items)} looks"

    def _asking(self, probes: Iterable[AnyProbe]) -> TrailState:
        items = list(self.items)
        for probe in probes:
            number = len(items) + 1
            items.append(
                Item(f"look-{number}", narrator.title(probe), "in_progress", key=probe.key)
            )
        return replace(self, items=tuple(items))

    def _noted(self, event: Noted) -> TrailState:
        """Say it; of a look that brought no answer its own line says so."""
        if event.probe is None:
            return self.saying(event.text)
        key, items = event.probe.key, list(self.items)
        for at, one in enumerate(items):
            if one.key == key and not one.over:
                items[at] = replace(one, status="error", said=NOT_ANSWERED)
        return replace(self, items=tuple(items))

    def _learned(self, look: Evidence) -> TrailState:
        key = look.probe.key if look.probe else ""
        items = list(self.items)
        waits = (at for at, one in enumerate(items) if one.key == key and not one.over)
        at = next(waits, len(items))
        told = _told(look, self.troubles, f"look-{at + 1}", key)
        items[at : at + 1] = [told]
        troubles = self.troubles | {look.trouble} if look.trouble else self.troubles
        return replace(self, items=tuple(items), troubles=troubles)

    def _judged(self, end: Judged) -> TrailState:
        known = {one.cite for one in self.items}
        state = self
        for look in end.evidence:  # what the person claims is a look that nobody had to take
            if look.id not in known and look.probe is None and look.facts is not None:
                state = state._learned(look)
        return state.saying(str(end.deployment)).over()


def _told(look: Evidence, before: frozenset[str], name: str, key: str) -> Item:
    first, *rest = (line for line in narrator.look(look, before) if isinstance(line, Line))
    status: Status = "error" if first.kind == "trouble" else "complete"
    said = " · ".join(line.text for line in rest)
    return Item(name, first.text, status, key, said, first.took_s, look.id)
