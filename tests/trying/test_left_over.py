"""What a command that was killed left open in its store does not hold the host for ever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bot.store import Run, Store
from bot.trying.carried import _HERE, _began, _end_left_over, _myself


def holding(store: Store, thread: str, channel: str = _HERE) -> Run:
    run = store.runs.add(
        f"try:{thread}:{channel}", "experiment", host=f"host-{thread}-{channel}", port=1, channel=channel, thread=thread, user="u"
    )  # fmt: skip
    assert run
    store.experiments.take(run.host or "", 1, run.id)
    return run


def test_a_killed_command_gives_its_host_back_to_the_next_one(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'try.sqlite'}")
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    named = f"{gone.pid}:{_began(str(gone.pid))}"
    dead, other = holding(store, named), holding(store, f"{gone.pid}:1")
    mine, elsewhere = holding(store, _myself()), holding(store, "1.1", "CGPU")
    _end_left_over(store)
    assert store.experiments.holder(dead.host or "", 1) == dead.id, "it still runs"
    assert store.experiments.holder(other.host or "", 1) is None, "another process of that number"
    gone.kill()
    gone.communicate()
    _end_left_over(store)
    assert store.experiments.holder(dead.host or "", 1) is None
    for run in (mine, elsewhere):
        assert store.experiments.holder(run.host or "", 1) == run.id
    store.close()


def test_a_word_that_is_no_process_has_not_begun() -> None:
    for word in ("", "x", "-1", "999999999"):
        assert _began(word) == ""
