"""Which load is put on a server to show a change, and what a person is told of a start before it is interrupted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.experiment.judging import judged
from bot.experiment.load import longest_s, stated
from bot.experiment.record import Measured
from bot.narrator import Line
from bot.narrator.proposed import proposed
from bot.proposal.traps import interrupts
from tests.desk.test_deciding import card_of
from tests.proposal.made import proposal
from tests.proposal.servers import launcher
from tests.work.room import Room, make_room
from tools.change import Change, KeepRule
from tools.engine import ServerLog
from tools.evidence import Evidence
from tools.host import Output
from tools.known import Known
from tools.probes.server_log import ReadServerLog

__all__ = ["make_room"]
AGAIN, COLD = "prefill of a repeated prompt, tok/s", "cold prefill, tok/s"


@pytest.mark.parametrize(
    ("words", "load"),
    [
        ("restart CT129 without --disable-radix-cache", "repeated"),
        ("set --chunked-prefill-size 4096 on CT129 and measure", "burst"),
        ("set --chunked-prefill-size 4096 on CT129 and measure throughput", "serving"),
    ],
)
def test_the_load_can_show_what_the_change_does(
    make_room: Callable[..., Room], words: str, load: str
) -> None:
    room = make_room(access={"approve": ("USAM",)})
    room.more["ReadLauncher"] = launcher()
    ts = room.say(words)
    room.work()
    offer = room.store.proposals.of_run(card_of(room, ts).run or 0)
    assert offer
    assert offer.proposal
    assert offer.proposal.load == load


def test_of_the_prefix_cache_the_card_says_that_a_prompt_comes_twice() -> None:
    made = proposal(load="repeated", change=Change(unset=("disable_radix_cache",)))
    told = [one.text for one in proposed(made) if isinstance(one, Line)]
    assert any(
        "a short burst whose long prompt comes twice, so that a cache can show" in one
        for one in told
    )
    assert "and then the same once more" in stated(made)
    assert longest_s(made) < made.bounds.silence_s


def test_what_a_cache_gives_is_judged_by_the_prompt_that_comes_again() -> None:
    before = Measured(
        figures={AGAIN: (1431.0, 1433.0, 1429.0), COLD: (1431.0, 1432.0, 1430.0)}, runs=3
    )
    after = Measured(
        figures={AGAIN: (43100.0, 42900.0, 43000.0), COLD: (1430.0, 1431.0, 1432.0)}, runs=3
    )
    told = judged(KeepRule(goal="prefill"), before, after)
    assert told.kept
    assert told.why.startswith(
        "Prefill of a repeated prompt is better: 43,000 tok/s instead of 1,431 tok/s (30 times as much, "
    )
    worse = judged(KeepRule(goal="prefill"), after, before)
    assert not worse.kept


LOG = (
    "[2026-01-01 10:00:00] server_args=ServerArgs(model_path='/models/m', tp_size=1, port=30000)\n"
    "[2026-01-01 10:00:31] Load weight end. elapsed=29.50 s, type=Qwen3, dtype=bf16, avail mem=9.1 GB, mem usage=30.2 GB.\n"
)
READY = "[2026-01-01 10:01:24] The server is fired up and ready to roll!\n"
CUT = "[2026-01-01 10:00:31] Load weight end. elapsed=29.50 s, type=Qwen3, dtype=bf16, avail mem=9.1 GB, mem usage=30.2 GB.\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LOG + READY, "the last start took 84 s until it was ready."),
        (LOG, "the last start took 30 s for the weights alone."),
        (
            CUT + READY,
            "the last start took 30 s for the weights alone.",
        ),  # its first lines are not in it
    ],
)
def test_the_time_of_the_last_start_is_the_whole_where_the_log_has_it(text: str, said: str) -> None:
    probe = ReadServerLog()
    facts = probe.parse(text)
    assert isinstance(facts, ServerLog)
    look = Evidence("E1", probe, "here", Output(stdout=text), facts, "")
    told = list(interrupts(Known([look])))
    assert told[-1] == f"The server is away while it starts: {said}"
