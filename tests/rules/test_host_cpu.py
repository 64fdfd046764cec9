"""The host's CPU: what slows it, and what only sounds slow."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.cpu_quota import grammar_pool_starves_the_engine, quota_used_up
from tools.rules.host_cpu import (
    cores_are_fought_for,
    cores_below_their_lowest_step,
    cores_kept_slow,
    cpu_is_slow,
    processes_burn_many_cores,
)


def saving(driver, fastest=None, **more):
    now = (800.0, fastest) if fastest else ()
    return Machine(
        governors={"powersave": 16}, scaling_driver=driver, mhz_max=4000.0, mhz_now=now, **more
    )


def test_powersave_of_acpi_is_the_lowest_clock(judged):
    assert isinstance(judged(cores_kept_slow, saving("acpi-cpufreq")), Finding)


@pytest.mark.parametrize(("fastest", "kind"), [(2799.0, Finding), (2800.0, Cleared)])
def test_powersave_of_intel_is_judged_by_the_clock_under_load(judged, fastest, kind):
    assert isinstance(judged(cores_kept_slow, saving("intel_pstate", fastest, load1=2.0)), kind)


def test_slow_clocks_of_an_idle_machine_prove_nothing(judged):
    with pytest.raises(Undecided):
        judged(cores_kept_slow, saving("intel_pstate", 1000.0, load1=0.1))


def test_other_governors_clear_it(judged):
    machine = Machine(governors={"performance": 12, "powersave": 4})
    assert isinstance(judged(cores_kept_slow, machine), Cleared)


def test_a_guest_sees_no_governor(judged):
    with pytest.raises(Undecided):
        judged(cores_kept_slow, Machine(virt="kvm", governors={"powersave": 4}))


@pytest.mark.parametrize(("delta", "kind"), [(5, Finding), (4, Cleared)])
def test_five_percent_of_the_periods_throttle(judged, delta, kind):
    machine = Machine(quota_cpus=4, throttled_delta=delta, window_s=10.0)
    assert isinstance(judged(quota_used_up, machine), kind)


def test_no_quota_throttles_nobody(judged):
    assert isinstance(judged(quota_used_up, Machine(quota_told=True)), Cleared)


def test_periods_since_start_are_left_open(judged):
    with pytest.raises(Undecided) as why:
        judged(quota_used_up, Machine(quota_cpus=6, periods=100, throttled_periods=22))
    assert "twice" in why.value.settle


def rates(*rates_tok_s, running=14):
    return ServerLog(decode=tuple(DecodeLine(running=running, tok_s=rate) for rate in rates_tok_s))


SMALL = Machine(cpus=172, quota_cpus=6, periods=100, throttled_periods=22)
COLLAPSE = rates(1204, 1311, 1288, 310, 92, 61)


def test_a_collapse_in_a_small_quota_is_the_pool(judged):
    idle = Gpus(samples=(GpuSample(util_pct=9),))
    assert isinstance(judged(grammar_pool_starves_the_engine, SMALL, COLLAPSE, idle), Finding)


@pytest.mark.parametrize(
    ("machine", "log"),
    [
        (SMALL, rates(1204, 1311, 1288, 500)),
        (SMALL.model_copy(update={"cpus": 23}), COLLAPSE),
        (Machine(quota_told=True, cpus=172), COLLAPSE),
    ],
)
def test_no_collapse_or_no_small_quota_clears_it(judged, machine, log):
    assert isinstance(judged(grammar_pool_starves_the_engine, machine, log), Cleared)


def test_a_busy_gpu_is_not_starved(judged):
    busy = Gpus(samples=(GpuSample(util_pct=97),))
    with pytest.raises(Undecided):
        judged(grammar_pool_starves_the_engine, SMALL, COLLAPSE, busy)


@pytest.mark.parametrize(("steal", "kind"), [(5.1, Finding), (5.0, Cleared)])
def test_steal_is_contention(judged, steal, kind):
    assert isinstance(judged(cores_are_fought_for, Machine(steal_pct=steal, idle_pct=60)), kind)


@pytest.mark.parametrize(("load", "kind"), [(17.0, Finding), (16.0, Cleared)])
def test_more_load_than_cores_is_contention(judged, load, kind):
    busy = Machine(load1=load, cpus=16, idle_pct=1.0)
    assert isinstance(judged(cores_are_fought_for, busy), kind)


def test_a_load_average_alone_may_be_tasks_that_wait_for_a_disk(judged):
    with pytest.raises(Undecided):
        judged(cores_are_fought_for, Machine(load1=61.0, cpus=16))


def test_top_tells_load_idle_and_steal_as_well(judged):
    top = Processes(load1=141.0, idle_pct=0.4)
    found = judged(cores_are_fought_for, Machine(cpus=64), top)
    assert isinstance(found, Finding)
    assert "141.0 on 64 cores" in found.statement
    stolen = judged(cores_are_fought_for, Machine(cpus=6), Processes(steal_pct=24.0, idle_pct=28.0))
    assert "24 %" in stolen.statement


def test_in_lxc_the_load_may_be_the_hosts(judged):
    with pytest.raises(Undecided):
        judged(cores_are_fought_for, Machine(load1=40.0, cpus=16, virt="lxc"))


def test_many_cores_are_left_open_with_their_test(judged):
    with pytest.raises(Undecided) as why:
        judged(processes_burn_many_cores, Processes(rows=(Process(pid=1, name="x", cpu_pct=7812),)))
    assert "perf top" in why.value.settle


def test_two_polling_cores_are_not_many(judged):
    rows = (Process(pid=1, name="sglang::schedul", cpu_pct=100), Process(pid=2, cpu_pct=999))
    assert isinstance(judged(processes_burn_many_cores, Processes(rows=rows)), Cleared)


@pytest.mark.parametrize(
    ("model", "suspicion"),
    [
        ("AMD Ryzen Threadripper 1950X 16-Core Processor", 0.35),
        ("Intel(R) Xeon(R) Gold 6138 CPU @ 2.00GHz", 0.35),
        ("Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz", 0.35),
        ("AMD EPYC 9575F 64-Core Processor", 0.08),
        ("AMD Ryzen 7 5700X 8-Core Processor", 0.08),
    ],
)
def test_a_slow_cpu_is_never_proved_by_its_name(judged, model, suspicion):
    with pytest.raises(Undecided) as why:
        judged(cpu_is_slow, Machine(cpu_model=model))
    assert why.value.suspicion == suspicion


def test_two_looks_at_cpu_stat_tell_what_happened_between(judged):
    before = Machine(quota_cpus=4.0, quota_told=True, periods=512_220, throttled_periods=301_178)
    after = before.model_copy(update={"periods": 512_520, "throttled_periods": 301_451})
    for one, other in ((before, after), (after, before)):
        found = judged(quota_used_up, one.merged(other))
        assert "91% of the periods of 30 s" in found.statement
    quiet = before.model_copy(update={"periods": 512_520})
    assert isinstance(judged(quota_used_up, before.merged(quiet)), Cleared)


def test_one_look_twice_and_looks_at_two_containers_tell_no_window():
    one = Machine(quota_cpus=4.0, quota_told=True, periods=100, throttled_periods=50)
    assert one.merged(one).throttled_delta is None
    far = one.model_copy(update={"periods": 90_000, "throttled_periods": 60})
    assert one.merged(far).throttled_delta is None
    wider = one.model_copy(update={"quota_cpus": 8.0, "periods": 200, "throttled_periods": 60})
    assert one.merged(wider).throttled_delta is None


HELD = Machine(mhz_now=(400.0,) * 24, mhz_min=800.0, mhz_max=3600.0)
AT_WORK = Processes(idle_pct=49.6)


def test_below_the_lowest_step_it_is_the_hardware(judged):
    found = judged(cores_below_their_lowest_step, HELD, AT_WORK)
    assert "PROCHOT" in found.statement


@pytest.mark.parametrize(
    ("machine", "processes"),
    [
        (HELD, Processes(idle_pct=99.0)),
        (HELD, None),
        (Machine(mhz_now=(400.0,)), AT_WORK),
    ],
    ids=["idle", "load not told", "no lowest step"],
)
def test_at_rest_or_without_a_lowest_step_it_says_nothing(judged, machine, processes):
    known = (machine, processes) if processes else (machine,)
    assert judged(cores_below_their_lowest_step, *known) is None


def test_a_core_at_its_lowest_step_is_the_governors_matter(judged):
    slow = Machine(mhz_now=(800.0,), mhz_min=800.0)
    assert isinstance(judged(cores_below_their_lowest_step, slow, AT_WORK), Cleared)
