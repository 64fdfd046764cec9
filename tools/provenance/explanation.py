"""Explains flags: the followed resolver and the write sites of the source, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.errors import Absent, Unreadable
from tools.provenance.answer import FlagAnswer, SiteAnswer, State, flag_of, plain, sentence, shown
from tools.provenance.claims import claims_of
from tools.provenance.flags import field_of, flags_of
from tools.provenance.given import Given
from tools.provenance.guards import Reached, statements
from tools.provenance.journal import Event
from tools.provenance.later import excluded, is_later
from tools.provenance.resolver import Resolution, follow
from tools.provenance.sites import Site, sites_of
from tools.provenance.trail import same
from tools.provenance.trapped import conditions_of, trapped
from tools.provenance.tree import Tree
from tools.provenance.values import MISSING, Extern, Place, Unknown, Value
from tools.provenance.words import condition, logged


class Explanation:
    """What can be said of the flags of one launch; the resolver is followed once."""

    def __init__(self, tree: Tree, given: Given) -> None:
        self.tree = tree
        self.given = given
        self.resolution: Resolution = follow(tree, given)
        if not self.resolution.asked:
            why = self.resolution.refused or "it builds no ServerArgs"
            raise Absent(f"this version does not take these arguments: {why}")
        self._events: dict[str, list[Event]] = {}
        for event in self.resolution.events:
            self._events.setdefault(event.field.split(".", 1)[0], []).append(event)
        self._statements: dict[str, list[Reached]] = {}
        self._answers: dict[str, FlagAnswer] = {}

    @property
    def unseen(self) -> list[str]:
        """Return what would tell why the server runs all the same, each as a part of a sentence."""
        return [
            f"why {place.path}:{place.line} did not end this launch ({why})"
            for place, why in self.resolution.outlived.items()
        ]

    def names(self) -> list[str]:
        """Return every field, in the order of the source, those for inner use aside."""
        return [name for name in self.resolution.asked if not name.startswith("_")]

    def field(self, flag: str) -> str:
        """Return the field that a flag fills, by any of its names; "" where it fills none."""
        name = flag.lstrip("-").replace("-", "_")
        if name in self.resolution.asked:
            return name
        return field_of(flags_of(self.tree), flag, self.resolution.asked)

    def changed(self) -> list[str]:
        """Return the fields that surely are not as they were asked."""
        return [name for name in self.names() if self._overridden(name, self._events.get(name, []))]

    def brief(self, name: str) -> FlagAnswer:
        """Explain one field by the lines that wrote it; those that did not are not looked for."""
        return self._of(name, [], claimed=False)

    def all(self) -> list[FlagAnswer]:
        """Explain every flag."""
        names = self.names()
        sites: dict[str, list[Site]] = {}
        for site in sites_of(self.tree, frozenset(names)):
            sites.setdefault(site.field, []).append(site)
        return [self._of(name, sites.get(name, []), claimed=False) for name in names]

    def one(self, flag: str) -> FlagAnswer:
        """Explain one flag, by any of its names; raise Absent where this version has none so called."""
        name = self.field(flag)
        if not name:
            raise Absent(f"{flag} is no flag of this version: perfsleuth flags --search lists them")
        if name not in self._answers:
            sites = sites_of(self.tree, frozenset((name,)), name)
            answer = self._of(name, sites, claimed=True)
            here = conditions_of(self.given, self.resolution.resolved)
            answer.sentence += trapped(name, self.tree.version(), here)
            self._answers[name] = answer
        return self._answers[name]

    def _of(self, name: str, sites: list[Site], *, claimed: bool) -> FlagAnswer:
        found = self.resolution
        asked, resolved = found.asked.get(name, MISSING), found.resolved.get(name, MISSING)
        said = self.given.resolved or {}
        events = self._events.get(name, [])
        overridden = self._overridden(name, events)
        rows = self._fired(events, overridden=overridden)
        rows += self._silent(name, sites, rows, changed=overridden is not False)
        answer = FlagAnswer(
            name,
            shown(name, asked),
            shown(name, said.get(name, resolved)),
            overridden,
            rows,
        )
        passed = name in found.passed
        lies = claims_of(self.tree, flag_of(name)) if claimed and overridden and not passed else {}
        answer.sentence = sentence(
            answer,
            passed=passed,
            settled=name in said or not isinstance(resolved, Unknown),
            lies=lies,
            doubt=_doubt(events, resolved) or self._ending(),
        )
        return answer

    def _ending(self) -> str:
        refused = self.resolution.refused
        return f"the launch ends with {refused}" if refused else "how the launch ends"

    def _overridden(self, name: str, events: list[Event]) -> bool | None:
        found = self.resolution
        asked, resolved = found.asked.get(name, MISSING), found.resolved.get(name, MISSING)
        said = self.given.resolved or {}
        if name in said:
            return not _alike(asked, said[name])
        if _may_be(resolved, asked):
            return None
        if events and not all(event.doubt for event in events):
            return not same(asked, resolved) or any("." in event.field for event in events)
        if isinstance(resolved, Unknown) or found.refused:
            return None
        return not same(asked, resolved)

    def _fired(self, events: list[Event], *, overridden: bool | None) -> list[SiteAnswer]:
        rows: dict[tuple[str, int, str | None], SiteAnswer] = {}
        changed = overridden is not False
        for event in events:
            state: State = "fired" if changed else "not_fired"
            if event.doubt or (overridden is None and _may_leave(event)):
                state = "unknown"
            for place, words in self._places(event):
                key = (place.path, place.line, event.source)
                if key in rows and rows[key].state == "fired":
                    continue
                text, log = self._told(event, place, words, changed=changed)
                rows[key] = SiteAnswer(place.path, place.line, event.source, state, text, log)
        return list(rows.values())

    def _places(self, event: Event) -> Iterable[tuple[Place, str]]:
        if event.entry is not None:
            yield event.entry, f'the rule "{event.rule}" of the table holds'
        yield event.place, ""

    def _told(
        self, event: Event, place: Place, words: str, *, changed: bool
    ) -> tuple[str, str | None]:
        reached = self._statement(event.place)
        text = words or (condition(reached.guards) if reached else "always")
        if event.entry is not None and not words:
            text = f'{text} (rule "{event.rule}", line {event.entry.line})'
        if event.doubt:
            text += f"; not known: {', '.join(event.doubt[:3])}"
        elif not changed:
            text += "; it left the value as it was asked"
        del place
        return text, logged(reached.block) if reached else None

    def _statement(self, place: Place) -> Reached | None:
        if place.path not in self._statements:
            try:
                parsed = self.tree.parsed(place.path)
            except (Unreadable, KeyError):
                return None
            self._statements[place.path] = list(statements(parsed))
        fits = [
            each
            for each in self._statements[place.path]
            if each.node.lineno <= place.line <= (each.node.end_lineno or each.node.lineno)
        ]
        return fits[-1] if fits else None

    def _silent(
        self, name: str, sites: list[Site], rows: list[SiteAnswer], *, changed: bool
    ) -> list[SiteAnswer]:
        """Return the sites that did not write, and those that may write later."""
        del name, changed
        seen = {(row.file, row.line) for row in rows}
        found: dict[tuple[str, int], SiteAnswer] = {}
        for site in sites:
            if (site.path, site.line) not in seen:
                state, text = self._state(site)
                found[site.path, site.line] = SiteAnswer(
                    site.path, site.line, site.source, state, text, site.log
                )
        return list(found.values())

    def _state(self, site: Site) -> tuple[State, str]:
        text = condition(site.guards)
        if is_later(self.resolution.machine, site):
            if excluded(self.resolution.machine, self.resolution.resolved, site):
                return "not_fired", text
            return "unknown", f"later, in {site.function or site.path}(): {text}"
        failed = self._failed(site)
        if failed:
            return "not_fired", f"{text}; not so" + (f": {failed}" if failed != text else "")
        if self.resolution.refused:
            return "unknown", f"{text}; not known: {self._ending()}"
        return "not_fired", f"{text}; not reached"

    def _failed(self, site: Site) -> str:
        tests: Mapping[Any, Any] = self.resolution.machine.journal.tests
        for guard in site.guards:
            answer = tests.get((site.path, *guard.key))
            if isinstance(answer, bool) and answer is not guard.holds:
                return condition([guard])
        return ""


def _alike(asked: Value, said: Any) -> bool:
    """Whether what was asked is what the server says, which prints lists and enumerations as JSON does."""
    if asked is MISSING or isinstance(asked, (Unknown, Extern)):
        return asked is MISSING and said is None
    return bool(plain(asked) == plain(said))


def _may_be(value: Value, asked: Value) -> bool:
    """Whether a value that is not known may be the one that was asked."""
    return isinstance(value, Unknown) and any(same(asked, each) for each in value.options or ())


def _may_leave(event: Event) -> bool:
    """Whether a write may put back what was there."""
    return same(event.value, event.before) or _may_be(event.value, event.before)


def _doubt(events: list[Event], resolved: Value) -> str:
    reasons = [why for event in events for why in event.doubt]
    reasons += resolved.why if isinstance(resolved, Unknown) else ()
    return ", ".join(dict.fromkeys(reasons))
