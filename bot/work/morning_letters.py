"""A summary as letters: one message in the channel, the chart and the details in its thread; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.charts.mornings import FEWEST, MOST, Morning, kept, mornings_alt
from bot.health import told
from bot.health.kinds import some_of_each
from bot.health.order import Order
from bot.health.summary import Summary
from bot.letter import Attached, Letter
from bot.narrator import Line
from bot.store import Run

_OF_ONE = 8  # hosts in one message of details
_ASK_ON = "Ask on here: “why {0}?”, “what changed on {0}?”, “I know of {0}”, “tell me if it happens again on {0}”."
_MOST = 4  # such messages; where there are more hosts a file has all


def letters_of(run: Run, order: Order, summary: Summary, course: Sequence[Morning]) -> list[Letter]:
    """Return the message first; a morning on which nobody is needed has nothing else."""
    hosts = tuple(item.host for item in summary.items)
    message = Letter(
        key=top(run),
        kind="verdict",
        channel=run.channel,
        thread=run.thread or None,
        run=run.id,
        parts=tuple(told.message(summary, order.whom)),
        buttons=("know",) if hosts else (),
        choices=hosts,
    )
    if not hosts:
        return [message]
    return [message, *_chart(run, summary, course), *_details(run, summary)]


def nobody_letter(run: Run, order: Order) -> Letter:
    """Say that there is no host to look at, in place of a summary that says all is well."""
    whom = f" in {order.whom}" if order.whom else ""
    text = (
        f"There is no host{whom} that I may look at for this summary. "
        "hosts.toml lists them; `/perf health schedules` shows what is set up here."
    )
    return Letter(
        key=top(run),
        kind="verdict",
        channel=run.channel,
        thread=run.thread or None,
        run=run.id,
        parts=(Line("lead", text),),
    )


def top(run: Run) -> str:
    """Name the message of a sweep: a run has one, and a channel, hosts and a date have one run."""
    return f"run:{run.id}:summary"


def chart_title(summary: Summary, course: Sequence[Morning]) -> str:
    """Say what the chart shows: today beside the days before."""
    today, before = course[-1].faulty, sorted(one.faulty for one in course[-MOST:-1])
    if summary.only:
        days = f"the {len(before)} days before"
        then = f"{sum(before)} of {days} had one" if any(before) else f"none on {days}"
        now = "a fault" if today else "worse figures but no fault"
        return f"{summary.only} has {now} today; {then}"
    usual = before[len(before) // 2]
    as_usual = (
        "as on a usual day"
        if today == usual
        else f"{f'{usual:,}' if usual else 'none'} on a usual day"
    )
    return f"{today:,} of {summary.hosts:,} hosts {'has' if today == 1 else 'have'} a fault, {as_usual}"


def whole(summary: Summary) -> str:
    """Return all details as text, for a file."""
    lines = [told.headline(summary), ""]
    for item in summary.items:
        first, *more = [part for part in told.detail(item) if isinstance(part, Line)]
        lines += [first.text, *(f"  {one.text}" for one in more), ""]
    return "\n".join(lines)


def _chart(run: Run, summary: Summary, course: Sequence[Morning]) -> Iterator[Letter]:
    if len(course) >= FEWEST:
        title = chart_title(summary, course)
        alt = mornings_alt(title, course)
        yield _file(run, "chart", f"{summary.date}.png", title, alt=alt, text=kept(course))


def _details(run: Run, summary: Summary) -> Iterator[Letter]:
    items = summary.items
    shown = some_of_each(items, _OF_ONE * _MOST)
    for first in range(0, len(shown), _OF_ONE):
        some = shown[first : first + _OF_ONE]
        parts = list(told.details(summary, some))
        if first + _OF_ONE >= len(shown):
            parts.append(Line("said", _ASK_ON.format(items[0].host)))
        yield Letter(
            key=f"run:{run.id}:details-{first // _OF_ONE}",
            kind="answer",
            channel=run.channel,
            under=top(run),
            run=run.id,
            parts=tuple(parts),
        )
    if len(items) > len(shown):
        title = f"All {len(items):,} hosts that need attention"
        yield _file(run, "details", "details.txt", title, text=whole(summary))


def _file(run: Run, kind: str, name: str, title: str, **more: str) -> Letter:
    attached = Attached.model_validate(
        {"kind": kind, "run": run.id, "name": f"run{run.id}-{name}", "title": title, **more}
    )
    return Letter(
        key=f"run:{run.id}:{kind}",
        kind="file",
        channel=run.channel,
        under=top(run),
        run=run.id,
        attached=attached,
    )
