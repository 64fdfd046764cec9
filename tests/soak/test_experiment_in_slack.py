"""The whole bot, killed with -9 while a server is restarted: it goes on, and tells the result once, in its thread."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot.letter import Letter
from bot.narrator import Line
from bot.store import Run, Store
from tests.change.engine import StandIn, keepers, stand_in
from tests.fakes import FakeSlack, Message
from tests.fakes.process import BotProcess
from tests.lab.sshd import wait_for
from tests.soak.threads import kinds, text_of
from tools.change import Bounds, Change, Edit, KeepRule

pytestmark = pytest.mark.long

SLOW = "--disable-cuda-graph"  # of the stand-in: steps take twice as long
BOUNDS = Bounds(drain_s=10, stop_s=20, ready_s=60, silence_s=90, whole_s=900)


def accepted(folder: Path, server: StandIn, asked: Message) -> Run:
    """Put an approved change into the database, as the desk does."""
    change, edit = Change(unset=("disable_cuda_graph",)), Edit(drop=(SLOW,), takes=0)
    keep = KeepRule(goal="decode", better_pct=10)
    told = server.proposal(edit, change=change, keep=keep, repeats=2, bounds=BOUNDS, host="local")
    store = Store.open(f"sqlite:///{folder / 'bot.sqlite'}")
    where = {"channel": asked.channel, "thread": asked.ts, "user": asked.user}
    made = store.runs.add("propose", "proposal", host="local", state="done", **where)
    run = store.runs.add("try", "experiment", host="local", port=server.port, **where)
    assert made
    assert run
    offer = store.proposals.add(made.id, told, lives_s=600, **where)
    assert store.proposals.approve(offer.id, told.digest, asked.user)
    store.proposals.begun(offer.id, run.id)
    place = {"channel": asked.channel, "thread": asked.ts, "run": run.id}
    title = (Line("lead", f"Changing local: without {SLOW}"),)
    store.letters.add(Letter(key=f"run:{run.id}:trail", kind="trail", parts=title, **place))
    store.close()
    return run


def phase_of(folder: Path, run: Run) -> str:
    store = Store.open(f"sqlite:///{folder / 'bot.sqlite'}")
    try:
        record = store.experiments.load(run.id)
        return record.phase if record else ""
    finally:
        store.close()


def test_killed_and_started_again_it_ends_as_it_would_have(tmp_path: Path) -> None:
    with FakeSlack() as slack, stand_in(tmp_path / "server", SLOW) as server:
        asked = slack.mention("hello", slack.world.add_channel("gpu").id, "sam")
        run = accepted(tmp_path, server, asked)
        bot = BotProcess(slack, tmp_path, "[hosts.local]\nlocal = true\n")
        with bot:
            wait_for(lambda: phase_of(tmp_path, run) == "starting", "it never began", 240)
            bot.kill()
            bot.start()
            wait_for(lambda: kinds(slack, asked)["verdict"] == 1, bot.log_file.name, 400)
            time.sleep(3)  # for a second one, if there were one
            said = kinds(slack, asked)
            replies = slack.replies(asked.channel, asked.ts)
            told = " ".join(text_of(one.blocks) for one in replies)
            assert (said["trail"], said["verdict"]) == (1, 1), said
            assert phase_of(tmp_path, run) == "kept", told
            assert "Kept on local port" in told
            assert "I was restarted and go on." not in told
            assert len(server.pids()) == 1
            assert server.serves()
            assert SLOW not in [word.decode() for word in server.start()[0]]
            wait_for(lambda: not keepers(server.port), "the keeper does not leave")
            assert "Traceback" not in bot.log
            (tmp_path / "told.txt").write_text(told)
