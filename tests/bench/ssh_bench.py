"""What a batch saves: all read-only probes of the lab over one SshHost, against paramiko and ssh as people use them.

Prints medians. Looks over a window (counters twice, a second of CPU times) wait the same whichever
way they are asked, so the looks of a moment are compared; all of them together are shown as well.
"""

from __future__ import annotations

import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import paramiko

from tests.bench.slow_line import SlowLine
from tests.lab import sshd
from tests.lab.engine import Engine
from tests.lab.sshd import Lab
from tools.host import Asks, Command
from tools.hosts.ssh import SshHost
from tools.probes import PROBES

RUNS = 7
DELAY_S = 0.05
OVER_A_WINDOW = {"ReadMachine", "ReadProcesses", "ReadMetrics", "SampleGpus"}
AIMS = {"paramiko": 4.0, "ssh": 15.0, "round trips": 3.0}


def questions(*, of_a_moment: bool) -> list[Asks]:
    return [
        probe() for name, probe in PROBES.items() if not (of_a_moment and name in OVER_A_WINDOW)
    ]


def timed(work: Callable[[], object], runs: int = RUNS) -> list[float]:
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return took


def median_s(work: Callable[[], object], runs: int = RUNS) -> float:
    return statistics.median(timed(work, runs))


def one_by_one(client: paramiko.SSHClient, commands: Sequence[Command]) -> None:
    """Stock paramiko on one connection that is up: one exec_command after the other."""
    for command in commands:
        stdin, stdout, stderr = client.exec_command(shlex.join(command.argv))
        stdin.write(command.stdin)
        stdin.channel.shutdown_write()
        stdout.read()
        stderr.read()
        stdout.channel.recv_exit_status()


def processes(lab: Lab, commands: Sequence[Command]) -> None:
    """One ssh process for each command."""
    for command in commands:
        argv = ["ssh", "-F", str(lab.config), "lab", shlex.join(command.argv)]
        subprocess.run(argv, input=command.stdin.encode(), capture_output=True, check=False)


def batched(
    lab: Lab, config: Path, asks: Sequence[Asks], runs: int = RUNS
) -> tuple[float, list[float]]:
    """Return seconds of the handshake and of each batch."""
    with SshHost("lab", config_file=config) as host:
        began = time.perf_counter()
        host.connect()
        shaken = time.perf_counter() - began
        outputs = host.answer(asks)
        if lost := [output.lost for output in outputs if output.lost]:
            raise SystemExit(f"the lab did not answer: {lost[0]}")
        return shaken, timed(lambda: host.answer(asks), runs)


def measure(lab: Lab) -> dict[str, float]:
    asks = questions(of_a_moment=True)
    commands = list(dict.fromkeys(ask.command() for ask in asks))
    shaken, ours = batched(lab, lab.config, asks)
    _, everything = batched(lab, lab.config, questions(of_a_moment=False), runs=1)
    line = SlowLine(lab.sshd.port, DELAY_S)
    far = lab.configure("far", Port=str(line.port), HostKeyAlias=f"[127.0.0.1]:{lab.sshd.port}")
    far_shaken, far_ours = batched(lab, far, asks)
    line.close()
    with paramiko.SSHClient() as client:
        client.load_host_keys(str(lab.known_hosts))
        client.connect(
            "127.0.0.1",
            lab.sshd.port,
            lab.user,
            key_filename=str(lab.key),
            allow_agent=False,
            look_for_keys=False,
        )
        stock = median_s(lambda: one_by_one(client, commands), 3)
    return {
        "commands": len(commands),
        "all": len(questions(of_a_moment=False)),
        "all_s": everything[0],
        "handshake_s": shaken,
        "ours_s": statistics.median(ours),
        "paramiko_s": stock,
        "ssh_s": median_s(lambda: processes(lab, commands), 3),
        "far_handshake_s": far_shaken,
        "round_trips": (min(far_ours) - min(ours))
        / (2 * DELAY_S),  # the fastest: least of other work
    }


def main() -> int:
    """Measure, print, and say whether the aims are met."""
    if not sshd.SSHD:
        print(sshd.MISSING, file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        engine = Engine(Path(folder))
        try:
            told = measure(lab)
        finally:
            engine.stop()
            lab.stop()
    ours = told["ours_s"]
    print(
        f"{told['commands']:.0f} read-only commands of one host over loopback SSH, medians (looks of a moment)"
    )
    print(
        f"  connecting, once                      {told['handshake_s'] * 1e3:7.0f} ms  ({told['far_handshake_s'] * 1e3:.0f} ms with {DELAY_S * 1e3:.0f} ms more each way)"
    )
    print(f"  one batch, one channel                {ours * 1e3:7.0f} ms")
    print(
        f"  paramiko, one exec after the other    {told['paramiko_s'] * 1e3:7.0f} ms  {told['paramiko_s'] / ours:5.1f}x  (aim {AIMS['paramiko']:.0f}x)"
    )
    print(
        f"  one ssh process each                  {told['ssh_s'] * 1e3:7.0f} ms  {told['ssh_s'] / ours:5.1f}x  (aim {AIMS['ssh']:.0f}x)"
    )
    print(
        f"  round trips after the handshake       {told['round_trips']:7.1f}            (aim {AIMS['round trips']:.0f})"
    )
    print(
        f"  all {told['all']:.0f} looks, windows of up to 5 s too  {told['all_s'] * 1e3:7.0f} ms in one batch"
    )
    met = (
        told["paramiko_s"] >= 4 * ours and told["ssh_s"] >= 15 * ours and told["round_trips"] < 3.5
    )
    print("The aims are met." if met else "The aims are NOT met.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
