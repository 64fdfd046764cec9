"""The bot's Home in Slack: what it does, what runs now, and the last verdict on each host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from bot.desk.itself import greeting
from bot.narrator.changed import concluded
from bot.slack.blocks.bricks import context, header, rich, section
from bot.slack.blocks.rendered import Block, Element
from bot.slack.blocks.safe import shown
from bot.slack.blocks.spans import plain, spans
from bot.store.run import Run

_HOSTS = 40  # of the hosts and of what runs; Slack takes 100 blocks in a Home
_RUNNING = 20
_NAME, _SAID = 80, 200


def home(hosts: Sequence[str], last: Mapping[str, Run], running: Sequence[Run]) -> Block:
    """Return the view; `last` holds the last ended run of each host that has one."""
    blocks = [header("perfsleuth"), *_hello(hosts)]
    blocks.append(header("Running now"))
    blocks.append(rich([_rows([_running(one) for one in running[:_RUNNING]], "Nothing.")]))
    if len(running) > _RUNNING:
        blocks.append(context(f"and {len(running) - _RUNNING} more"))
    blocks.append(header("Hosts"))
    told = [_host(one, last.get(one)) for one in hosts[:_HOSTS]]
    blocks.append(rich([_rows(told, "None is set up yet.")]))
    if len(hosts) > _HOSTS:
        blocks.append(context(f"and {len(hosts) - _HOSTS} more"))
    return {"type": "home", "blocks": blocks}


def _hello(hosts: Sequence[str]) -> Iterator[Block]:
    for line in greeting(hosts)[:2]:
        yield rich([section(spans(line.text, {}))])


def _rows(rows: Sequence[Sequence[Element]], empty: str) -> Element:
    leaves: list[Element] = []
    for number, row in enumerate(rows):
        leaves += [plain("\n"), *row] if number else row
    return section(leaves or [plain(empty)])


def _running(run: Run) -> list[Element]:
    state = "runs" if run.state == "running" else "waits"
    since = f" · {state} since {_when(run.began_at or run.asked_at)}"
    return [plain(shown(run.host or "files", _NAME) or "–", bold=True), plain(since)]


def _host(name: str, run: Run | None) -> list[Element]:
    named = plain(shown(name, _NAME) or "–", bold=True)
    if run is None:
        return [named, plain(" — never looked at")]
    said = shown(concluded(run.category, run.headline), _SAID)
    return [named, plain(f" — {said} · {_when(run.ended_at or run.asked_at)}")]


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
