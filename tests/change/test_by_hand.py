"""Where no change may restart a server, a person gets the lines that do it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.change import Change, Edit
from tools.change.by_hand import by_hand
from tools.engine import Launcher
from tools.host import Output
from tools.probes.launcher import ReadLauncher

GOLDEN = Path(__file__).parents[1] / "golden/ReadLauncher"
CHANGE = Change(set={"max_running_requests": 64}, unset=("tp_size",), env={"NCCL_DEBUG": "WARN"})
EDITS = (
    Edit(drop=("--max-running-requests",), add=("--max-running-requests", "64")),
    Edit(drop=("--tp-size", "--tp")),
)


def seen(name: str) -> Launcher:
    return ReadLauncher().read(Output(stdout=(GOLDEN / f"{name}.out").read_text()))


def lines(name: str) -> str:
    return "\n".join(by_hand(seen(name), CHANGE, EDITS))


READ = [path for path in sorted(GOLDEN.glob("*.json")) if '"error"' not in path.read_text()]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_whatever_holds_the_server_up_there_is_a_way_and_it_names_the_change(path: Path) -> None:
    text = lines(path.stem)
    assert "take out: --tp-size" in text
    assert "--max-running-requests 64" in text
    assert "NCCL_DEBUG=WARN" in text
    assert "stand-in-key" not in text


def test_a_pod_is_changed_at_the_workload_that_made_it() -> None:
    text = lines("kubernetes_pod")
    assert "get pod sglang-7d9c6b5f4-x2x8l -o jsonpath" in text
    assert "set env deployment/NAME NCCL_DEBUG=WARN" in text
    assert "rollout undo" in text


def test_a_job_is_submitted_anew_and_can_be_taken_back() -> None:
    text = lines("slurm_batch_job")
    assert "scontrol write batch_script 48213 old.sh" in text
    assert "scancel 48213 && sbatch new.sh" in text


def test_supervisors_are_told_in_their_own_words() -> None:
    assert "supervisorctl update" in lines("supervised_supervisord")
    assert "sv restart sglang" in lines("supervised_runit")
    assert "/srv/sglang/run.sh" in lines("supervised_shell_loop")


def test_the_whole_command_line_afterwards_is_told_without_secrets() -> None:
    last = by_hand(seen("plain_nohup"), CHANGE, EDITS)[-2:]
    assert last[0].endswith("--max-running-requests 64")
    assert "--tp" not in last[0]
    assert "--api-key <dropped>" in last[0]
    assert "it is not shown" in last[1]
