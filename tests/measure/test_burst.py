"""A burst on a server that counts: what it measures, and that it is never more than was said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.sshd import Lab, alive, descendants, wait_for
from tests.measure.serving import KEY, Counting, counting
from tools.engine import Burst
from tools.evidence import Evidence
from tools.host import Command, Output
from tools.hosts.local import LocalHost
from tools.hosts.ssh import SshHost
from tools.measure.load import Load, looks, put
from tools.nvidia.gpus import Gpus

ROOT = Path(__file__).parents[2]
NVML = """
import types, sys
class Thing:
    def __init__(self, **parts): self.__dict__.update(parts)
asked = {}
def replays(h):
    asked[h] = asked.get(h, 4) + (h == 1)
    return asked[h]
pynvml = types.ModuleType("pynvml")
pynvml.__dict__.update(
    nvmlInit=lambda: None, nvmlSystemGetDriverVersion=lambda: b"570.124.06", nvmlDeviceGetCount=lambda: 2,
    nvmlDeviceGetHandleByIndex=lambda n: n, nvmlDeviceGetName=lambda h: b"NVIDIA RTX A6000",
    nvmlDeviceGetPciInfo=lambda h: Thing(busId=b"00000000:%d1:00.0" % (4 + h)),
    nvmlDeviceGetPerformanceState=lambda h: 2, nvmlDeviceGetCurrPcieLinkGeneration=lambda h: 1 + 3 * h,
    nvmlDeviceGetMaxPcieLinkGeneration=lambda h: 4, nvmlDeviceGetGpuMaxPcieLinkGeneration=lambda h: 4,
    nvmlDeviceGetCurrPcieLinkWidth=lambda h: 16, nvmlDeviceGetMaxPcieLinkWidth=lambda h: 16,
    nvmlDeviceGetClockInfo=lambda h, kind: {1: 1695, 2: 7601}[kind],
    nvmlDeviceGetUtilizationRates=lambda h: Thing(gpu=98, memory=70), nvmlDeviceGetPowerUsage=lambda h: 281400,
    nvmlDeviceGetTemperature=lambda h, sensor: 74, nvmlDeviceGetPcieReplayCounter=replays,
    nvmlDeviceGetTotalEccErrors=lambda h, kind, counter: 0,
    nvmlDeviceGetPcieThroughput=lambda h, way: 411900, nvmlDeviceGetCurrentClocksThrottleReasons=lambda h: 4,
)
sys.modules["pynvml"] = pynvml
"""
NO_PYNVML = "import sys; sys.modules['pynvml'] = None\n"


class Put:
    """A load with a word before its script, put on this machine as any other."""

    key = "put"

    def __init__(self, load: Load, before: str = "", **plan: Any) -> None:
        command = load.command()
        told = json.loads(command.argv[-1]) | plan
        self._command = command.model_copy(
            update={"stdin": before + command.stdin, "argv": (*command.argv[:-1], json.dumps(told))}
        )

    def command(self) -> Command:
        return self._command

    def recognises(self, text: str, /) -> bool:
        return False


def burst_on(server: Counting, *, before: str = NO_PYNVML, **plan: Any) -> Output:
    return LocalHost().answer([Put(Load(port=server.port), before, **plan)])[0]


def read(output: Output) -> Burst:
    facts = looks(output, "here")[0].facts
    assert isinstance(facts, Burst), (looks(output, "here")[0].trouble, output.stderr[-2000:])
    return facts


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Output, Counting]]:
    """One whole burst on a server that speculates and wants a key, with two GPUs watched."""
    log = tmp_path_factory.mktemp("quiet") / "serve.log"
    with counting(log, key=KEY, pace_ms=12.0, accept=3) as server:
        yield burst_on(server, before=NVML, seconds=9, streams=[1, 3]), server


def test_the_step_is_the_one_that_the_server_made(quiet: tuple[Output, Counting]) -> None:
    told, steps = read(quiet[0]), sorted(quiet[1].counted()["steps_ms"])
    assert [one.streams for one in told.decode] == [1, 3]
    assert not told.stopped
    for one in told.decode:
        assert one.step_ms
        assert steps[0] * 0.9 < one.step_ms < steps[-1] * 1.1
        assert one.accept_len
        assert 2.5 < one.accept_len < 3.1
        assert one.tok_s
        assert 0.8 < one.tok_s * one.step_ms / 1e3 / one.streams / 3 < 1.2


def test_one_long_prompt_is_read_cold(quiet: tuple[Output, Counting]) -> None:
    told = read(quiet[0])
    assert told.prefill_tok_s
    assert told.prefill_tokens
    assert 2000 < told.prefill_tokens < 9000
    assert sorted(quiet[1].counted()["prompt_chars"])[-2] < 1200


@pytest.mark.parametrize("caches", [True, False])
def test_a_prompt_that_comes_again_shows_what_a_prefix_cache_gives(
    tmp_path: Path, *, caches: bool
) -> None:
    with counting(tmp_path / "serve.log", caches=caches, prefill_ms=200.0) as server:
        load = Load(port=server.port, streams=(1,), again=True)
        output = LocalHost().answer([Put(load, NO_PYNVML)])[0]
        told, seen = read(output), server.counted()
    assert not told.stopped
    assert told.prefill_tok_s
    assert told.again_tok_s
    assert (told.again_tok_s > 3 * told.prefill_tok_s) is caches
    assert seen["requests"] <= load.requests
    assert seen["tokens"] <= load.new_tokens + 3
    longest = sorted(seen["prompt_chars"])[-2:]
    assert longest[0] == longest[1], "the same prompt, and no other twice"
    assert "and then the same once more" in load.stated()


def test_a_server_that_counts_never_sees_more_than_was_said(quiet: tuple[Output, Counting]) -> None:
    load, seen = Load(seconds=9, streams=(1, 3)), quiet[1].counted()
    assert seen["most_at_once"] <= load.at_once
    assert seen["requests"] <= load.requests
    assert (
        seen["tokens"] <= load.new_tokens + 3 * seen["requests"]
    )  # a verify step may give two too many
    assert max(seen["prompt_chars"]) < 8192 * 3.2
    assert len(set(seen["rids"])) == seen["requests"]


def test_no_cache_is_flushed_and_nothing_else_is_asked(quiet: tuple[Output, Counting]) -> None:
    asked = set(quiet[1].counted()["paths"])
    assert asked <= {"/server_info", "/v1/loads", "/metrics", "/generate", "/abort_request"}
    assert quiet[1].counted()["at_once"] == 0


def test_the_key_stays_on_the_host(quiet: tuple[Output, Counting]) -> None:
    assert KEY not in quiet[0].stdout + quiet[0].stderr
    assert quiet[1].counted()["requests"] > 0


def test_the_records_of_the_sampler_are_complete(quiet: tuple[Output, Counting]) -> None:
    burst, gpus = looks(quiet[0], "here")
    assert isinstance(gpus.facts, Gpus)
    assert isinstance(burst.facts, Burst)
    groups = gpus.facts.by_gpu()
    assert set(groups) == {"0", "1"}
    assert len(groups["0"]) == len(groups["1"]) >= 8
    for name in (
        "link_gen",
        "link_width",
        "pstate",
        "util_pct",
        "sm_mhz",
        "mem_mhz",
        "power_w",
        "temp_c",
        "reasons",
    ):
        assert all(getattr(one, name) is not None for one in gpus.facts.samples), name
    assert [one.tx_mb_s for one in groups["0"]][0::5] == [411.9] * len(groups["0"][0::5])
    assert [(link.gpu, link.gen, link.gen_possible) for link in burst.facts.links] == [
        ("0", 1, 4),
        ("1", 4, 4),
    ]
    assert burst.facts.replays["0"] == 0
    assert burst.facts.replays["1"] > 0
    assert burst.facts.busiest_core_pct is not None


def test_nvidia_smi_is_asked_where_there_is_no_pynvml(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    row = "2026/11/29 10:00:00.000, 0, NVIDIA RTX A6000, 00000000:41:00.0, P2, 97 %, 70 %, 1, 4, 4, 4, 16, 16, 1695 MHz, 2100 MHz, 7601 MHz, 8001 MHz, 281.40 W, 300.00 W, 300.00 W, 74, N/A, 0x0000000000000004, 570.124.06"
    head = "timestamp, index, name, pci.bus_id, pstate, utilization.gpu [%], utilization.memory [%], pcie.link.gen.gpucurrent, pcie.link.gen.max, pcie.link.gen.gpumax, pcie.link.gen.hostmax, pcie.link.width.current, pcie.link.width.max, clocks.current.sm [MHz], clocks.max.sm [MHz], clocks.current.memory [MHz], clocks.max.memory [MHz], power.draw.instant [W], enforced.power.limit [W], power.default_limit [W], temperature.gpu, temperature.memory, clocks_event_reasons.active, driver_version"
    program.write_text(
        f"#!{sys.executable}\nimport time\nprint({head!r}, flush=True)\nwhile True:\n    print({row!r}, flush=True)\n    time.sleep(0.2)\n"
    )
    program.chmod(0o755)
    path = f"import os; os.environ['PATH'] = {str(tmp_path)!r} + ':' + os.environ['PATH']\n"
    with counting(tmp_path / "log") as server:
        output = burst_on(server, before=NO_PYNVML + path, seconds=3, streams=[1])
    assert [(link.gen, link.width) for link in read(output).links] == [(1, 16)]


@pytest.mark.parametrize(
    ("mood", "says"),
    [
        ({"others": 1}, "the server is busy: 1 requests run and 0 wait"),
        ({"others": 1, "door": "/get_load"}, "1 requests run and 0 wait (/get_load)"),
        ({"others": 2, "door": "/metrics"}, "2 requests run and 0 wait (/metrics)"),
        ({"waiting": 1}, "0 requests run and 1 wait"),
        ({"info": {"is_embedding": True}}, "makes embeddings"),
        ({"info": {"disaggregation_mode": "prefill"}}, "prefill and decode run apart"),
    ],
)
def test_a_busy_server_and_an_unfit_one_are_refused(
    tmp_path: Path, mood: dict[str, Any], says: str
) -> None:
    with counting(tmp_path / "log", **mood) as server:
        output = burst_on(server)
        assert says in json.loads(output.stdout)["failed"]
        assert server.counted()["requests"] == 0


def test_without_a_door_the_log_tells_and_a_silent_one_is_that_of_an_idle_server(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    with counting(log, door="") as server:
        log.write_text(
            "Decode batch. #running-req: 3, #token: 900, token usage: 0.01, #queue-req: 2\n"
        )
        assert (
            "3 requests run and 2 wait (the log)" in json.loads(burst_on(server).stdout)["failed"]
        )
        os.utime(log, (1, 1))
        assert read(burst_on(server, seconds=2, streams=[1])).decode


def test_others_that_are_allowed_do_not_stop_it(tmp_path: Path) -> None:
    with counting(tmp_path / "log", others=2) as server:
        assert read(burst_on(server, others=2, seconds=5, streams=[1])).stopped == ""


def test_a_server_that_turns_busy_ends_the_burst(tmp_path: Path) -> None:
    with counting(tmp_path / "log", others=5, others_after_s=1.0, pace_ms=40.0) as server:
        output = burst_on(server, seconds=15, streams=[2])
        assert (
            json.loads(output.stdout)["burst"]["stopped"]
            == "the server turned busy: 5 requests of others"
        )
        look = looks(output, "here")[0]
        assert "measured nothing: the server turned busy" in look.trouble, (
            "others were in what it measured"
        )
        wait_for(lambda: server.counted()["at_once"] == 0, "requests run on")
        assert server.counted()["aborted"]


def test_a_server_that_wants_a_key_which_nobody_sees_is_told_so(tmp_path: Path) -> None:
    with counting(tmp_path / "log", key=KEY) as server:
        blind = "_hidden = True\n"
        load = Put(Load(port=server.port), NO_PYNVML)
        text = load.command().stdin.replace(
            "def key_of(server):", "def key_of(server):\n    return None\n\n\ndef other(server):"
        )
        load._command = load.command().model_copy(update={"stdin": blind + text})
        said = json.loads(LocalHost().answer([load])[0].stdout)
    assert said["failed"] == "the server wants an API key, and none is on its command line"


def test_a_server_that_dies_ends_the_burst_with_what_was_measured(tmp_path: Path) -> None:
    with counting(tmp_path / "log", pace_ms=30.0) as server:

        def dies() -> None:
            wait_for(lambda: server.counted()["requests"] > 1, "the burst never ran")
            server.process.kill()

        ending = threading.Thread(target=dies)
        ending.start()
        told = looks(burst_on(server, seconds=15, streams=[1, 2]), "here")[0]
        ending.join()
    assert "a request of ours failed" in (told.trouble or getattr(told.facts, "stopped", ""))


def test_where_nothing_serves_that_is_said() -> None:
    look = put(Load(port=9), LocalHost())[0]
    assert "no model server" in look.trouble


def test_it_is_the_same_over_ssh(lab: Lab, tmp_path: Path) -> None:
    with (
        counting(tmp_path / "log", key=KEY, pace_ms=10.0) as server,
        SshHost("lab", config_file=lab.config) as host,
    ):
        told = read(
            host.answer([Put(Load(port=server.port), NO_PYNVML, seconds=5, streams=[2])])[0]
        )
        assert [one.streams for one in told.decode] == [2]
        assert server.counted()["at_once"] == 0


BOT = """
import sys
from tools.hosts.local import LocalHost
from tools.measure.load import Load, put
put(Load(port=int(sys.argv[1]), seconds=15, streams=(4,)), LocalHost())
"""


def test_a_bot_that_is_killed_leaves_no_request_and_no_process(tmp_path: Path) -> None:
    with counting(tmp_path / "log", pace_ms=60.0) as server:
        bot = subprocess.Popen([sys.executable, "-c", BOT, str(server.port)], cwd=ROOT)
        wait_for(lambda: server.counted()["at_once"] == 4, "the burst never ran")
        left = descendants(bot.pid)
        bot.kill()
        bot.wait()
        wait_for(lambda: server.counted()["at_once"] == 0, "requests run on")
        wait_for(lambda: not any(map(alive, left)), "a process lives on")
        begun = server.counted()["rids"]
        wait_for(lambda: set(server.counted()["aborted"]) == set(begun), "the server was not told")


def test_a_host_that_is_closed_lets_go_at_once(tmp_path: Path) -> None:
    host, found = LocalHost(), list[Evidence | Exception]()

    def ask(port: int) -> None:
        try:
            found.extend(put(Load(port=port, seconds=15, streams=(3,)), host))
        except Exception as why:  # noqa: BLE001 - the test looks at it
            found.append(why)

    with counting(tmp_path / "log", pace_ms=60.0) as server:
        asking = threading.Thread(target=ask, args=(server.port,))
        asking.start()
        wait_for(lambda: server.counted()["at_once"] == 3, "the burst never ran")
        host.close()
        asking.join(30)
        assert "stopped" in str(found[0])
        wait_for(lambda: server.counted()["at_once"] == 0, "requests run on")
