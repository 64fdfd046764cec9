"""Forms of the host that people paste: each in its corners, and hostile ones within bounds."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from tools.engine.manifests import containers, documents
from tools.evidence import learn
from tools.hosts.files import read_texts
from tools.linux.allowed import read_affinity
from tools.linux.lscpu import ranges, read_lscpu
from tools.linux.machine_cpu import read_governors
from tools.linux.mounts import read_mounts
from tools.linux.processes import read_processes_text
from tools.linux.sysstat import read_turbostat
from tools.linux.unit import read_unit
from tools.probes import PROBES
from tools.probes.machine import ReadMachine


@pytest.mark.parametrize(("line", "idle", "steal"), [
    ("%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni,100.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st", 100.0, 0.0),
    ("%CPU(s):  0,0 us,  0,0 sy,  0,0 ni,100,0 id,  0,0 wa,  0,0 hi,  0,0 si,  0,0 st", 100.0, 0.0),
    ("%Cpu(s): 12,5 ut,  2,1 sy,  0,0 ni, 80,1 id,  0,0 wa,  0,0 hi,  0,3 si,  5,0 st", 80.1, 5.0),
    ("Cpu(s):  1.2%us,  0.3%sy,  0.0%ni, 98.4%id,  0.1%wa,  0.0%hi,  0.0%si,  0.0%st", 98.4, 0.0),
])  # fmt: skip
def test_the_summary_of_top_is_read_in_each_version_and_language(
    line: str, idle: float, steal: float
) -> None:
    told = read_processes_text(
        f"top - 15:29:28 up 8 min,  0 user,  load average: 1,59, 0,94, 0,42\n{line}\n"
    )
    assert (told.idle_pct, told.steal_pct, told.load1) == (idle, steal, 1.59)


def test_of_several_turns_of_top_the_last_counts() -> None:
    turn = "top - 15:29:2{0} up 8 min,  0 user,  load average: {0}.00, 0.94, 0.42\n%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni, 5{0}.0 id,\n"
    assert read_processes_text(turn.format(1) + turn.format(2)).idle_pct == 52.0


@pytest.mark.parametrize(("said", "cpus"), [
    ("pid 4105's current affinity mask: ffffffff", "0-31"), ("pid 4105's current affinity mask: 3", "0-1"),
    ("pid 4105's current affinity mask: ff,00000000", "32-39"), ("pid 4105's current affinity list: 0-15,32", "0-15,32"),
    ("pid 4105's current affinity list: 7", "7"), ("aktuelle Bezugsliste für PID 4105: 0,1", "0,1"),
    ("maska současné afinity procesu 4105: 5", "0,2"), ("pid 4105 的当前亲和力掩码：f", "0-3"),
    ("masque d'affinité actuel du PID\u00a04105\u00a0: 3", "0-1"),
    ("pid 4105's current affinity mask: 3\npid 4105's new affinity mask: c", "2-3"),
    ("the affinity of this is 3", None), ("Speed: 3", None),
])  # fmt: skip
def test_the_cores_of_taskset_are_read_as_a_list(said: str, cpus: str | None) -> None:
    assert read_affinity(said) == cpus


def test_runs_of_cores_are_written_as_the_kernel_does() -> None:
    assert ranges([3, 0, 1, 2, 8, 8]) == "0-3,8"
    assert ranges([]) == ""


def test_cores_that_are_offline_have_no_place_in_the_table() -> None:
    told = read_lscpu(
        "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n  0    0      0    0 0:0:0:0          yes\n  1    -      -    - -                 no\n"
    )
    assert (told["cpus"], told["sockets"], told["numa_cpus"]) == (2, 1, {"0": "0"})


def test_lscpu_json_of_2_37_lies_in_itself() -> None:
    said = {"lscpu": [
        {"field": "CPU(s):", "data": "64"},
        {"field": "Vendor ID:", "data": "AuthenticAMD", "children": [
            {"field": "Model name:", "data": "AMD EPYC 7543", "children": [{"field": "Thread(s) per core:", "data": "2"}]},
        ]},
        {"field": "NUMA:", "data": None, "children": [
            {"field": "NUMA node(s):", "data": "2"}, {"field": "NUMA node1 CPU(s):", "data": "32-63"},
        ]},
    ]}  # fmt: skip
    told = read_lscpu(json.dumps(said))
    assert (told["cpu_model"], told["threads_per_core"], told["numa_cpus"]) == (
        "AMD EPYC 7543",
        2,
        {"1": "32-63"},
    )


@pytest.mark.parametrize(("text", "driver", "governor", "mhz"), [
    ('analyzing CPU 0:\n  driver: intel_pstate\n  hardware limits: 800 MHz - 3.60 GHz\n                  The governor "powersave" may decide which speed to use\n',
     "intel_pstate", "powersave", 3600.0),
    ('CPU 0 wird analysiert:\n  Treiber: acpi-cpufreq\n  Hardwarebegrenzungen: 1.50 GHz - 2.45 GHz\n  sein. Der Regler "performance" kann frei entscheiden,\n',
     "acpi-cpufreq", "performance", 2450.0),
    ('analyzuji CPU 0:\n  ovladač: amd-pstate\n  hardwarové meze: 400 MHz - 3.70 GHz\n  Regulátor "schedutil" může rozhodnout jakou frekvenci použít\n',
     "amd-pstate", "schedutil", 3700.0),
])  # fmt: skip
def test_cpupower_is_read_in_its_languages(
    text: str, driver: str, governor: str, mhz: float
) -> None:
    told = read_governors(text)
    assert (told["scaling_driver"], told["governors"], told["mhz_max"]) == (
        driver,
        {governor: 1},
        mhz,
    )


def test_cores_that_idle_tell_no_clock_in_turbostat() -> None:
    assert read_turbostat(
        "Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\n-\t-\t9\t1.0\t900\n0\t0\t9\t19.9\t900\n0\t1\t9\t20.0\t3100\n"
    ) == {"mhz_now": (3100.0,)}


def test_inodes_are_no_sizes_and_full_disks_are_named() -> None:
    assert (
        read_mounts(
            "Filesystem      Inodes IUsed   IFree IUse% Mounted on\nshm            3085456     1 3085455    1% /dev/shm\n"
        )
        == {}
    )
    told = read_mounts(
        "Filesystem     Type     Size  Used Avail Use% Mounted on\n/dev/nvme0n1p2 ext4     1.8T  1.7T   12G 100% /\n"
        "10.0.0.9:/pool nfs4      90T   61T   29T  68% /models\ntmpfs          tmpfs    126G     0  126G   0% /dev/shm\n"
    )
    assert told["full_pct"] == {"/": 100.0}
    assert told["mounts"] == {"/": "ext4", "/models": "nfs4", "/dev/shm": "tmpfs"}
    assert told["shm_total_mib"] == 126 * 1024


def test_proc_mounts_and_the_tree_of_findmnt_are_read() -> None:
    assert read_mounts("shm /dev/shm tmpfs rw,nosuid,size=65536k,inode64 0 0\nproc /proc proc rw 0 0\n") == {
        "shm_total_mib": 64.0, "mounts": {"/dev/shm": "tmpfs"},
    }  # fmt: skip
    tree = "TARGET          SOURCE    FSTYPE OPTIONS\n/               /dev/vda1 ext4   rw,relatime\n├─/dev/shm      shm       tmpfs  rw,size=8388608k\n└─/models       nas:/m    nfs    rw,vers=3\n"
    told = read_mounts(tree)
    assert (told["shm_total_mib"], told["mounts"]["/models"]) == (8192.0, "nfs")


@pytest.mark.parametrize(("line", "cores", "told"), [
    ("CPUQuotaPerSecUSec=infinity", None, True), ("CPUQuotaPerSecUSec=500ms", 0.5, True), ("CPUQuotaPerSecUSec=1min 4s", 64.0, True),
    ("CPUQuotaPerSecUSec=2s 500ms", 2.5, True), ("MainPID=7", None, None),
])  # fmt: skip
def test_the_quota_of_a_unit_is_a_span_of_time(
    line: str, cores: float | None, told: bool | None
) -> None:
    found = read_unit(f"MainPID=7\n{line}\n")
    assert (found.get("quota_cpus"), found.get("quota_told")) == (cores, told)


def test_of_several_groups_the_tightest_counts_with_its_own_counters() -> None:
    told = ReadMachine().parse(
        "/sys/fs/cgroup/cpu.max:max 100000\n/sys/fs/cgroup/cpu.stat:nr_periods 9\n/sys/fs/cgroup/cpu.stat:nr_throttled 9\n"
        "/sys/fs/cgroup/a.slice/cpu.max:800000 100000\n/sys/fs/cgroup/a.slice/b.service/cpu.max:200000 100000\n"
        "/sys/fs/cgroup/a.slice/b.service/cpu.stat:nr_periods 100\n/sys/fs/cgroup/a.slice/b.service/cpu.stat:nr_throttled 7\n"
        "/sys/fs/cgroup/a.slice/memory.max:1073741824\n"
    )
    assert (told.quota_cpus, told.periods, told.throttled_periods, told.mem_limit_mib) == (
        2.0,
        100,
        7,
        1024.0,
    )


def test_the_counters_of_another_group_are_not_those_of_the_limit() -> None:
    told = ReadMachine().parse(
        "/sys/fs/cgroup/a/cpu.max:200000 100000\n/sys/fs/cgroup/cpu.stat:nr_periods 9\n/sys/fs/cgroup/cpu.stat:nr_throttled 9\n"
    )
    assert (told.quota_cpus, told.periods, told.throttled_periods) == (2.0, None, None)


@pytest.mark.parametrize("said", [
    "MainPID=0\nResult=oom-kill\n", "     Active: failed (Result: oom-kill) since Mon 2026-11-30\n   Main PID: 7\n",
])  # fmt: skip
def test_a_unit_that_memory_ended_says_so(said: str) -> None:
    assert read_unit(said)["oom_killed"] is True
    assert "oom_killed" not in read_unit(said.replace("oom-kill", "exit-code"))


UNIT = (
    "[Service]\nEnvironment=CUDA_VISIBLE_DEVICES=0,1 SESSION_PEPPER=Zq8hunter2 \"NCCL_DEBUG=INFO\"\n"
    "ExecStart=/usr/bin/python3 -m sglang.launch_server --model-path /m --tp 2\nCPUQuota=400%\n"
)  # fmt: skip


def test_variables_of_a_unit_go_by_the_allow_list_whoever_reads_it() -> None:
    found = read_texts([("sglang.service", UNIT.encode())], PROBES)
    assert {type(one.probe).__name__ for one in found} >= {
        "ReadLaunch",
        "ReadEnvironment",
        "ReadMachine",
    }
    for one in found:
        assert one.probe is not None
        kept = learn(1, one.probe, one.source, one.output)
        assert kept.output is not None
        assert "Zq8hunter2" not in kept.output.stdout + repr(kept.facts)
        if type(one.probe).__name__ == "ReadEnvironment":
            assert kept.facts is not None
            assert kept.facts.model_dump()["values"] == {
                "CUDA_VISIBLE_DEVICES": "0,1",
                "NCCL_DEBUG": "INFO",
            }


def test_secrets_of_docker_inspect_leave_before_the_machine_is_kept() -> None:
    inspected = json.dumps([{
        "Path": "python3", "Args": ["-m", "sglang.launch_server", "--api-key", "Zq8hunter2"],
        "HostConfig": {"ShmSize": 67108864, "NanoCpus": 0}, "Config": {"Image": "lmsysorg/sglang:v0.5.11", "Env": ["HF_TOKEN=Zq8hunter2", "SESSION_PEPPER=Zq8hunter2"]},
    }], indent=1)  # fmt: skip
    (kept,) = [
        learn(1, one.probe, one.source, one.output)
        for one in read_texts([("i.json", inspected.encode())], PROBES)
        if isinstance(one.probe, ReadMachine)
    ]
    assert kept.output is not None
    assert "Zq8hunter2" not in kept.output.stdout
    assert kept.facts is not None
    assert kept.facts.model_dump()["shm_total_mib"] == 64.0


def test_anchors_that_share_a_common_part_are_read() -> None:
    text = (
        "x-common: &common\n  shm_size: 16g\n  cpuset: 0-7\nservices:\n  one:\n    <<: *common\n    image: lmsysorg/sglang:v0.5.11\n"
        "    command: python3 -m sglang.launch_server --model-path /m\n"
    )
    (found,) = [node for node, _ in containers(text)]
    assert (found["shm_size"], found["cpuset"]) == ("16g", "0-7")
    assert ReadMachine().parse(text).shm_total_mib == 16384.0


def ten_of(name: str) -> str:
    return ", ".join([f"*{name}"] * 10)


LAUGHS = "\n".join(f"a{n}: &a{n} [{ten_of(f'a{n - 1}') if n else 'x'}]" for n in range(12))
MERGES = "b0: &b0\n  k: v\n" + "\n".join(
    f"b{n}: &b{n}\n  <<: [{ten_of(f'b{n - 1}')}]\n  k{n}: v" for n in range(1, 12)
)


@pytest.mark.parametrize(
    "bomb", [LAUGHS, MERGES, "a: &a [*a]", "a: &a\n  b: *a", "[" * 20_000, "a: " + "{x: " * 5000]
)
def test_a_yaml_bomb_is_no_manifest_and_costs_little(bomb: str) -> None:
    tracemalloc.start()
    assert documents(f"image: x\n{bomb}\n") == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20


def test_counters_read_twice_by_one_command_tell_what_happened_between() -> None:
    told = ReadMachine().parse(
        "$ cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat; sleep 20; cat /sys/fs/cgroup/cpu.stat\n400000 100000\n"
        "usage_usec 5\nnr_periods 1000\nnr_throttled 400\nusage_usec 9\nnr_periods 1200\nnr_throttled 591\n"
    )
    assert (told.quota_cpus, told.throttled_delta, told.window_s) == (4.0, 191, 20.0)


def test_the_same_counters_twice_are_one_reading() -> None:
    stat = "nr_periods 1000\nnr_throttled 400\n"
    told = ReadMachine().parse(
        "$ cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu.stat\n400000 100000\n"
        + 2 * stat
    )
    assert (told.periods, told.throttled_delta) == (1000, None)
