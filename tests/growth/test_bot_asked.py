"""The bot as a process is asked by a monitor: alive, Slack away, and what it has counted."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

from tests.fakes import FakeSlack
from tests.fakes.process import BotProcess
from tests.lab.sshd import free_port


def asked(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as why:
        return why.code, why.read().decode()
    except OSError:
        return 0, ""


def test_a_monitor_sees_the_bot_live_lose_slack_and_count_its_verdicts(tmp_path: Path) -> None:
    port = free_port()
    with FakeSlack() as slack:
        bot = BotProcess(
            slack, tmp_path, PERFSLEUTH_METRICS=f"127.0.0.1:{port}", PERFSLEUTH_LOG="json"
        )
        with bot:
            slack.until(lambda: asked(port, "/healthz") == (200, "ok\n"))
            slack.mention("why is CT129 slow?", "gpu", "sam")
            slack.until(
                lambda: (
                    'perfsleuth_runs_total{kind="host",state="done"} 1.0'
                    in asked(port, "/metrics")[1]
                )
            )
            text = asked(port, "/metrics")[1]
            assert "perfsleuth_verdicts_total{category=" in text
            assert 'perfsleuth_look_seconds_count{outcome="answered"}' in text
            bot_log = [json.loads(line) for line in bot.log.splitlines()]
            assert {"at", "level", "logger", "message"} <= bot_log[0].keys()
            slack.run(slack.workspace.stop)
            slack.until(lambda: asked(port, "/healthz")[0] == 503)
            assert asked(port, "/healthz")[1].startswith("Slack is not connected")
            assert asked(port, "/livez")[0] == 200
            bot.kill()
            slack.run(slack.workspace.start)
