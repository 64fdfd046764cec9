"""The scripts that look at GPUs really run here, as on a host: with a fake NVML, and a fake nvidia-smi."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.errors import Absent, Failed
from tools.host import Command, Output
from tools.nvidia.gpus import Gpus
from tools.probes.gpu_samples import SampleGpus
from tools.probes.gpus import ReadGpus
from tools.probes.nvlinks import ReadNvlinks
from tools.probes.topology import ReadTopology

GOLDEN = Path(__file__).parent.parent / "golden"
NO_PYNVML = "import sys; sys.modules['pynvml'] = None\n"

NVML = """
class NVMLError(Exception): pass
class NVMLError_NotSupported(NVMLError): pass
class Thing:
    def __init__(self, **parts): self.__dict__.update(parts)
def nvmlInit(): pass
def nvmlSystemGetDriverVersion(): return b"570.124.06"
def nvmlSystemGetCudaDriverVersion(): return 12080
def nvmlSystemGetProcessName(pid): return b"python3 -m sglang.launch_server --api-key geheim"
def nvmlDeviceGetCount(): return 2
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(h): return b"NVIDIA RTX A6000"
def nvmlDeviceGetPciInfo(h): return Thing(busId=b"00000000:%d1:00.0" % (4 + h))
def nvmlDeviceGetPerformanceState(h): return 2 if h == 0 else 32
def nvmlDeviceGetCurrPcieLinkGeneration(h): return 1
def nvmlDeviceGetMaxPcieLinkGeneration(h): return 4
def nvmlDeviceGetCurrPcieLinkWidth(h): return 16
def nvmlDeviceGetMaxPcieLinkWidth(h): return 16
def nvmlDeviceGetClockInfo(h, kind): return {1: 1695, 2: 7601}[kind]
def nvmlDeviceGetMaxClockInfo(h, kind): return {1: 2100, 2: 8001}[kind]
def nvmlDeviceGetUtilizationRates(h): return Thing(gpu=98, memory=70)
def nvmlDeviceGetMemoryInfo(h): return Thing(total=48685 << 20, used=44602 << 20)
def nvmlDeviceGetBAR1MemoryInfo(h): return Thing(bar1Total=65536 << 20)
def nvmlDeviceGetPowerUsage(h): return 281400
def nvmlDeviceGetEnforcedPowerLimit(h): return 200000
def nvmlDeviceGetPowerManagementDefaultLimit(h): return 300000
def nvmlDeviceGetTemperature(h, sensor): return 74
def nvmlDeviceGetTemperatureThreshold(h, which): return {1: 95}[which]
def nvmlDeviceGetFanSpeed(h): raise NVMLError_NotSupported()
def nvmlDeviceGetPcieReplayCounter(h): return 3
def nvmlDeviceGetPcieThroughput(h, way): return 411900 if way == 0 else 398100
def nvmlDeviceGetCurrentClocksThrottleReasons(h): return 0x4 | 0x1
def nvmlDeviceGetEccMode(h): return [0, 0]
def nvmlDeviceGetPersistenceMode(h): return 1
def nvmlDeviceGetRemappedRows(h): return (0, 1, 1, 0)
def nvmlDeviceGetCudaComputeCapability(h): return (8, 6)
def nvmlDeviceGetComputeRunningProcesses(h):
    return [Thing(pid=4100 + h, usedGpuMemory=44590 << 20)]
"""

SMI = """#!{python}
import sys, time
asked = " ".join(sys.argv[1:])
{body}
"""


def run(command: Command, path: Path, *, before: str = "", limit_s: float = 120) -> Output:
    """Run a script as a host does, with `path` first on PATH, and nothing of this environment in it."""
    env = {"PATH": f"{path}:/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, *command.argv[1:]],
        input=(before + command.stdin).encode(),
        capture_output=True,
        timeout=limit_s,
        env=env,
        check=False,
    )
    return Output(stdout=done.stdout.decode(), stderr=done.stderr.decode(), status=done.returncode)


def fake_smi(folder: Path, body: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(SMI.format(python=sys.executable, body=body))
    program.chmod(0o755)


def fake_nvml(folder: Path, text: str = NVML) -> str:
    (folder / "pynvml.py").write_text(text)
    return f"import sys; sys.path.insert(0, {str(folder)!r})\n"


def looked(output: Output) -> Gpus:
    assert output.status == 0, output.stderr
    return ReadGpus().read(output)


def test_nvml_is_asked_where_pynvml_is_at_hand(tmp_path: Path) -> None:
    output = run(ReadGpus().command(), tmp_path, before=fake_nvml(tmp_path))
    gpus = looked(output)
    first, second = gpus.samples
    assert (gpus.driver, gpus.cuda, gpus.attached) == ("570.124.06", "12.8", 2)
    assert (first.index, first.bdf, first.name) == (0, "0000:41:00.0", "NVIDIA RTX A6000")
    assert (first.link_gen, first.link_gen_max, first.link_width) == (1, 4, 16)
    assert (first.power_w, first.power_limit_w, first.power_default_w) == (281.4, 200.0, 300.0)
    assert (first.tx_mb_s, first.rx_mb_s, first.bar1_mib, first.replays) == (411.9, 398.1, 65536, 3)
    assert (first.pstate, second.pstate) == (2, None)
    assert (first.remap_pending, first.remapped_uncorrectable, first.ecc_on) == (True, 1, False)
    assert first.compute_cap == "8.6"


def test_an_old_binding_lacks_functions_and_the_rest_is_told(tmp_path: Path) -> None:
    """NVML before driver 535 knows throttle reasons only; the fan of a passive card is not told."""
    first = looked(run(ReadGpus().command(), tmp_path, before=fake_nvml(tmp_path))).samples[0]
    assert first.reasons == {"sw_power_cap"}
    assert (first.fan_pct, first.link_gen_gpumax, first.mig, first.licence) == (
        None,
        None,
        None,
        None,
    )


def test_no_argument_of_a_process_leaves_the_host(tmp_path: Path) -> None:
    output = run(ReadGpus().command(), tmp_path, before=fake_nvml(tmp_path))
    assert "geheim" not in output.stdout
    assert {each.name for each in looked(output).processes or ()} == {"python3"}


@pytest.mark.parametrize("before", [NO_PYNVML, ""], ids=["no pynvml", "pynvml without a driver"])
def test_nvidia_smi_is_asked_where_nvml_cannot_be(tmp_path: Path, before: str) -> None:
    xml = GOLDEN / "ReadGpus" / "driver_595_xml_4080_super_at_load.out"
    fake_smi(
        tmp_path, f"assert asked == '-q -x', asked\nsys.stdout.write(open({str(xml)!r}).read())"
    )
    output = run(ReadGpus().command(), tmp_path, before=before)
    assert "geheim" not in output.stdout
    assert looked(output).samples[0].name == "NVIDIA GeForce RTX 4080 SUPER"


def test_a_host_without_nvidia_smi_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="not installed"):
        looked(run(ReadGpus().command(), tmp_path, before=NO_PYNVML))


def test_a_refusal_of_nvidia_smi_is_handed_on(tmp_path: Path) -> None:
    fake_smi(tmp_path, "print('No devices were found'); sys.exit(6)")
    with pytest.raises(Absent, match="finds no GPU"):
        looked(run(ReadGpus().command(), tmp_path, before=NO_PYNVML))


def shorter(command: Command, limit_s: int) -> Command:
    assert "LIMIT_S = 7" in command.stdin
    return command.model_copy(
        update={"stdin": command.stdin.replace("LIMIT_S = 7", f"LIMIT_S = {limit_s}")}
    )


def test_an_nvidia_smi_that_hangs_is_ended_and_named(tmp_path: Path) -> None:
    fake_smi(tmp_path, "time.sleep(600)")
    with pytest.raises(Failed, match="Xid 119"):
        looked(run(shorter(ReadGpus().command(), 1), tmp_path, before=NO_PYNVML))


def test_an_nvml_that_hangs_does_not_keep_the_script(tmp_path: Path) -> None:
    stuck = NVML + "\ndef nvmlDeviceGetName(h):\n    import time; time.sleep(600)\n"
    with pytest.raises(Failed, match="NVML did not answer within 1 s"):
        looked(run(shorter(ReadGpus().command(), 1), tmp_path, before=fake_nvml(tmp_path, stuck)))


SERVER = """
import mmap, sys, time
file = open(sys.argv[1] + "/lib.so", "r+b")
kept = mmap.mmap(file.fileno(), 0)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("mode", [0o644, 0o666], ids=["owned", "writable by others"])
def test_pynvml_of_the_servers_environment_is_used_only_where_nobody_else_could_write_it(
    tmp_path: Path, mode: int
) -> None:
    site = tmp_path / "venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (site / "lib.so").write_bytes(b"x" * 4096)
    fake_nvml(site)
    (site / "pynvml.py").chmod(mode)
    argv = [sys.executable, "-c", SERVER, str(site), "-m", "sglang.launch_server"]
    block = "import sys, importlib.abc\nclass No(importlib.abc.MetaPathFinder):\n    def find_spec(self, name, *_):\n        if name == 'pynvml': raise ImportError(name)\nsys.meta_path.insert(0, No())\n"
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n"
            output = run(ReadGpus().command(), tmp_path, before=block)
        finally:
            server.kill()
    if mode == 0o644:
        assert json.loads(output.stdout)["nvml"].endswith("site-packages/pynvml.py")
    else:
        assert "absent" in json.loads(output.stdout)


def test_the_sampler_reads_every_gpu_several_times_a_second(tmp_path: Path) -> None:
    probe = SampleGpus(seconds=1, hz=5)
    gpus = probe.read(run(probe.command(), tmp_path, before=fake_nvml(tmp_path)))
    groups = gpus.by_gpu()
    assert groups.keys() == {"0", "1"}
    assert 2 <= len(groups["0"]) <= 6
    assert gpus.window_s is not None
    assert 1 <= gpus.window_s < 60
    traffic = [sample.rx_mb_s for sample in groups["0"]]
    assert traffic[:2] == [398.1, None]
    assert {sample.reasons for sample in groups["0"]} == {frozenset({"sw_power_cap"})}
    assert all(sample.power_limit_w == 200 and sample.busy for sample in groups["0"])


LOOP = """
assert "-lms 200" in asked, asked
if {refuses} and "gpucurrent" in asked:
    print('Field "pcie.link.gen.gpucurrent" is not a valid field to query.'); sys.exit(2)
print("index, pstate, utilization.gpu [%], clocks_throttle_reasons.active", flush=True)
while True:
    print("0, P2, 99 %, 0x0000000000000020", flush=True)
    time.sleep(0.2)
"""


@pytest.mark.parametrize("refuses", [True, False], ids=["an old driver", "a new driver"])
def test_the_sampler_falls_back_to_nvidia_smi_and_to_old_fields(
    tmp_path: Path, refuses: bool
) -> None:
    fake_smi(tmp_path, LOOP.format(refuses=refuses))
    probe = SampleGpus(seconds=4)
    gpus = probe.read(run(probe.command(), tmp_path, before=NO_PYNVML))
    assert len(gpus.samples) >= 3
    assert gpus.samples[-1].reasons == {"sw_thermal_slowdown"}
    assert gpus.window_s == 4


def test_a_sampler_that_gets_nothing_says_what_hangs(tmp_path: Path) -> None:
    fake_smi(tmp_path, "time.sleep(60)")
    probe = SampleGpus(seconds=1)
    with pytest.raises(Failed, match="did not answer"):
        probe.read(run(probe.command(), tmp_path, before=NO_PYNVML))


@pytest.mark.parametrize(
    ("words", "kind", "says"),
    [
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
            " Make sure that the latest NVIDIA driver is installed and running.\n",
            Failed,
            "driver is not loaded",
        ),
        ("No devices were found\n", Absent, "finds no GPU"),
    ],
)
def test_a_sampler_that_gets_words_instead_of_rows_has_seen_no_gpu(
    tmp_path: Path, words: str, kind: type[Exception], says: str
) -> None:
    fake_smi(tmp_path, f"print({words!r}); sys.exit(9)")
    probe = SampleGpus(seconds=1)
    with pytest.raises(kind, match=says):
        probe.read(run(probe.command(), tmp_path, before=NO_PYNVML))


def test_a_sampler_without_nvidia_smi_says_so(tmp_path: Path) -> None:
    probe = SampleGpus(seconds=1)
    with pytest.raises(Absent, match="not installed"):
        probe.read(run(probe.command(), tmp_path, before=NO_PYNVML))


TOPO = """
print({"topo -m": "\\tGPU0\\tGPU1\\tCPU Affinity\\nGPU0\\t X \\tPHB\\t0-31\\nGPU1\\tPHB\\t X \\t0-31",
       "topo -p2p r": " \\tGPU0\\tGPU1\\n GPU0\\tX\\tCNS\\n GPU1\\tCNS\\tX",
       "nvlink -s": "GPU 0: A (UUID: GPU-1)\\n\\t Link 0: 14.062 GB/s",
       "nvlink -e": "GPU 0: A (UUID: GPU-1)\\n\\t Link 0: Replay Errors: 7"}[asked])
"""


def test_topology_and_nvlinks_are_two_commands_in_one_answer(tmp_path: Path) -> None:
    fake_smi(tmp_path, TOPO)
    topology = ReadTopology().read(run(ReadTopology().command(), tmp_path))
    assert [(pair.a, pair.b, pair.word) for pair in topology.links + topology.p2p] == [
        ("GPU0", "GPU1", "PHB"),
        ("GPU0", "GPU1", "CNS"),
    ]
    [link] = ReadNvlinks().read(run(ReadNvlinks().command(), tmp_path)).links
    assert (link.gb_s, link.replay_errors) == (14.062, 7)


def test_topology_of_a_host_without_nvidia_smi_is_absent(tmp_path: Path) -> None:
    with pytest.raises(Absent):
        ReadTopology().read(run(ReadTopology().command(), tmp_path))


@pytest.mark.parametrize("probe", [ReadGpus(), SampleGpus(), ReadTopology(), ReadNvlinks()])
def test_the_scripts_are_python_3_8(probe: ReadGpus) -> None:
    import ast

    ast.parse(probe.command().stdin, feature_version=(3, 8))


def test_the_sampler_takes_no_longer_than_its_command_may() -> None:
    for seconds in (1, 15):
        command = SampleGpus(seconds=seconds).command()
        both_sets_of_fields_and_their_ends = 2 * seconds + 4
        assert command.limit_s > both_sets_of_fields_and_their_ends
