"""A morning as a whole: the bot is a process, the summary stands in the channel, and people ask on below it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fakes import FakeSlack, faults_of
from tests.fakes.process import BotProcess

HOSTS = (
    '[hosts.CT129]\ncase = "{root}/bot/demo/ct129.json"\n'
    '[hosts.CT130]\ncase = "{root}/bot/demo/ct130.json"\n'
)


def test_a_summary_is_told_by_command_and_its_thread_answers(tmp_path: Path) -> None:
    # a command that is acknowledged late is never sent again
    with FakeSlack(ack_s=60.0) as slack, BotProcess(slack, tmp_path, HOSTS) as bot:
        bot.until_logged("up: ")
        command = slack.command("/perf health", "gpu", "ana")
        slack.until(lambda: command.acked)
        assert "I look at 2 hosts" in json.dumps(command.answer)
        (top,) = slack.until(lambda: [one for one in slack.messages("gpu") if one.is_ours], 60)
        assert "1 of 2 needs attention: CT129" in top.text
        assert not faults_of(top.shown_blocks())
        slack.until(lambda: [one for one in slack.replies("gpu", top.ts) if one.ts != top.ts], 30)
        slack.press("gpu", top.ts, "know", "ana", value=_value(top.shown_blocks()))
        slack.until(
            lambda: [
                one for one in slack.replies("gpu", top.ts) if "you know of CT129" in one.text
            ],
            30,
        )
        slack.say("gpu", "sam", "why CT129?", thread_ts=top.ts)
        slack.until(lambda: [one for one in slack.replies("gpu", top.ts) if "Gen1" in one.text], 60)
        assert bot.end() == 0
        assert "fault" not in bot.log


def test_a_summary_of_hosts_toml_is_told_once_over_kills_and_restarts(tmp_path: Path) -> None:
    at = datetime.now(UTC) - timedelta(minutes=5)
    hosts = f'{HOSTS}[[summaries]]\nchannel = "C0GPU00001"\nat = "{at:%H:%M}"\nzone = "UTC"\n'
    with FakeSlack() as slack:
        with BotProcess(slack, tmp_path, hosts) as bot:
            slack.until(lambda: "is due" in bot.log, 60)
            bot.kill()
            bot.start()
            slack.until(lambda: [one for one in slack.messages("gpu") if one.is_ours], 90)
            bot.kill()
            bot.start()
            slack.until(lambda: bot.log.count("up: @") >= 3, 60)
            assert bot.end() == 0
        told = [one for one in slack.messages("gpu") if one.is_ours and "need" in one.text]
        assert len([one for one in told if one.thread_ts in (None, one.ts)]) == 1


def _value(blocks: list[dict[str, object]]) -> str:
    (element,) = blocks[-1]["elements"]  # type: ignore[misc]
    return str(element["value"])  # type: ignore[index]
