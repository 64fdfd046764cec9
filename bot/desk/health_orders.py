"""`/perf health …`: a sweep now, or a summary each day; who may ask may have it, of the hosts they may see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from bot.access import Access, Asker
from bot.health.order import Order
from bot.health.schedule import upcoming
from bot.narrator import Line
from bot.settings import Settings
from bot.settings.schedule import Schedule, days_of
from bot.store import Run, Store
from tools.errors import ToolsError

_FORM = "Like: /perf health schedule 08:30 Europe/Berlin mon-fri"
_GROUPS_SHOWN = 8


class HealthOrders:
    """Sync, and called from threads; each answer is for who typed it. Raises ToolsError.

    A command comes once, and is answered in its ack: what it sets in motion is written before that.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        access: Access,
        enqueue: Callable[[Run], None],
        now: Callable[[], float] | None = None,
    ) -> None:
        self._store, self._settings, self._access = store, settings, access
        self._enqueue, self._now = enqueue, now or store.now

    def answer(self, typed: str, asker: Asker, command: str) -> Sequence[Line]:
        """Do what stands behind `/perf health`; `command` is unique for what was typed."""
        if refusal := self._access.refusal(asker):
            self._store.audit.note(asker.user, asker.channel, "/perf health", typed, "refused")
            return [Line("said", refusal)]
        verb, _, rest = typed.strip().partition(" ")
        match verb.lower():
            case "schedule":
                return self._schedule(rest.split(), asker)
            case "schedules":
                return self._schedules(asker.channel)
            case "unschedule":
                return self._unschedule(rest.strip(), asker)
        return self._sweep(typed.split(), asker, command)

    def _sweep(self, groups: Sequence[str], asker: Asker, command: str) -> Sequence[Line]:
        if strange := self._strange(groups):
            return [strange]
        hosts = self._open(self._settings.of_groups(groups), asker)
        whom = ", ".join(groups)
        if not hosts:
            return [
                _said(f"There is no host{f' of {whom}' if whom else ''} that you may ask me about.")
            ]
        if self._at_it(asker.channel, hosts):
            return [_said("I am looking at them already: the summary comes in this channel.")]
        date = f"{datetime.fromtimestamp(self._now(), UTC):%Y-%m-%d}"
        run = self._store.runs.add(
            f"sweep:{command}",
            "sweep",
            channel=asker.channel,
            thread="",
            user=asker.user,
            text=f"/perf health {whom}".strip(),
            message=Order(date=date, hosts=hosts, whom=whom).model_dump_json(),
        )
        if run is not None:
            self._note(asker, "sweep", f"{len(hosts)} hosts {whom}".strip())
            self._hand_on(run)
        many = "one host" if len(hosts) == 1 else f"{len(hosts):,} hosts"
        return [
            _said(f"I look at {many}, lightly and read-only. The summary comes in this channel.")
        ]

    def _schedule(self, given: Sequence[str], asker: Asker) -> Sequence[Line]:
        schedule = self._read(given, asker.channel)
        if isinstance(schedule, str):
            return [_said(schedule)]
        if strange := self._strange(schedule.groups):
            return [strange]
        if not self._open(self._settings.of_groups(schedule.groups), asker):
            return [_said("There is no host in that summary that you may ask me about.")]
        twice = any(
            (one.channel, one.name) == (schedule.channel, schedule.name)
            for one in self._settings.summaries
        )
        if twice:
            return [_said("hosts.toml tells that summary in this channel already, once a day.")]
        self._store.schedules.put(schedule, asker.user)
        self._note(asker, "schedule", schedule.shown())
        first = upcoming(schedule, self._now())
        return [
            _said(f"Set: {schedule.shown()}. The next one comes {first:%a %d %b at %H:%M} ({schedule.zone})."),
            Line("text", "It tells of the hosts that you may ask about here. I must be in this channel (/invite)."),
        ]  # fmt: skip

    def _read(self, given: Sequence[str], channel: str) -> Schedule | str:
        """Read TIME ZONE DAYS [GROUP ...], or say in one sentence what is wrong."""
        if len(given) < 2:
            return f"Tell me when, and in which time zone. {_FORM}"
        at, zone, *rest = given
        days: Sequence[str] = ("daily",)
        try:
            days = days_of(rest[0]) if rest else days_of("daily")
            rest = rest[1:]
        except ValueError as why:
            if not self._is_group(rest[0]):
                return f"{str(why)[:1].upper()}{str(why)[1:]}. {_FORM}"
            days = days_of("daily")
        try:
            return Schedule.model_validate(
                {"channel": channel, "at": at, "zone": zone, "days": days, "groups": rest}
            )
        except ValidationError as why:
            said = why.errors()[0]["msg"].removeprefix("Value error, ")
            return f"{said[:1].upper()}{said[1:]}. {_FORM}"

    def _schedules(self, channel: str) -> Sequence[Line]:
        fixed = [one for one in self._settings.summaries if one.channel == channel]
        kept = self._store.schedules.all(channel)
        if not fixed and not kept:
            return [_said("No summary is set for this channel."), Line("text", _FORM)]
        told = [self._told(one.schedule, f"{one.id}: ") for one in kept]
        told += [self._told(one, "", " (set in hosts.toml)") for one in fixed]
        ends = [Line("text", "`/perf health unschedule N` ends one.")] if kept else []
        return [Line("lead", "Summaries in this channel:"), *told, *ends]

    def _told(self, schedule: Schedule, before: str, after: str = "") -> Line:
        first = upcoming(schedule, self._now())
        return Line(
            "item", f"{before}{schedule.shown()}; the next one {first:%a %d %b at %H:%M}{after}"
        )

    def _unschedule(self, number: str, asker: Asker) -> Sequence[Line]:
        known = number.isdecimal() and len(number) < 10  # a larger one fits into no database
        if known and self._store.schedules.remove(int(number), asker.channel):
            self._note(asker, "unschedule", number)
            return [_said(f"Summary {number} is not told any more.")]
        return [
            _said("This channel has no summary of that number."),
            *self._schedules(asker.channel),
        ]

    def _strange(self, groups: Sequence[str]) -> Line | None:
        unknown = [group for group in groups if not self._is_group(group)]
        if not unknown:
            return None
        known = sorted({name for one in self._settings.hosts.values() for name in one.groups})
        have = (
            f" hosts.toml has {', '.join(known[:_GROUPS_SHOWN])}."
            if known
            else " hosts.toml has none."
        )
        return _said(f"No host is in a group {unknown[0]}.{have}")

    def _is_group(self, name: str) -> bool:
        return any(
            name.lower() == group.lower()
            for one in self._settings.hosts.values()
            for group in one.groups
        )

    def _open(self, hosts: Sequence[str], asker: Asker) -> tuple[str, ...]:
        return tuple(host for host in hosts if self._access.refusal(asker, host) is None)

    def _at_it(self, channel: str, hosts: Sequence[str]) -> bool:
        wanted = set(hosts)
        return any(
            wanted <= set(Order.model_validate_json(run.message).hosts)
            for run in self._store.runs.open()
            if run.kind == "sweep" and run.channel == channel
        )

    def _hand_on(self, run: Run) -> None:
        try:
            self._enqueue(run)
        except ToolsError:
            return  # it is accepted: the jobs are put in order within a minute

    def _note(self, asker: Asker, act: str, what: str) -> None:
        self._store.audit.note(asker.user, asker.channel, f"/perf health {act}", what, "done")


def _said(text: str) -> Line:
    return Line("said", text)
