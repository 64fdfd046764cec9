"""The bot as a process: it says what it lacks, drains when it is told to end, and keeps its tokens."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import BOT_USER, FakeSlack
from tests.fakes.process import ROOT, BotProcess

QUESTION = "why is CT129 slow? 55 tok/s now, it was 70"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack(rates=False) as slack:
        yield slack


def _ends(environ: dict[str, str], *arguments: str) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLACK_")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bot", "bot", *arguments],
        cwd=ROOT,
        env={**kept, **environ},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stderr.strip()


def test_without_tokens_it_says_which_and_where_they_are_found() -> None:
    status, told = _ends({})
    assert status == 2
    assert told.count("\n") == 0
    assert "SLACK_BOT_TOKEN and SLACK_APP_TOKEN must be set" in told
    assert "docs/slack.md" in told


def test_a_wrong_address_to_listen_on_is_one_sentence() -> None:
    environ = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s"}
    status, told = _ends(environ, "--http", "3000")
    assert (status, "HOST:PORT" in told) == (2, True)


def test_a_token_that_slack_does_not_take_is_one_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    environ = {**slack.environment(), "SLACK_BOT_TOKEN": "xoxb-wrong-1234567890"}
    environ["PERFSLEUTH_DATABASE_URL"] = f"sqlite:///{tmp_path / 'bot.sqlite'}"
    status, told = _ends(environ)
    assert status == 2
    assert "Slack does not take SLACK_BOT_TOKEN (invalid_auth)" in told
    assert "wrong-1234567890" not in told


def test_a_database_that_cannot_be_opened_is_one_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    place = tmp_path / "bot.sqlite"
    place.write_text("this is no database, but a text of some length\n" * 20)
    environ = {**slack.environment(), "PERFSLEUTH_DATABASE_URL": f"sqlite:///{place}"}
    status, told = _ends(environ)
    assert status == 2
    assert "Traceback" not in told
    assert str(place) in told


def test_a_port_that_is_taken_is_one_sentence(slack: FakeSlack, tmp_path: Path) -> None:
    environ = {
        **slack.environment(),
        "PERFSLEUTH_DATABASE_URL": f"sqlite:///{tmp_path / 'b.sqlite'}",
    }
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, told = _ends(environ, "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert status == 2
    assert "cannot be listened on" in told.splitlines()[-1]


def test_it_drains_and_ends_with_0_when_it_is_told_to(slack: FakeSlack, tmp_path: Path) -> None:
    with BotProcess(slack, tmp_path) as bot:
        bot.until_logged("up: @perfsleuth in Lab, 1 host, Socket Mode")
        asked = slack.mention(QUESTION)
        slack.until(lambda: slack.replies("gpu", asked.ts))
        assert bot.end() == 0
        replies = slack.replies("gpu", asked.ts)
        assert len([one for one in replies if "It costs prefill" in one.text]) <= 1
        assert "stopped" in bot.log
        assert "Traceback" not in bot.log
        assert "xoxb-" not in bot.log
        assert "xapp-" not in bot.log
        assert "ticket=" not in bot.log


def test_a_second_signal_ends_it_at_once(slack: FakeSlack, tmp_path: Path) -> None:
    """Something runs, for which it would wait: a host that never greets."""
    config = tmp_path / "ssh_config"
    hosts = f'[hosts.CT129]\nssh = "mute"\nssh_config = "{config}"\n'
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        BotProcess(slack, tmp_path, hosts) as bot,
    ):
        config.write_text(f"Host mute\n  HostName 127.0.0.1\n  Port {mute.getsockname()[1]}\n")
        slack.mention(QUESTION)
        mute.accept()[0].detach()
        assert bot.process
        bot.process.send_signal(signal.SIGTERM)
        bot.until_logged("stopping")
        assert bot.end(signal.SIGINT) == 130


def test_while_slack_is_away_it_waits_and_can_be_ended(slack: FakeSlack, tmp_path: Path) -> None:
    slack.faults.outage(600)
    bot = BotProcess(slack, tmp_path).start(wait=False)
    try:
        bot.until_logged("Slack does not answer yet")
        slack.faults.over()
        slack.connected()
        bot.until_logged("up: ")
        assert bot.end() == 0
        slack.faults.outage(600)
        before = bot.log.count("Slack does not answer yet")
        bot.start(wait=False)
        slack.until(lambda: bot.log.count("Slack does not answer yet") > before)
        assert bot.end() == 0
    finally:
        bot.__exit__()


def test_what_was_asked_while_it_was_down_is_found_after_the_start(
    slack: FakeSlack, tmp_path: Path
) -> None:
    with BotProcess(slack, tmp_path) as bot:
        first = slack.mention("help")
        slack.until(lambda: slack.replies("gpu", first.ts))
        assert bot.end() == 0
        missed = slack.say_silently("gpu", "ana", f"<@{BOT_USER}> help")
        bot.start()
        slack.until(lambda: slack.replies("gpu", missed.ts))
        assert len(slack.replies("gpu", first.ts)) == 1


def test_two_bots_of_one_name_do_not_share_a_database(slack: FakeSlack, tmp_path: Path) -> None:
    with BotProcess(slack, tmp_path) as bot:
        bot.until_logged("up: ")
        environ = {
            **slack.environment(),
            "PERFSLEUTH_DATABASE_URL": f"sqlite:///{bot.database}",
            "PERFSLEUTH_HOSTS": str(tmp_path / "hosts.toml"),
        }
        status, told = _ends(environ)
        assert status == 2
        assert "Traceback" not in told


def test_signed_http_answers_as_socket_mode_does(slack: FakeSlack, tmp_path: Path) -> None:
    hosts = '[hosts.CT129]\ncase = "{root}/bot/demo/ct129.json"\n'
    bot = BotProcess(slack, tmp_path, hosts, "--http", "127.0.0.1:0", SLACK_APP_TOKEN="")
    bot.start(wait=False)
    try:
        bot.until_logged("HTTP on port ")
        (port,) = re.findall(r"HTTP on port (\d+)", bot.log)
        slack.events_to(f"http://127.0.0.1:{port}/slack/events")
        asked = slack.mention(QUESTION)
        slack.until(lambda: len(slack.replies("gpu", asked.ts)) >= 2)
        assert bot.end() == 0
    finally:
        bot.__exit__()
