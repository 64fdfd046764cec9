"""The whole: a person asks in a fake Slack, the bot is a process, and the thread tells the story."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.demo import shipped
from bot.investigate import conclude
from bot.question import Question
from tests.fakes import FakeSlack, faults_of, rendered
from tests.fakes.process import BotProcess
from tools.probes import PROBES

QUESTION = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as slack:
        yield slack


@pytest.fixture(scope="module")
def going(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BotProcess]:
    """A bot that goes on from test to test."""
    # a command that is acknowledged late is never sent again
    with FakeSlack(ack_s=60.0) as slack, BotProcess(slack, tmp_path_factory.mktemp("going")) as bot:
        yield bot


def _story(slack: FakeSlack, asked: Any, count: int = 2, within_s: float = 60) -> list[Any]:
    """Wait for so many messages with blocks or text; files are left out."""

    def told() -> list[Any]:
        replies = [one for one in slack.replies("gpu", asked.root) if one.is_ours and not one.files]
        return replies if len(replies) >= count else []

    return slack.until(told, within_s)  # type: ignore[no-any-return]


def _headline() -> str:
    case = shipped()
    end = conclude(Question.of(QUESTION, ["CT129"]), case.evidence(PROBES))
    return end.verdict.headline


def test_a_mention_gives_a_trail_the_verdict_of_the_terminal_and_a_chart(
    slack: FakeSlack, tmp_path: Path
) -> None:
    with BotProcess(slack, tmp_path) as bot:
        asked = slack.mention(QUESTION)
        trail, verdict, *_ = _story(slack, asked)
        understood = "Looking at CT129. You ask about decode: 55 tok/s now, 70 remembered."
        # a stream has no text until it ends
        slack.until(lambda: trail.text.startswith(understood))
        assert _headline() in verdict.text
        assert "It will not be 70." in verdict.text
        slack.until(lambda: [one for one in slack.replies("gpu", asked.ts) if one.files])
        slack.until(lambda: "stop" not in json.dumps(trail.shown_blocks()))
        for message in slack.replies("gpu", asked.ts):
            if message.is_ours:
                seen = rendered(message)
                assert seen.mentions == []
                assert all("archives" in str(link) for link in seen.links), "links to our own looks"
                if message.shown_blocks():
                    assert not faults_of(message.shown_blocks())
        loose = [one for one in slack.messages("gpu") if one.thread_ts in (None, one.ts)]
        assert loose == [asked], "a channel sees one thread"
        assert bot.end() == 0
        assert "fault" not in bot.log


def test_the_thread_goes_on_with_questions_clicks_and_files(going: BotProcess) -> None:
    slack = going.slack
    asked = slack.mention(QUESTION)
    _, verdict, *_ = _story(slack, asked)
    slack.say("gpu", "ana", "why not NCCL?", thread_ts=asked.ts)
    *_, answer = _story(slack, asked, 4)  # after the verdict comes what set which flag
    assert "NCCL" in answer.text
    slack.say("gpu", "ana", "ok will do, thanks bob", thread_ts=asked.ts)
    slack.press("gpu", verdict.ts, "show_evidence", "sam")
    slack.until(
        lambda: [
            file
            for one in slack.replies("gpu", asked.ts)
            for file in one.files
            if "evidence" in file["name"]
        ],
        20,
    )
    slack.press("gpu", verdict.ts, "check_again", "sam")
    _story(slack, asked, 7)

    def hosts_told() -> str:
        hosts = slack.command("/perf hosts", "gpu", "ana")
        slack.until(lambda: hosts.acked)
        said = json.dumps(hosts.answer)
        return "" if "too long just now" in said else said  # it gives up before Slack would

    told = slack.until(hosts_told)
    assert "CT129: " in told
    assert "never asked about" not in told
    time.sleep(1.5)  # what must not come has had its time
    assert len(_story(slack, asked, 7)) == 7
    assert going.process
    assert going.process.poll() is None


def test_a_direct_question_without_a_host_is_about_the_only_one(going: BotProcess) -> None:
    slack = going.slack
    asked = slack.say("@sam", "sam", "why is it slow?")
    slack.until(lambda: len(slack.replies("@sam", asked.ts)) >= 2)
    trail = slack.replies("@sam", asked.ts)[0]
    slack.until(lambda: "CT129" in trail.text)  # a stream has no text until it ends


def test_an_uploaded_log_and_a_pasted_one_are_judged(going: BotProcess) -> None:
    slack = going.slack
    log = "\n".join(
        f"[2026-01-01 10:00:{n:02d}] Decode batch. #running-req: 1, #token: 900, token usage: 0.01, "
        f"accept len: 3.20, cuda graph: True, gen throughput (token/s): {55 + n % 3}.00, #queue-req: 0, "
        for n in range(40)
    )
    asked = slack.mention("what is wrong with this log?", files=[("serve.log", log.encode())])
    _, uploaded, *_ = _story(slack, asked)
    pasted_at = slack.mention(f"what is wrong with this log?\n```{log}```")
    _, pasted, *_ = _story(slack, pasted_at)
    assert uploaded.text.splitlines()[0] == pasted.text.splitlines()[0]


@pytest.mark.parametrize("after_s", [0.0, 0.4, 1.4])  # the soak has twenty at random
def test_a_bot_that_is_killed_answers_once_after_its_start(
    slack: FakeSlack, tmp_path: Path, after_s: float
) -> None:
    bot = BotProcess(slack, tmp_path).start()
    try:
        asked = slack.mention(QUESTION)
        slack.until(lambda: slack.record.events("app_mention")[0].acked)
        time.sleep(after_s)
        bot.kill()
        bot.start()
        trail, verdict, _set_by = _story(slack, asked, 3)
        slack.until(lambda: "stop" not in json.dumps(trail.shown_blocks()))
        slack.until(lambda: [one for one in slack.replies("gpu", asked.ts) if one.files])
        time.sleep(2.5)  # what must not come has had its time
        assert len(_story(slack, asked, 3)) == 3
        assert _headline() in verdict.text
        assert len([one for one in slack.replies("gpu", asked.ts) if one.files]) == 1
    finally:
        bot.__exit__()


def test_each_of_many_events_is_answered_once_though_they_double_and_sockets_drop(
    tmp_path: Path,
) -> None:
    with FakeSlack(rates=False, ack_s=1.0, retry_after_s=(0.0, 1.0, 4.0)) as slack:
        channels = [slack.world.add_channel(f"c{n}").id for n in range(10)]
        slack.faults.cut_socket_every(15)
        with BotProcess(slack, tmp_path):
            asked = []
            for number in range(40):
                asked.append(slack.mention("help", channel=channels[number % 10]))
                if number % 3 == 0:
                    slack.again(slack.record.events("app_mention")[-1])
                time.sleep(0.01)
            for one in asked:
                slack.until(lambda one=one: slack.replies(one.channel, one.ts))
            time.sleep(2)
            assert {len(slack.replies(one.channel, one.ts)) for one in asked} == {1}
