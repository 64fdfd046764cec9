"""How far an investigation is, as its one live message shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bot import narrator
from bot.audience import Happening
from bot.experiment.step import Step
from bot.investigate import Asking, Judged, Learned, Noted
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
    def of(cls, title: str, past: Iterable[Evidence | Step], stop: int | None = None) -> TrailState:
        """Return the state of a run of which these looks, or steps, are known."""
        state = cls(title, stop=stop)
        for one in past:
            state = state.after(one if isinstance(one, Step) else Learned(one))
        return state

    def after(self, event: Happening) -> TrailState:
        """Return the state after something happened."""
        if isinstance(event, Asking):
            return self._asking(event.probes)
        if isinstance(event, Learned):
            return self._learned(event.look)
        if isinstance(event, Noted):
            return self._noted(event)
        if isinstance(event, Step):
            return self._stepped(event)
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
        if self.items and self.items[0].id.startswith("step-"):  # nobody knows how many will follow
            return f"{done} step{'' if done == 1 else 's'} done"
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

    def _stepped(self, step: Step) -> TrailState:
        """Show a step of a change; what is told of it again changes its line."""
        items = list(self.items)
        at = next(
            (n for n, one in enumerate(items) if one.key == step.key and not one.over), len(items)
        )
        name = items[at].id if at < len(items) else f"step-{at + 1}"
        items[at : at + 1] = [Item(name, step.title, step.status, step.key, step.said, step.took_s)]
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
