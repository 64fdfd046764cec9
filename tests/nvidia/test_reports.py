"""Reports about GPUs in all their forms: what the golden files cannot show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hostile_texts import OF_NVIDIA
from tools.errors import Absent, Failed, ProbeError, Unreadable
from tools.nvidia.any_report import plain, read_gpus, tells_of_gpus
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl_log import read_nccl_log
from tools.nvidia.nccl_tests import read_nccl_test
from tools.nvidia.nvlink import is_nvlink, read_nvlink
from tools.nvidia.smi_csv import MOST
from tools.nvidia.topo_matrix import is_matrix, read_matrix

GOLDEN = Path(__file__).parent.parent / "golden"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text("utf-8")


def test_no_reason_active_and_no_reason_told_differ() -> None:
    told = read_gpus(
        "index, clocks_event_reasons.active\n0, 0x0000000000000001\n1, [N/A]\n"
    ).samples
    assert [sample.reasons for sample in told] == [frozenset(), None]
    table = read_gpus(golden("ReadGpus/driver_590_table_h100_hot.out")).samples
    assert table[0].reasons is None


def test_no_process_and_no_table_of_processes_differ() -> None:
    assert read_gpus(golden("ReadGpus/driver_525_table_no_processes.out")).processes == ()
    assert read_gpus(golden("ReadGpus/driver_580_table_gb10_without_memory.out")).processes is None
    assert read_gpus(golden("ReadGpus/driver_570_xml_l40s_in_vm.out")).processes == ()
    assert (
        read_gpus(golden("ReadGpus/driver_535_xml_h100_mig_reset_required.out")).processes is None
    )


def test_processes_of_a_long_report_are_read_with_their_gpu() -> None:
    text = golden("ReadGpus/driver_590_q_h100_hot.out").replace(
        "    Processes                                          : None\n",
        "    Processes\n        GPU instance ID                                : N/A\n"
        "        Process ID                                     : 2114\n"
        "            Type                                       : C\n"
        "            Name                                       : python3 -m vllm --api-key geheim\n"
        "            Used GPU Memory                            : 41012 MiB\n"
        "        Process ID                                     : 2115\n"
        "            Type                                       : C\n"
        "            Name                                       : /usr/bin/other\n"
        "            Used GPU Memory                            : Not available in WDDM driver model\n",
    )
    told = read_gpus(text).processes
    assert told is not None
    assert [(p.gpu, p.pid, p.name, p.used_mib) for p in told] == [
        (0, 2114, "python3", 41012),
        (0, 2115, "/usr/bin/other", None),
    ]


def test_a_long_report_that_is_cut_off_keeps_what_was_whole() -> None:
    text = golden("ReadGpus/driver_590_q_h100_hot.out")
    sample = read_gpus(text[: text.index("    Temperature") + 20]).samples[0]
    assert (sample.pstate, sample.ecc_on, sample.temp_c) == (0, True, None)


def test_reports_below_each_other_are_looks_after_each_other() -> None:
    text = golden("ReadGpus/driver_450_q_power_brake.out")
    assert len(read_gpus(text + text.replace("71.88 W", "72.01 W")).samples) == 2
    xml = golden("ReadGpus/driver_590_xml_a5000_idle.out")
    assert len(read_gpus(xml + xml.replace("15.90 W", "16.10 W")).samples) == 2


@pytest.mark.parametrize(
    "status", ["Unlicensed (Unrestricted)", "Licensed (Expiry: 2027-1-1 0:0:0 GMT)"]
)
def test_the_licence_of_a_virtual_gpu_is_told(status: str) -> None:
    text = golden("ReadGpus/driver_550_q_vgpu_cut_out.out")
    text += f"    vGPU Software Licensed Product\n        Product Name                      : X\n        License Status                    : {status}\n"
    assert read_gpus(text).samples[0].licence == status


def test_a_slice_of_a_gpu_is_not_the_gpu() -> None:
    """MIG devices repeat memory and ECC below the GPU they are cut from."""
    sample = read_gpus(golden("ReadGpus/driver_535_xml_h100_mig_reset_required.out")).samples[0]
    assert (sample.mem_total_mib, sample.ecc_uncorrected) == (81559, 0)


def test_module_power_is_not_the_gpus() -> None:
    assert (
        read_gpus(golden("ReadGpus/driver_535_xml_h100_mig_reset_required.out"))
        .samples[0]
        .power_default_w
        == 350
    )


def test_looks_of_several_programs_meet_in_one_gpu() -> None:
    csv = read_gpus("index, pci.bus_id, name\n1, 00000000:9C:00.0, NVIDIA A100-SXM4-80GB\n")
    rows = read_gpus(golden("ReadGpus/driver_580_q_row_remapper.out"))
    groups = csv.merged(rows).by_gpu()
    assert list(groups) == ["1"]
    assert groups["1"][1].remap_pending


def test_the_whole_name_is_preferred_to_a_cut_one() -> None:
    table = read_gpus(golden("ReadGpus/driver_580_table_long_names.out"))
    csv = read_gpus(
        "index, name\n0, NVIDIA RTX 5880 Ada Generation\n1, NVIDIA RTX 5880 Ada Generation\n"
    )
    assert set(table.merged(csv).names) == {"NVIDIA RTX 5880 Ada Generation"}


def test_alike_samples_of_two_looks_are_both_kept() -> None:
    one, two = GpuSample(index=0, link_gen=1), GpuSample(index=0, link_gen=4)
    merged = Gpus(samples=(one, two)).merged(Gpus(samples=(one,)))
    assert merged.samples == (one, two, one)


def test_colours_carriage_returns_and_a_byte_order_mark_do_not_matter() -> None:
    text = golden("ReadGpus/csv_mig_enabled.out")
    assert read_gpus("\ufeff" + text.replace("\n", "\r\n")) == read_gpus(text)
    assert plain("\x1b[4mGPU0\x1b[0m\n") == "GPU0\n"


FOREIGN = {
    "lspci": "01:00.0 VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1)\n\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16\n",
    "dmesg": "[   12.1] NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.\n[ 13.0] NVRM: Xid (PCI:0000:01:00): 79, GPU is lost\n",
    "serve log": "[2026-09-02 07:00:17 TP0] Decode batch, #running-req: 1, #token: 5, token usage: 0.00, cuda graph: True, gen throughput (token/s): 55.0\n",
    "top": "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n   4100 root      20   0   90g   20g   1g R  99.0  8.0   1:00 python\n",
    "json": '{"model": "x", "gpus": 2}',
    "bench": "============ Serving Benchmark Result ============\nBackend: sglang\nMean TTFT (ms): 12.0\n",
    "any csv": "size, default, tuned\n32, 48.16, 26.20\n",
    "notes": "GPU 0 is slow, see the table: P2, 98 %\n",
    "lscpu": "Architecture:        x86_64\nCPU(s):              64\nModel name:          AMD EPYC 7763\n",
    "memory": "              total        used        free\nMem:          515           120         300\n",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_others_print_is_not_claimed(text: str) -> None:
    assert not tells_of_gpus(text)
    assert not is_matrix(text)
    assert not is_nvlink(text)
    with pytest.raises(ProbeError):
        read_gpus(text)


@pytest.mark.parametrize(
    "folder", ["ReadTopology", "ReadNvlinks", "ReadNcclLog", "ReadAllReduceTest"]
)
def test_what_tells_of_links_is_not_taken_for_a_report_of_gpus(folder: str) -> None:
    for path in (GOLDEN / folder).glob("*.out"):
        text = path.read_text("utf-8")
        assert not tells_of_gpus(text) or "couldn't communicate" in text, path.name


def test_reports_of_gpus_are_not_taken_for_links() -> None:
    for path in (GOLDEN / "ReadGpus").glob("*.out"):
        text = path.read_text("utf-8")
        assert not is_nvlink(text), path.name
        assert not is_matrix(text), path.name


def test_permission_to_a_single_value_is_no_refusal_of_the_rest() -> None:
    text = golden("ReadGpus/driver_590_table_h100_hot.out").replace(
        "41012MiB", "Insufficient Permissions"
    )
    assert read_gpus(text).samples[0].temp_c == 88


def test_an_answer_without_rows_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        read_gpus("index, pstate\n")


def test_a_lost_gpu_beside_good_ones_is_not_the_whole_answer() -> None:
    text = "Unable to determine the device handle for GPU 0000:C1:00.0: Unknown Error\n"
    with pytest.raises(Failed, match=r"0000:C1:00\.0"):
        read_gpus(text)


@pytest.mark.parametrize("name", OF_NVIDIA)
@pytest.mark.parametrize(
    "read", [read_gpus, tells_of_gpus, read_matrix, read_nvlink, read_nccl_log, read_nccl_test]
)
def test_hostile_text_breaks_nothing(name: str, read: Callable[[str], object]) -> None:
    with suppress(ProbeError):
        read(OF_NVIDIA[name].text())


def test_of_twenty_thousand_rows_the_newest_are_kept() -> None:
    rows = "".join(f"{n % 8}, P2, {n % 100} %, 0x0000000000000004\n" for n in range(20_000))
    samples = read_gpus(
        "index, pstate, utilization.gpu [%], clocks_event_reasons.active\n" + rows
    ).samples
    assert len(samples) == MOST
    assert samples[-1].util_pct == 19_999 % 100


def test_readings_of_traffic_in_two_texts_are_numbered() -> None:
    first = read_nvlink(golden("ReadNvlinks/traffic_counters.out"))
    merged = first.merged(first)
    assert len(merged.links) == 2 * len(first.links)
    assert {link.reading for link in merged.links} == {0, 1}


def test_states_and_errors_in_two_texts_meet_in_one_link() -> None:
    states = read_nvlink(golden("ReadNvlinks/half_the_links_inactive.out"))
    merged = states.merged(read_nvlink(golden("ReadNvlinks/error_counters.out")))
    link = next(each for each in merged.links if (each.gpu, each.link) == (1, 15))
    assert (link.active, link.gb_s, link.crc_errors, link.reading) == (True, 26.562, 0, 0)
    assert len(merged.links) == len(states.links)


def test_error_counters_in_two_texts_are_two_readings() -> None:
    """A counter since boot proves nothing; what it grew by between two looks does."""
    text = golden("ReadNvlinks/error_counters.out")
    first, later = read_nvlink(text), read_nvlink(text.replace("CRC Errors: 0", "CRC Errors: 40"))
    readings = [each for each in first.merged(later).links if (each.gpu, each.link) == (0, 0)]
    assert [(each.reading, each.crc_errors) for each in readings] == [(0, 0), (1, 40)]
    assert (
        read_nvlink(text + text.replace("CRC Errors: 0", "CRC Errors: 40")).links[1].crc_errors
        == 40
    )


def test_cards_of_another_maker_are_refused_in_a_sentence_that_says_so() -> None:
    for name, maker in (("rocm_smi", "AMD"), ("amd_smi", "AMD")):
        text = golden(f"ReadGpus/{name}_of_another_maker.out")
        assert tells_of_gpus(text)
        with pytest.raises(Absent, match=f"of {maker} GPUs.*NVIDIA GPUs alone"):
            read_gpus(text)


def test_three_numbers_and_commas_are_no_processes() -> None:
    assert not tells_of_gpus("38122, python3, 44 MiB of 80 are used\n1, 2, 3\n")


def test_what_nvlink_5_corrects_is_no_error() -> None:
    (link,) = read_nvlink(golden("ReadNvlinks/nvlink_5_error_counters.out")).links
    assert (link.crc_errors, link.recovery_errors) == (77, 2)  # not the 120 symbols, nor FEC


def test_a_copy_with_other_samples_is_grouped_anew() -> None:
    gpus = Gpus(samples=(GpuSample(index=0, name="a"),))
    assert [card.name for card in gpus.cards()] == ["a"]
    other = gpus.model_copy(update={"samples": (GpuSample(index=1, name="b"),)})
    assert list(other.by_gpu()) == ["1"]
    assert [card.name for card in other.cards()] == ["b"]
    assert [card.name for card in gpus.cards()] == ["a"]
