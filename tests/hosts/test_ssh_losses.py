"""Over a real sshd: what is lost in the middle, what is kept, and that nothing on the host outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.bench.slow_line import SlowLine
from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, alive, descendants, name_of, wait_for
from tools.batch import Batch
from tools.errors import Unreachable
from tools.hosts.local import LocalHost
from tools.hosts.ssh import SshHost

ROOT = Path(__file__).parents[2]
BOT = """
import sys
from pathlib import Path
from tests.hosts.asks import Ask
from tools.hosts.local import LocalHost
from tools.hosts.ssh import SshHost
host = SshHost("lab", config_file=Path(sys.argv[1])) if sys.argv[1] else LocalHost()
host.answer([Ask("sh", "-c", sys.argv[2], limit_s=100)])
"""


def slow(note: Path) -> str:
    """A command that tells its pid and its child's, ignores TERM and HUP, and goes on for long."""
    return f"trap '' TERM HUP INT; sleep 300 & echo $! > {note}.child; echo $$ > {note}; wait; sleep 300"


def pids(note: Path) -> list[int]:
    wait_for(lambda: note.exists() and note.read_text().strip(), f"nobody wrote {note}")
    return [int(note.read_text()), int(Path(f"{note}.child").read_text())]


def gone(numbers: list[int]) -> None:
    wait_for(lambda: not any(map(alive, numbers)), "a remote process lives on")


def test_answers_that_came_before_the_loss_are_kept(
    own_lab: Lab, tmp_path: Path, batches: list[Batch]
) -> None:
    note = tmp_path / "note"
    said = tmp_path / "said"
    quick = [Ask("echo", "quick"), Ask("sh", "-c", f"sleep 0.3; echo second; touch {said}")]
    with SshHost("lab", config_file=own_lab.config) as host:
        outputs = []
        asking = threading.Thread(
            target=lambda: outputs.extend(
                host.answer([*quick, Ask("sh", "-c", slow(note), limit_s=120)])
            )
        )
        asking.start()
        numbers = pids(note)
        wait_for(said.exists, "the second one was not answered")
        wait_for(lambda: len(batches[0]._answers) == 2, "the answers do not cross the line")
        own_lab.sshd.kill()
        asking.join(60)
        assert [output.stdout for output in outputs[:2]] == ["quick\n", "second\n"]
        assert outputs[2].status is None
        assert outputs[2].lost == "the connection to lab was lost before this was answered"
        gone(numbers)
        with pytest.raises(Unreachable, match="nothing listens"):
            host.answer(quick)
        own_lab.sshd.start()
        assert host.answer(quick)[1].stdout == "second\n", "the next question connects again"


def test_a_connection_lost_while_idle_is_made_anew(own_lab: Lab) -> None:
    with SshHost("lab", config_file=own_lab.config) as host:
        first = host.connect()
        assert host.connect() is first
        for pid in own_lab.sshd.connections():
            os.kill(pid, signal.SIGKILL)
        assert host.answer([Ask("echo", "again")])[0].stdout == "again\n"
        assert host.connect() is not first


@pytest.mark.parametrize("where", ["ssh", "local"])
def test_a_bot_killed_by_9_leaves_nothing_behind(lab: Lab, tmp_path: Path, where: str) -> None:
    note = tmp_path / "note"
    config = str(lab.config) if where == "ssh" else ""
    with subprocess.Popen([sys.executable, "-c", BOT, config, slow(note)], cwd=ROOT) as bot:
        numbers = pids(note)
        assert all(map(alive, numbers))
        bot.kill()
    gone(numbers)


def test_a_runner_killed_by_9_leaves_nothing_behind(own_lab: Lab, tmp_path: Path) -> None:
    note = tmp_path / "note"
    with SshHost("lab", config_file=own_lab.config) as host:
        outputs = []
        asking = threading.Thread(
            target=lambda: outputs.extend(host.answer([Ask("sh", "-c", slow(note), limit_s=120)]))
        )
        asking.start()
        numbers = pids(note)
        (runner, *_) = [
            pid
            for pid in descendants(own_lab.sshd.process.pid)
            if name_of(pid).startswith("python")
        ]
        os.kill(runner, signal.SIGKILL)
        asking.join(60)
        gone(numbers)
        assert "ended" in outputs[0].lost or "lost" in outputs[0].lost


def test_a_host_that_is_closed_in_the_middle_leaves_nothing_behind(
    own_lab: Lab, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    host = SshHost("lab", config_file=own_lab.config)
    asking = threading.Thread(
        target=lambda: host.answer([Ask("sh", "-c", slow(note), limit_s=120)])
    )
    asking.start()
    numbers = pids(note)
    host.close()
    asking.join(60)
    gone(numbers)


def test_a_bot_that_stops_reading_does_not_stretch_a_limit(lab: Lab, tmp_path: Path) -> None:
    """A stopped bot takes no answers; the remote side must still end what is over."""
    note = tmp_path / "note"
    text = f"trap '' TERM; sleep 300 & echo $! > {note}.child; echo $$ > {note}; wait; sleep 300"
    program = BOT.replace("limit_s=100", "limit_s=3")
    with subprocess.Popen([sys.executable, "-c", program, str(lab.config), text], cwd=ROOT) as bot:
        numbers = pids(note)
        bot.send_signal(signal.SIGSTOP)
        gone(numbers)
        bot.send_signal(signal.SIGCONT)
        assert bot.wait(60) == 0


def test_a_flood_costs_neither_side_its_memory(lab: Lab) -> None:
    """Our own peak is looked at in a process of its own, the runner's by the command that it runs."""
    program = BOT.replace("limit_s=100", "limit_s=60, max_bytes=1 << 20").replace(
        "host.answer(", "print(host.answer("
    )
    program = program.rstrip() + "[0].stdout)\nprint(Path('/proc/self/status').read_text())"
    text = "head -c 300000000 /dev/zero >&2; grep VmHWM /proc/$PPID/status"
    done = subprocess.run(
        [sys.executable, "-c", program, str(lab.config), text],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    runner_kb, bot_kb = (
        int(line.split()[1]) for line in done.stdout.splitlines() if "VmHWM" in line
    )
    assert runner_kb < 150_000, "it held what it should have thrown away, of 300 MB"
    assert bot_kb < 150_000


def test_a_local_runner_that_cannot_start_is_said() -> None:
    with pytest.raises(Unreachable, match="no-such-python cannot be started"):
        LocalHost(python="/no-such-python").answer([Ask("true")])
    with pytest.raises(Unreachable, match="cannot run what is asked"):
        LocalHost(python="/bin/cat").answer([Ask("true")])


def test_a_round_costs_few_round_trips_however_much_is_asked(lab: Lab) -> None:
    """Three: open a session, start the runner, send and receive. One command after the other makes it 40."""
    line = SlowLine(lab.sshd.port, 0.1)
    config = lab.configure(
        "slow_line", Port=str(line.port), HostKeyAlias=f"[127.0.0.1]:{lab.sshd.port}"
    )
    asks = [Ask("echo", str(n), "x" * 1000) for n in range(20)]

    def best_s(config: Path) -> float:
        with SshHost("lab", config_file=config) as host:
            host.connect()
            took = []
            for _ in range(3):
                began = time.monotonic()
                host.answer(asks)
                took.append(time.monotonic() - began)
            return min(took)

    slow_s, direct_s = best_s(config), best_s(lab.config)
    line.close()
    assert slow_s > 2 * 0.2, "the line is not slow"
    assert (slow_s - direct_s) / 0.2 < 10, (slow_s, direct_s)
