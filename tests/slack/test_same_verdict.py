"""The same evidence gives the same verdict, whether it is asked for in Slack or in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeSlack, Message
from tests.fakes.process import ROOT, BotProcess
from tests.lab.sshd import Lab
from tests.soak.threads import kinds, marks, text_of

CASES = ROOT / "tests" / "scenarios" / "dev"
TEN = sorted(path.name for path in CASES.iterdir() if path.is_dir())[::8][:10]
QUESTION = "prefill on lab is slow, it does 55 tok/s, it was 70. pcie?"
HOSTS = """[hosts.lab]
ssh = "lab"
ssh_config = "{config}"
port = 1  # none: the lab's host is this machine, on which others may be testing servers of theirs
"""


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory, lab: Lab) -> Iterator[BotProcess]:
    hosts = HOSTS.format(config=lab.config)
    with FakeSlack() as slack, BotProcess(slack, tmp_path_factory.mktemp("bot"), hosts) as bot:
        yield bot


def verdict_in(slack: FakeSlack, asked: Message) -> str:
    """Return the first block of the verdict card: its headline."""
    slack.until(lambda: kinds(slack, asked)["verdict"])
    card = next(m for m in slack.replies(asked.channel, asked.ts) if ":verdict" in marks(m))
    return " ".join(text_of(card.blocks[:2]).split())


def in_the_terminal(*arguments: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "bot", *arguments, "--json"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout)["verdict"])


def spaced(text: str) -> str:
    """Read shares as a person does, which is how they are shown."""
    return " ".join(text.replace("%", " %").split()).rstrip(".")


def test_a_mention_of_a_host_over_ssh_gives_the_verdict_of_the_terminal(
    bot: BotProcess, lab: Lab, tmp_path: Path
) -> None:
    lab.mood("gen1_busy")
    hosts = tmp_path / "hosts.toml"
    hosts.write_text(HOSTS.format(config=lab.config))
    told = in_the_terminal("ask", QUESTION, PERFSLEUTH_HOSTS=str(hosts))
    assert told["cause"] == "pcie_gen_low_under_load"
    shown = verdict_in(bot.slack, bot.slack.mention(QUESTION))
    assert spaced(told["headline"]) in spaced(shown)
    assert "Hardware" in shown


@pytest.mark.parametrize("name", TEN)
def test_an_uploaded_case_gives_the_verdict_of_diagnose(bot: BotProcess, name: str) -> None:
    files = sorted((CASES / name / "evidence").iterdir())
    question = (CASES / name / "question.txt").read_text().strip()
    told = in_the_terminal("diagnose", *map(str, files), "--question", question)
    given = [(path.name, path.read_bytes()) for path in files]
    asked = bot.slack.say("@sam", "sam", bot.slack.typed(question), files=given)
    shown = verdict_in(bot.slack, asked)
    headline = spaced(told["headline"].removeprefix("This cannot be decided from what was seen: "))
    assert headline in spaced(shown)
