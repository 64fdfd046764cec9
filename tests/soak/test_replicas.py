"""Slow: run by `make soak-long`. Three replicas on PostgreSQL, killed at random: each question and morning told once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from bot.store import Store
from tests.fakes import FakeSlack, Message
from tests.lab.postgres import Cluster
from tests.lab.sshd import Lab
from tests.soak.compressed_days import (
    CASES,
    DAYS,
    MORNINGS,
    QUESTION,
    SETTLED_S,
    ZONE,
    Soak,
    hours_of,
    shown,
)
from tests.soak.test_never_twice_never_lost import actions_of
from tests.soak.threads import kinds, marks

pytestmark = pytest.mark.long

TAKEN_OVER_S = 60.0
ANSWER_S = 0.2  # of Slack, to a call that it has done


def test_the_days_of_the_soak_hold_an_hour_that_comes_twice_and_one_that_never_comes() -> None:
    walls = {day: [shown(at) for at in hours_of(day)] for day in DAYS}
    offsets = [datetime(d.year, d.month, d.day, 12, tzinfo=ZONE).utcoffset() for d in DAYS]
    assert sum(a != b for a, b in pairwise(offsets)) == 2
    times = {at: Counter(wall.count(at) for wall in walls.values()) for at in MORNINGS}
    assert all(of == {1: len(DAYS) - 2, 2: 1, 0: 1} for of in times.values())


def assert_answered_once(slack: FakeSlack, store: Store, asked: Sequence[Message]) -> None:
    """A trail and then a verdict each, and whatever else is said is said once; nothing seems to go on."""
    for one in asked:
        said = kinds(slack, one)
        assert (said["trail"], said["verdict"]) == (1, 1), said
        assert set(said.values()) == {1}, said
        first, *_ = slack.replies(one.channel, one.ts)
        _, run, kind = marks(first).split(":")
        assert kind == "trail"
        found = store.runs.get(int(run))
        assert found is not None
        assert found.state == "done", found
        assert first.stream is None or first.stream.state != "in_progress", found
        assert "stop" not in actions_of(first), found
        assert slack.state.session(one.channel, one.ts).status == "", found


def assert_told_once(soak: Soak) -> None:
    """One message for each channel and date, and below it each part once; nobody alive looked twice."""
    again = 0
    for channel in soak.mornings:
        messages = soak.slack.messages(channel)
        said = Counter(marks(one) or one.files[0]["name"] for one in messages)
        assert set(said.values()) == {1}, said
        tops = [int(mark.split(":")[1]) for mark in said if mark.endswith(":summary")]
        runs = [run for one in tops if (run := soak.store.runs.get(one))]
        assert [run.state for run in runs] == ["done"] * len(DAYS)
        assert sorted(run.key for run in runs) == [soak.key(channel, day) for day in DAYS]
        assert all(f"run:{one}:details-0" in said for one in tops)
        takes = [soak.store.sweeps.takes(run.id) for run in runs]
        assert {len(one) for one in takes} in ({CASES}, {CASES + 1})
        again += sum(sum(one.values()) - len(one) for one in takes)
    assert again <= sum(one.piece.kind == "host" for one in soak.left.taken)


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(answer_after_s=ANSWER_S) as slack:
        yield slack


def test_killed_at_random_for_ten_minutes_each_question_is_answered_once_and_each_morning_told_once(
    cluster: Cluster, tmp_path: Path, slack: FakeSlack, lab: Lab
) -> None:
    lab.mood("gen1_busy")
    soak = Soak(slack, tmp_path, cluster.database(), lab)
    try:
        soak.fleet.start()
        soak.run()
        soak.fleet.close()
        print(soak.told())
        assert_answered_once(slack, soak.store, soak.asked)
        assert_told_once(soak)
        assert soak.left.longest().after_s < TAKEN_OVER_S, soak.left.longest()
        others = Counter(one.piece.kind for one in soak.left.taken if one.by_another)
        assert others["run"], "nobody was killed at work and stayed away: try another SOAK_SEED"
        assert not any("Traceback" in bot.log for bot in soak.fleet.bots.values())
    finally:
        soak.close()


def test_the_work_of_a_replica_that_never_comes_back_is_taken_over_within_a_minute(
    cluster: Cluster, tmp_path: Path, slack: FakeSlack, lab: Lab
) -> None:
    lab.mood("gen1_busy")
    soak = Soak(slack, tmp_path, cluster.database(), lab)

    def at_work() -> str | None:
        held = soak.left.held().items()
        return next((name for name, of in held if any(one.mark == "running0" for one in of)), None)

    try:
        soak.fleet.start()
        asked = slack.mention(QUESTION.format(host="lab"), soak.channels[0], "sam")
        victim = slack.until(at_work, 60)
        soak.fleet.kill(victim)
        died_at = time.monotonic()
        assert "run" in {one.kind for one in soak.left.died(victim, died_at)}
        while soak.left.lying:
            soak.left.look(time.monotonic(), {victim})
            assert time.monotonic() < died_at + TAKEN_OVER_S, soak.left.lying
            time.sleep(0.05)
        print(soak.left.told())
        slack.until(lambda: kinds(slack, asked)["verdict"], SETTLED_S)
        slack.until(lambda: soak.store.letters.count_open() == 0, SETTLED_S)
        assert_answered_once(slack, soak.store, [asked])
    finally:
        soak.close()
