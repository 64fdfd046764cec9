"""A summary as Slack shows it: within the limits for any fleet, with what one may know of below it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.charts.mornings import Morning
from bot.health.looked import Looked
from bot.health.order import Order
from bot.health.summary import summarise
from bot.letter import Letter
from bot.narrator import Line
from bot.slack.blocks import render
from bot.store import Run
from bot.work.morning_letters import letters_of
from tests.fakes import Workspace, faults_of
from tests.fakes.reception import Reception, play
from tests.health.test_summary import GEN1, looked
from tests.slack.delivering import Delivering, delivering

COURSE = [Morning(f"2026-11-{day}", day % 3, 40, 55.0) for day in range(20, 31)]


def run_of(channel: str = "C0GPU00001") -> Run:
    return Run(7, "k", "sweep", "running", None, None, channel, "", "U1", "", "", 0.0)


def fleet(count: int, ill: int) -> list[Looked]:
    long = GEN1.model_copy(update={"statement": "The PCIe link of GPU 0 runs at Gen1. " * 9})
    return [
        looked(f"gpu-node-with-a-long-name-{n:04}", found=[long] if n < ill else ())
        for n in range(count)
    ]


def letters(count: int, ill: int) -> list[Letter]:
    summary = summarise("2026-11-30", fleet(count, ill), {})
    return letters_of(run_of(), Order(date="2026-11-30", hosts=("a",)), summary, COURSE)


@pytest.mark.parametrize(("count", "ill"), [(1, 1), (40, 3), (1000, 300), (1000, 1000)])
def test_every_message_of_a_summary_is_within_what_slack_takes(count: int, ill: int) -> None:
    told = letters(count, ill)
    for letter in told:
        shown = render(letter, {})
        assert not faults_of(shown.blocks)
        assert "did not fit" not in json.dumps(shown.blocks)
    assert len(told) <= 7  # the message, a chart, four of details, and a file where there are more


def test_one_host_is_known_by_a_button_and_several_by_a_choice() -> None:
    (button,) = render(letters(40, 1)[0], {}).blocks[-1]["elements"]
    assert (button["type"], button["value"]) == ("button", "gpu-node-with-a-long-name-0000:7")
    (menu,) = render(letters(40, 3)[0], {}).blocks[-1]["elements"]
    assert [one["value"] for one in menu["options"]] == [
        f"gpu-node-with-a-long-name-{n:04}:7" for n in range(3)
    ]
    assert not render(letters(40, 0)[0], {}).blocks[1:]


@pytest.mark.parametrize(
    ("faults", "title"),
    [
        ([0, 0, 0, 1], "CT129 has a fault today; none on the 3 days before"),
        ([1, 0, 1, 1], "CT129 has a fault today; 2 of the 3 days before had one"),
        ([0, 0, 0, 0], "CT129 has worse figures but no fault today; none on the 3 days before"),
    ],
)
def test_the_course_of_one_host_is_told_of_it_by_name(faults: list[int], title: str) -> None:
    course = [Morning(f"2026-11-{27 + day}", n, 1, 55.0) for day, n in enumerate(faults)]
    summary = summarise("2026-11-30", [looked(found=[GEN1])], {})
    told = letters_of(run_of(), Order(date="2026-11-30", hosts=("a",)), summary, course)
    assert told[1].attached
    assert told[1].attached.title == title
    assert told[1].attached.alt.startswith(f"{title}. 11-27: {faults[0]} of 1, decode 55.0 tok/s.")


def test_a_cell_keeps_a_number_and_its_sign_together_and_a_sentence_is_read_without_a_name() -> (
    None
):
    shown = render(letters(40, 3)[0], {})
    (table,) = [one for one in shown.blocks if one["type"] == "table"]
    assert (
        table["rows"][1][1]["text"] == "prefill 47\N{NO-BREAK SPACE}%, decode 4\N{NO-BREAK SPACE}%"
    )
    assert "0000: costs prefill 47 %, decode 4 %, The PCIe link of GPU 0 runs" in shown.text


def test_below_the_message_of_one_host_nothing_stands_twice() -> None:
    second = GEN1.model_copy(update={"cause": "prefix_cache_off", "statement": "The cache is off."})
    summary = summarise("2026-11-30", [looked(found=[GEN1, second])], {})
    order = Order(date="2026-11-30", hosts=("a",))
    top, below = (render(one, {}).text for one in letters_of(run_of(), order, summary, []))
    assert "runs at Gen1" in top
    assert "Gen1" not in below
    assert below.startswith(
        "• The cache is off. Costs: prefill 47 % (30 to 60), decode 4 % (2 to 6)."
    )


def test_the_file_has_every_host_where_messages_have_some() -> None:
    told = letters(1000, 300)
    assert told[-1].attached
    assert told[-1].attached.title == "All 300 hosts that need attention"
    assert told[-1].attached.text.count("\ngpu-node-with-a-long-name-") == 300


def test_a_choice_of_a_host_reaches_the_desk(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        letter = letters(40, 3)[0]
        shown = render(letter, {})
        posted = slack.state.post(
            slack.world.channel("gpu"), thread_ts=None, blocks=shown.blocks, text=shown.text
        )
        slack.press("gpu", posted.ts, "know", "sam", value="gpu-node-with-a-long-name-0001:7")
        await slack.until(lambda: bot.desk.pressed)
        button, run, _, _, thread, *_, host = bot.desk.pressed[0]
        assert (button, run, thread) == ("know", 7, posted.ts)
        assert host == "gpu-node-with-a-long-name-0001"

    play(tmp_path, scene)


def test_what_stands_below_a_message_goes_into_its_thread_and_the_run_is_found_there(
    tmp_path: Path,
) -> None:
    async def story(at: Delivering) -> None:
        channel = at.slack.world.channel("gpu").id
        run = at.store.runs.add("summary", "sweep", channel=channel, thread="", user="U1")
        assert run
        top = Letter(
            key="top",
            kind="verdict",
            channel=channel,
            run=run.id,
            parts=(Line("lead", "All fine."),),
        )
        below = Letter(key="below", kind="answer", channel=channel, run=run.id, under="top", parts=(Line("lead", "More."),))  # fmt: skip
        at.slack.faults.next(
            "chat.postMessage", "drop_after"
        )  # the answer is lost: it must be found again
        with at.store.together():
            assert at.store.letters.add(top)
            assert at.store.letters.add(below)
        at.courier.wake()
        await at.sent("top", "below")
        (message,) = [one for one in at.slack.messages("gpu") if one.is_ours and not _reply(one)]
        assert [
            one.text for one in at.slack.replies("gpu", message.ts) if one.ts != message.ts
        ] == ["More."]
        assert [one.id for one in at.store.runs.in_thread(channel, message.ts)] == [run.id]
        assert at.store.runs.recent_threads(0.0) == [(channel, message.ts)]

    async def all_of_it() -> None:
        async with delivering(tmp_path) as at:
            await story(at)

    asyncio.run(all_of_it())


def _reply(message: object) -> bool:
    thread = getattr(message, "thread_ts", None)
    return thread is not None and thread != getattr(message, "ts", None)
