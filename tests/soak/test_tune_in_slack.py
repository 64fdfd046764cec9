"""A plan in Slack, on a stand-in that is twice as slow as it could be: asked for, approved, killed, kept, told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bot.store import Store
from tests.change.engine import KEY, SECRET, StandIn, keepers, stand_in
from tests.fakes import FakeSlack, faults_of
from tests.fakes.process import BotProcess
from tests.lab.sshd import wait_for
from tests.soak.threads import marks, text_of

pytestmark = pytest.mark.long

SLOW = "--disable-cuda-graph"
HOSTS = '[access]\napprove = ["{sam}"]\n[hosts.local]\nlocal = true\nport = {port}\n'
PLANNED_S, CARRIED_S = 120, 420


def card(slack: FakeSlack, asked: Any) -> Any:
    cards = [one for one in slack.replies(asked.channel, asked.ts) if marks(one).endswith(":card")]
    return cards[-1] if cards else None


def told(slack: FakeSlack, asked: Any) -> str:
    return "\n".join(
        text_of(one.shown_blocks()) or one.text for one in slack.replies(asked.channel, asked.ts)
    )


def experiments(folder: Path) -> list[Any]:
    store = Store.open(f"sqlite:///{folder / 'bot.sqlite'}")
    try:
        found = [run for n in range(1, 50) if (run := store.runs.get(n)) and run.kind == "experiment"]  # fmt: skip
        return [store.experiments.load(run.id) for run in found]
    finally:
        store.close()


def test_a_plan_is_approved_by_who_may_and_outlives_the_bot(tmp_path: Path) -> None:
    with FakeSlack() as slack, stand_in(tmp_path / "server", SLOW, "--enable-metrics") as server:
        hosts = HOSTS.format(sam=slack.world.user("sam").id, port=server.port)
        with BotProcess(slack, tmp_path, hosts) as bot:
            asked = slack.command("/perf tune local for decode, 30 minutes at most", "gpu", "ana")
            slack.until(lambda: asked.acked)
            root = slack.until(
                lambda: next((one for one in slack.messages("gpu") if one.is_ours), None)
            )
            shown = slack.until(lambda: card(slack, root), PLANNED_S)
            assert not faults_of(shown.shown_blocks())
            assert "without --disable-cuda-graph" in text_of(shown.shown_blocks())
            _pressed_by_ana_counts_nothing(slack, root, shown, server, tmp_path)
            slack.press("gpu", shown.ts, "approve", "sam")
            wait_for(lambda: _phase(tmp_path) == "starting", "it never began", CARRIED_S)
            bot.kill()
            bot.start()
            wait_for(
                lambda: "1 of 1 change kept." in told(slack, root), bot.log_file.name, CARRIED_S
            )
            time.sleep(3)  # for a second ledger, if there were one
            said = told(slack, root)
            assert said.count("1 of 1 change kept. Nothing that is predicted to help is left.") == 1
            assert "Change 1 of 1 on local: without --disable-cuda-graph." in said
            assert said.count("Kept on local port") == 1
            assert "Approved by" in text_of(card(slack, root).shown_blocks())
            assert len(experiments(tmp_path)) == 1
            assert SLOW not in [word.decode() for word in server.start()[0]]
            assert len(server.pids()) == 1
            assert server.serves()
            wait_for(lambda: not keepers(server.port), "the keeper does not leave")
            assert "Traceback" not in bot.log
            for text in (said, bot.log):
                assert KEY not in text
                assert SECRET not in text
            (tmp_path / "told.txt").write_text(said)


def _pressed_by_ana_counts_nothing(
    slack: FakeSlack, root: Any, shown: Any, server: StandIn, folder: Path
) -> None:
    first = server.start()
    slack.press("gpu", shown.ts, "approve", "ana")
    slack.until(lambda: _refused(folder))
    assert "You may not approve" not in told(slack, root), "ana alone is told"
    assert experiments(folder) == []
    assert server.start() == first


def _refused(folder: Path) -> bool:
    store = Store.open(f"sqlite:///{folder / 'bot.sqlite'}")
    try:
        acts = [act.outcome for act in store.audit.newest(5) if act.act == "approve"]
        return any(one.startswith("refused: You may not approve changes on local") for one in acts)
    finally:
        store.close()


def _phase(folder: Path) -> str:
    return next((one.phase for one in experiments(folder) if one), "")
