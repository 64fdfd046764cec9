"""The live message of an investigation: a line for each look, and the chunks of a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo import shipped
from bot.demo.workspace.limits import faults_of, visible_text
from bot.demo.workspace.rendered import rendered as slack_makes_of
from bot.demo.workspace.stream import chunk_fault
from bot.investigate import Asking, Event, Learned, Noted, conclude
from bot.question import Question
from bot.slack.blocks import Item, Rendered, TrailState, task_chunks, trail_blocks
from tools.evidence import Evidence
from tools.probes import PROBES

TITLE = "Looking at CT129. You ask about decode: 55 tok/s now, 70 remembered."
HOSTILE = "[r]: //x.com <!channel> <@U123> @here [x](https://evil.example) https://evil.example `x` *b* # h &lt;!here&gt; mailto:a@b.com www.x.io"


def looks() -> list[Evidence]:
    return shipped().evidence(PROBES)


def events() -> Iterator[Event]:
    seen = looks()
    for some in (seen[:12], seen[12:]):
        yield Asking(tuple(look.probe for look in some if look.probe))
        yield from map(Learned, some)
    yield conclude(Question.of(shipped().question), seen)


def states() -> list[TrailState]:
    made = [TrailState(TITLE, stop=7)]
    for event in events():
        made.append(made[-1].after(event))
    return made


def texts(part: Any) -> str:
    if isinstance(part, dict):
        own = part["text"] if isinstance(part.get("text"), str) else ""
        return own + "".join(texts(value) for value in part.values())
    return "".join(map(texts, part)) if isinstance(part, list) else ""


def test_a_round_that_is_asked_stands_there_before_the_answers() -> None:
    asked = states()[1]
    assert {one.status for one in asked.items} == {"in_progress"}
    assert asked.items[2].title == "The serve log"
    assert asked.progress == "0 of 12 looks"


def test_a_look_is_told_with_what_came_back_and_how_long_it_took() -> None:
    learned = states()[4]
    log = learned.items[2]
    assert (log.status, log.cite, log.title) == ("complete", "E3", "The serve log")
    assert "170 decode (all in a CUDA graph)" in log.said
    shown = texts(trail_blocks(learned, "psl:run:7:trail").blocks)
    assert re.search(r"✓ The serve log · \d\.\d s  E3 — 170 decode", shown)
    assert learned.progress == "3 of 12 looks"


def test_a_look_that_failed_is_an_error_and_says_why() -> None:
    failed = next(one for one in states()[-1].items if one.cite == "E13")
    assert failed.status == "error"
    assert failed.said.startswith("Failed: the kernel log may not be read")


def test_the_end_names_what_runs_there_and_takes_stop_away() -> None:
    before, end = states()[-2:]
    assert "actions" in {block["type"] for block in trail_blocks(before, "m").blocks}
    assert "actions" not in {block["type"] for block in trail_blocks(end, "m").blocks}
    assert end.ended
    assert end.meaning == ("2x RTX A6000, SGLang 0.5.11, qwen3.6-27b, TP 2",)
    assert end.items[-1].title == "What you say yourself"
    assert end.progress == "17 looks"


def test_older_looks_fold_and_keep_their_evidence_ids() -> None:
    shown = texts(trail_blocks(states()[-1], "m").blocks)
    for number in range(1, 17):
        assert re.search(rf"\bE{number}\b", shown), number
    assert shown.index("How the model server was started E1 · ") < shown.index(
        "What you say yourself"
    )
    assert "pid 412" not in shown


def test_a_run_that_is_stopped_leaves_no_look_spinning() -> None:
    stopped = states()[3].over("Stopped by sam.")
    assert {one.status for one in stopped.items} == {"complete", "error"}
    assert "not answered" in texts(trail_blocks(stopped, "m").blocks)
    chunks = task_chunks(states()[3], stopped)
    assert [c["status"] for c in chunks if c["type"] == "task_update"] == ["error"] * 10
    assert "Stopped by sam" in chunks[-1]["text"]


def test_after_a_restart_the_trail_is_what_it_was() -> None:
    kept = looks()[:5]
    rebuilt = TrailState.of(TITLE, kept, stop=7).noting("I was restarted and go on.")
    assert [one.cite for one in rebuilt.items] == ["E1", "E2", "E3", "E4", "E5"]
    assert "I was restarted and go on." in texts(trail_blocks(rebuilt, "m").blocks)
    asked = rebuilt.after(Asking(tuple(look.probe for look in looks()[5:7] if look.probe)))
    assert [one.id for one in asked.items] == [f"look-{n}" for n in range(1, 8)]
    assert asked.after(Learned(looks()[6])).items[6].status == "complete"


def test_the_same_trouble_is_told_once() -> None:
    lost = [replace(look, facts=None, trouble="no route to host") for look in looks()[:3]]
    state = TrailState.of(TITLE, lost)
    assert [one.said for one in state.items] == [
        "no route to host",
        *["the same trouble as above"] * 2,
    ]


def test_the_mark_is_on_the_first_block_of_a_message_and_of_a_stream() -> None:
    state = states()[2]
    assert trail_blocks(state, "psl:run:7:trail:3").blocks[0]["block_id"] == "psl:run:7:trail:3"
    first = task_chunks(None, state, "psl:run:7:trail")[0]
    assert first["type"] == "blocks"
    assert first["blocks"][0]["block_id"] == "psl:run:7:trail"
    assert first["blocks"][-1]["elements"][0]["action_id"] == "stop"


def test_a_stream_is_told_only_what_changed() -> None:
    made = states()
    chunks = task_chunks(made[2], made[3])
    assert [c["type"] for c in chunks] == ["plan_update", "task_update"]
    assert chunks[1]["id"] == "look-2"
    assert chunks[1]["status"] == "complete"
    assert task_chunks(made[3], made[3]) == []


def test_a_stream_told_in_steps_or_at_once_shows_the_same() -> None:
    made = states()
    for skip in (1, 3, len(made)):
        tasks: dict[str, Any] = {}
        chunks: list[Any] = []
        before = None
        for after in [*made[:-1:skip], made[-1]]:
            chunks += task_chunks(before, after, "m")
            before = after
        for chunk in chunks:
            assert chunk_fault(chunk) is None, chunk
            if chunk["type"] == "task_update":
                tasks[chunk["id"]] = chunk
        assert [task["status"] for task in tasks.values()].count("error") == 1
        assert len(tasks) == 17
        assert tasks["look-3"]["title"].startswith("The serve log · ")
        assert tasks["look-3"]["output"].startswith("170 decode")


def test_a_whole_investigation_fits_a_stream() -> None:
    from bot.demo.workspace.stream import _weight

    made = states()
    chunks = task_chunks(None, made[0], "m")
    for before, after in pairwise(made):
        chunks += task_chunks(before, after)
    assert sum(map(_weight, chunks)) < 8000


def test_a_trail_mentions_nobody_and_links_nowhere() -> None:
    items = tuple(
        Item(f"look-{n}", HOSTILE, "complete", said=HOSTILE * 50, cite="E1") for n in range(40)
    )
    state = TrailState(HOSTILE, items, meaning=(HOSTILE,), note=HOSTILE)
    blocks = json.dumps(trail_blocks(state, "m").blocks)
    assert not re.search(
        r'"type": "(?:link|user|broadcast|usergroup|channel|mrkdwn|markdown)"', blocks
    )
    spoken = [trail_blocks(state, "m").text]
    for chunk in task_chunks(None, state, "m")[1:]:
        assert chunk_fault(chunk) is None
        spoken += [chunk[name] for name in ("title", "output", "text") if name in chunk]
    made = slack_makes_of({"text": spoken[0], "chunks": task_chunks(None, state, "m")})
    assert made.mentions == made.links == []
    for text in spoken:
        assert not re.search(r"[<>]|://|@\w|\]\(|\w\.[a-z]{2}", text), text


TEXT = st.one_of(st.text(max_size=400), st.just(HOSTILE * 30), st.just("🔥" * 900))
ITEM = st.builds(
    Item,
    id=st.integers(1, 9999).map(lambda n: f"look-{n}"),
    title=TEXT,
    status=st.sampled_from(["pending", "in_progress", "complete", "error"]),
    said=TEXT,
    cite=st.sampled_from(["", "E1", "E999"]),
    took_s=st.none() | st.floats(0, 1e5),
)


@settings(max_examples=100, deadline=None)
@given(st.builds(
    TrailState, title=TEXT, items=st.lists(ITEM, max_size=150).map(tuple),
    meaning=st.lists(TEXT, max_size=30).map(tuple), note=TEXT, ended=st.booleans(), stop=st.none() | st.just(7),
))  # fmt: skip
def test_any_trail_is_within_all_limits(state: TrailState) -> None:
    rendered: Rendered = trail_blocks(state, "psl:run:7:trail")
    assert faults_of(rendered.blocks) == []
    assert visible_text(rendered.blocks) < 10_500
    assert 0 < len(rendered.text) <= 3000
    assert len(rendered.blocks) <= 6
    for chunk in task_chunks(None, state, "psl:run:7:trail"):
        assert chunk_fault(chunk) is None, chunk
        if chunk["type"] == "blocks":
            assert faults_of(chunk["blocks"]) == []


@pytest.mark.parametrize("count", [1, 12, 13])
def test_only_what_is_beyond_twelve_folds(count: int) -> None:
    items = tuple(
        Item(f"look-{n}", f"Look {n}", "complete", said="said", cite=f"E{n}") for n in range(count)
    )
    shown = texts(trail_blocks(TrailState(TITLE, items), "m").blocks)
    assert shown.count("— said") == min(count, 12)


def test_a_remark_about_the_planning_is_a_line_under_the_looks() -> None:
    text = "The model does not answer (timed out): the playbook goes on without it."
    noted = states()[-2].after(Noted(text))
    assert noted.meaning == (text,)
    assert text in json.dumps(trail_blocks(noted, "m").blocks)
    assert text in json.dumps(task_chunks(states()[-2], noted))


def test_a_look_of_a_model_that_brought_no_answer_waits_no_longer() -> None:
    probe = PROBES["ReadStorage"]()
    asked = states()[-2].after(Asking((probe,)))
    noted = asked.after(Noted("The disks: no answer.", probe))
    assert [one.status for one in asked.items][-1] == "in_progress"
    assert (noted.items[-1].status, noted.items[-1].said) == ("error", "not answered")
    assert noted.meaning == asked.meaning
