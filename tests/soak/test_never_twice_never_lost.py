"""Slow: run by `make soak`. A crowd of questions, cut sockets, kills at random moments; each answered once."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

from bot.demo import shipped_path
from tests.fakes import FakeSlack, Message
from tests.fakes.process import BotProcess
from tests.lab.sshd import Lab
from tests.soak.threads import kinds, text_of

CHANNELS = 20
EVENTS = 1000
DUPLICATES = 0.3
KILLS = 20
QUESTIONS = (
    "why is {host} slow? it does 55 tok/s, it was 70",
    "don't leave perf on the table on {host}. cuda graphs? nccl?",
    "prefill on {host} is half of last week's",
    "is the pcie link of {host} fine?",
)
LIMITS = "[limits]\nopen_per_user = 1000\nopen_per_channel = 1000\nper_hour = 100000\n"


def of_the_past(count: int) -> str:
    """Return a hosts.toml with hosts that answer from the shipped case."""
    case = shipped_path("ct129")
    return LIMITS + "".join(f'[hosts.CT{100 + n}]\ncase = "{case}"\n' for n in range(count))


def test_a_thousand_events_with_duplicates_and_cut_sockets_are_each_answered_once(
    tmp_path: Path,
) -> None:
    chance = random.Random(7)
    with FakeSlack() as slack:
        channels = [slack.world.add_channel(f"team{n:02}").id for n in range(CHANNELS)]
        bot = BotProcess(slack, tmp_path, of_the_past(8))
        bot.start()
        slack.faults.cut_socket_every(20)  # 5 % of what is sent
        asked: list[Message] = []
        for number in range(int(EVENTS * (1 - DUPLICATES))):
            text = chance.choice(QUESTIONS).format(host=f"CT{100 + number % 8}")
            asked.append(slack.mention(text, channels[number % CHANNELS], "sam"))
            time.sleep(0.02)
        for delivery in chance.sample(slack.record.deliveries, int(EVENTS * DUPLICATES)):
            slack.again(delivery)
        wait_for_verdicts(slack, asked, 600)
        time.sleep(10)  # for a second answer, if there were one
        assert_each_answered_once(slack, asked)
        assert bot.end() == 0
        assert "Traceback" not in bot.log


def test_killed_at_twenty_random_moments_no_answer_is_lost_or_doubled(
    tmp_path: Path, lab: Lab
) -> None:
    chance = random.Random(11)
    lab.mood("gen1_busy")
    real = f'[hosts.lab]\nssh = "lab"\nssh_config = "{lab.config}"\n'
    with FakeSlack() as slack:
        channels = [slack.world.add_channel(f"team{n}").id for n in range(6)]
        bot = BotProcess(slack, tmp_path, of_the_past(4) + real)
        asked: list[Message] = []
        for _ in range(KILLS):
            bot.start()
            for _ in range(3):
                host = chance.choice(["lab", "lab", "CT100", "CT101", "CT102", "CT103"])
                text = chance.choice(QUESTIONS).format(host=host)
                asked.append(slack.mention(text, channels[len(asked) % 6], "sam"))
                time.sleep(chance.uniform(0, 0.4))
            time.sleep(chance.uniform(0, 4))
            bot.kill()
        bot.start()
        wait_for_verdicts(slack, asked, 300)
        slack.until(lambda: not any(goes_on(slack, one) for one in asked), 120)
        time.sleep(8)
        assert_each_answered_once(slack, asked)
        for one in asked:
            trail = slack.replies(one.channel, one.ts)[0]
            assert not goes_on(slack, one), text_of(trail.shown_blocks())
        assert bot.end() == 0


def goes_on(slack: FakeSlack, asked: Message) -> bool:
    """Say whether its trail looks as if somebody were still at it."""
    trail = slack.replies(asked.channel, asked.ts)[0]
    streams = trail.stream is not None and trail.stream.state == "in_progress"
    return streams or "stop" in actions_of(trail)


def wait_for_verdicts(slack: FakeSlack, asked: list[Message], within_s: float) -> None:
    ends_at = time.monotonic() + within_s
    while missing := [one for one in asked if not kinds(slack, one)["verdict"]]:
        assert time.monotonic() < ends_at, f"{len(missing)} of {len(asked)} have no verdict"
        time.sleep(0.5)


def assert_each_answered_once(slack: FakeSlack, asked: list[Message]) -> None:
    """A trail and a verdict each, and at most one chart and one word on what set the flags beside them."""
    said = Counter(frozenset(kinds(slack, one).items()) for one in asked)
    once, beside = {("trail", 1), ("verdict", 1)}, {("file", 1), ("set-by", 1)}
    assert all(once <= each <= once | beside for each in said), said


def actions_of(message: Message) -> list[str]:
    return [
        str(element.get("action_id"))
        for block in message.shown_blocks()
        if block.get("type") == "actions"
        for element in block["elements"]
    ]
