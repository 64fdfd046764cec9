"""A link that is slow under load, against one that only rests."""

from __future__ import annotations

import pytest

from tools.engine import Launch, ModelConfig
from tools.errors import Undecided
from tools.linux.kernel import BandwidthNotice, KernelLog
from tools.linux.machine import Machine
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.pcie_listing import link_slower_in_the_bus_listing
from tools.rules.pcie_speed import link_rests_when_idle, link_slower_than_the_slot


def sample(gen, util=99, pstate=1, gpumax=5, hostmax=5, index=3, **more):
    return GpuSample(
        index=index, bdf="0000:e3:00.0", link_gen=gen, util_pct=util, pstate=pstate,
        link_gen_gpumax=gpumax, link_gen_hostmax=hostmax, link_width=16, **more,
    )  # fmt: skip


def gpus(*samples):
    return Gpus(samples=samples)


TP2 = Launch(flags={"tp_size": 2})


def test_a_link_low_in_every_busy_sample_is_slow(judged):
    found = judged(link_slower_than_the_slot, gpus(*[sample(2)] * 7), TP2)
    assert isinstance(found, Finding)
    assert found.quotes == (
        "GPU 3: Gen2 of Gen5 at 99 % utilisation in P1, 7 of 7 samples at work",
    )
    assert found.effect.prefill_pct[1] < -45
    assert found.effect.decode_pct[1] > -5


@pytest.mark.parametrize(("low", "fine"), [(4, 1), (8, 2)])
def test_eighty_percent_low_samples_are_enough(judged, low, fine):
    found = judged(link_slower_than_the_slot, gpus(*[sample(1)] * low, *[sample(5)] * fine))
    assert isinstance(found, Finding)


def test_fewer_low_samples_are_a_link_that_changes(judged):
    with pytest.raises(Undecided, match="changes"):
        judged(link_slower_than_the_slot, gpus(*[sample(1)] * 7, *[sample(5)] * 2))


def test_one_low_sample_of_many_is_a_link_waking_up(judged):
    found = judged(link_slower_than_the_slot, gpus(sample(1), *[sample(5)] * 9))
    assert isinstance(found, Cleared)


def test_one_sample_alone_is_less_sure_than_three(judged):
    one = judged(link_slower_than_the_slot, gpus(sample(1)))
    three = judged(link_slower_than_the_slot, gpus(*[sample(1)] * 3))
    assert one.confidence < three.confidence


@pytest.mark.parametrize(
    "idle", [{"util": 0, "pstate": 8}, {"util": 50}, {"util": 99, "pstate": 3}]
)
def test_idle_samples_prove_nothing(judged, idle):
    with pytest.raises(Undecided) as why:
        judged(link_slower_than_the_slot, gpus(*[sample(1, **idle)] * 9))
    assert "pcie.link.gen.gpucurrent" in why.value.settle


def test_a_gpu_without_use_or_pstate_is_not_busy(judged):
    with pytest.raises(Undecided):
        judged(link_slower_than_the_slot, gpus(sample(1, util=None, pstate=None)))


def test_the_slot_may_be_the_limit(judged):
    assert isinstance(judged(link_slower_than_the_slot, gpus(sample(3, hostmax=3))), Cleared)


def test_without_a_maximum_nothing_is_low(judged):
    with pytest.raises(Undecided, match="possible"):
        judged(link_slower_than_the_slot, gpus(sample(3, gpumax=None, hostmax=None)))


def test_the_bus_tells_the_maximum_where_nvml_does_not(judged):
    links = PciLinks(
        devices=(
            PciDevice(
                bdf="0000:e3:00.0", gpu=True, cap_gen=5, parent="0000:e0:01.0", speed_frozen=True
            ),
            PciDevice(bdf="0000:e0:01.0", cap_gen=4),
        )
    )
    found = judged(link_slower_than_the_slot, gpus(sample(1, gpumax=None, hostmax=None)), links)
    assert "runs at Gen1 under load; card and slot can do Gen4" in found.statement
    assert "SpeedDis+" in found.remedy[0]


def test_a_single_gpu_loses_loading_and_no_decode(judged):
    found = judged(link_slower_than_the_slot, gpus(sample(1)), Launch(flags={"tp_size": 1}))
    assert found.slows == {"start"}
    assert found.effect.decode_pct[1] == 0


def test_unknown_parallelism_gives_no_figure(judged):
    assert judged(link_slower_than_the_slot, gpus(sample(1))).effect.prefill_pct is None


def test_in_a_container_the_remedy_is_on_the_host(judged):
    found = judged(
        link_slower_than_the_slot, gpus(sample(1)), Machine(virt="lxc", guest_of="proxmox")
    )
    assert "whoever administers the Proxmox host" in found.remedy[0]
    assert "Power the Proxmox host off and on (cold" in found.remedy[1]
    assert "slot" in found.remedy[2]
    assert "BIOS" in found.remedy[3]
    assert "long prompts" in found.remedy[-1]


def test_on_bare_metal_the_remedy_names_no_host(judged):
    found = judged(link_slower_than_the_slot, gpus(sample(1)), Machine(virt="none"))
    assert found.remedy[0].startswith("Power the machine off and on")


def test_two_slow_links_are_told_as_a_person_would(judged):
    both = gpus(sample(1, index=0), sample(1, index=1))
    found = judged(link_slower_than_the_slot, both)
    assert found.statement == (
        "The PCIe links of GPU 0 and GPU 1 run at Gen1 under load; card and slot can do Gen5."
    )


def test_healthy_links_are_cleared_in_one_sentence(judged):
    both = gpus(sample(5, index=0), sample(5, index=1))
    assert "all 2 GPUs run at Gen5" in judged(link_slower_than_the_slot, both).why


LISTED = PciLinks(devices=(PciDevice(bdf="0000:01:00.0", gpu=True, cap_gen=4, link_gen=1),))


def test_lspci_alone_decides_nothing(judged):
    with pytest.raises(Undecided, match="idle"):
        judged(link_slower_in_the_bus_listing, LISTED)


def test_lspci_at_full_speed_clears_the_link(judged):
    fine = PciLinks(devices=(PciDevice(bdf="0000:01:00.0", gpu=True, cap_gen=4, link_gen=4),))
    assert isinstance(judged(link_slower_in_the_bus_listing, fine), Cleared)


def test_samples_overrule_the_bus_listing(judged):
    assert judged(link_slower_in_the_bus_listing, LISTED, gpus(sample(5))) is None


def test_a_link_that_rises_under_load_is_a_false_alarm(judged):
    rest = [sample(1, util=0, pstate=8)] * 3
    found = judged(link_rests_when_idle, gpus(*rest, *[sample(5)] * 3))
    assert isinstance(found, Finding)
    assert found.benign


def test_the_boot_notice_is_a_false_alarm_too(judged):
    kernel = KernelLog(notices=(BandwidthNotice(bdf="0000:e3:00.0", limited_gen=1),))
    assert judged(link_rests_when_idle, gpus(*[sample(5)] * 3), kernel).benign


def test_only_idle_readings_leave_it_open(judged):
    with pytest.raises(Undecided):
        judged(link_rests_when_idle, gpus(sample(1, util=0, pstate=8)))


def test_a_slow_link_is_no_resting_link(judged):
    both = gpus(sample(1, util=0, pstate=8), *[sample(2)] * 4)
    assert judged(link_rests_when_idle, both) is None


def test_no_low_reading_is_no_false_alarm(judged):
    assert judged(link_rests_when_idle, gpus(sample(5))) is None


# Qwen3.6-27B's sizes (its config.json), on two cards whose figures gpus.json holds.
CONFIG = ModelConfig(
    layers=64, hidden=5120, intermediate=17408, heads=24, kv_heads=4, head_dim=256, vocabulary=248320,
    tied_head=False, full_attention_layers=16, linear_layers=48, linear_key_heads=16,
    linear_value_heads=48, linear_key_dim=128, linear_value_dim=128, output_gate=True, dtype="bfloat16",
)  # fmt: skip


def test_a_known_deployment_gets_the_figures_of_the_step_model(judged):
    a6000 = {"name": "NVIDIA RTX A6000", "gpumax": 4, "hostmax": 4, "link_width_max": 16}
    both = gpus(*(sample(1, index=n, **a6000) for n in (0, 1) for _ in range(4)))
    found = judged(link_slower_than_the_slot, both, TP2, CONFIG)
    assert found.effect.source.startswith("the step model")
    assert -60 < found.effect.prefill_pct[1] < -40
    assert -6 < found.effect.decode_pct[1] < 0


def rig(slow_gen=2, slow_util=27, slow_pstate=2, sisters_gen=3):
    gens = {0: sisters_gen, 1: sisters_gen, 2: slow_gen}
    return Gpus(
        samples=tuple(
            GpuSample(
                index=gpu, name="NVIDIA GeForce RTX 3090", link_gen=gen, link_gen_max=3,
                util_pct=slow_util if gpu == 2 else 30, pstate=slow_pstate if gpu == 2 else 2,
            )
            for _ in range(4)
            for gpu, gen in gens.items()
        )
    )  # fmt: skip


def test_cards_that_wait_for_one_slow_link_are_seldom_above_half_use(judged):
    found = judged(link_slower_than_the_slot, rig())
    assert "GPU 2 runs at Gen2" in found.statement


@pytest.mark.parametrize(
    "open_",
    [rig(slow_pstate=8), rig(slow_util=3), rig(sisters_gen=2)],
    ids=["P8", "idle", "all low"],
)
def test_without_a_sister_in_the_same_state_low_use_proves_nothing(judged, open_):
    with pytest.raises(Undecided):
        judged(link_slower_than_the_slot, open_)
