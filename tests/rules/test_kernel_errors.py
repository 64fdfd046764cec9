"""Errors of the driver: the first in time is the cause, and memory is not the program."""

from __future__ import annotations

import pytest

from tools.engine import Notice, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import AerLine, KernelLog, XidLine
from tools.linux.kernel_log import read_kernel_log
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.kernel_errors import (
    driver_asks_for_a_reset,
    gpu_firmware_hangs,
    gpu_left_the_bus,
    library_and_module_differ,
    library_refuses_the_module,
    program_faults,
)
from tools.rules.memory_health import (
    corrected_errors_keep_coming,
    cuda_reports_bad_memory,
    memory_errors_counted,
    memory_errors_in_the_log,
    no_rows_left,
    row_waits_for_a_reset,
)


def log(*codes, text="words", **more):
    lines = tuple(
        XidLine(bdf="0000:9c:00.0", code=c, text=text, at=str(n)) for n, c in enumerate(codes)
    )
    return KernelLog(xids=lines, **more)


def gpus(**more):
    return Gpus(samples=(GpuSample(index=0, **more),))


def test_a_memory_error_is_the_cards_and_no_programs(judged):
    kernel = log(48, 63, 94, 154)
    assert judged(memory_errors_in_the_log, kernel).confidence == 0.95
    assert isinstance(judged(program_faults, log(48, 31, 43)), Cleared)
    assert judged(driver_asks_for_a_reset, kernel).confidence == 0.6


def test_a_remap_alone_is_no_error_of_today(judged):
    assert isinstance(judged(memory_errors_in_the_log, log(63)), Cleared)


def test_a_halted_controller_alone_is_left_open_and_the_clean_up_is_no_programs(judged):
    with pytest.raises(Undecided, match=r"GPU 0000:9c:00\.0 halted"):
        judged(gpu_firmware_hangs, log(62, 45, 45))
    assert isinstance(judged(program_faults, log(62, 45, 45)), Cleared)
    assert isinstance(judged(gpu_firmware_hangs, log(79, 62)), Cleared)  # it halts after it is gone


def test_the_same_fault_again_and_again_is_a_program(judged):
    found = judged(program_faults, log(13, 13, 13))
    assert found.confidence == 0.88
    assert "same words" in found.statement


def test_one_fault_is_less_sure(judged):
    assert judged(program_faults, log(13)).confidence == 0.75


def test_the_pid_does_not_make_words_differ(judged):
    lines = tuple(XidLine(bdf="b", code=31, text=f"pid={n}, MMU Fault", at=str(n)) for n in (1, 2))
    assert judged(program_faults, KernelLog(xids=lines)).confidence == 0.88


@pytest.mark.parametrize("first", [145, 79, 48, 119])
def test_faults_beside_other_errors_are_collateral(judged, first):
    assert isinstance(judged(program_faults, log(first, 31, 45)), Cleared)


def test_faults_beside_page_faults_are_the_iommus(judged):
    assert isinstance(judged(program_faults, log(31, io_page_faults=("0000:9c:00.0",))), Cleared)


def test_a_cleanup_alone_tells_no_cause(judged):
    with pytest.raises(Undecided):
        judged(program_faults, log(45))


def test_a_lost_gpu_is_found_with_and_without_its_number(judged):
    assert judged(gpu_left_the_bus, log(79, 79)).confidence == 0.9
    assert isinstance(judged(gpu_left_the_bus, KernelLog(fallen_off=("0000:18:00.0",))), Finding)
    assert isinstance(judged(gpu_left_the_bus, log(62)), Cleared)


def test_after_a_surprise_down_the_loss_is_the_consequence(judged):
    kernel = log(79, aer=(AerLine(errors=("SDES",)),))
    assert judged(gpu_left_the_bus, kernel).confidence == 0.6


def test_a_silent_firmware_after_a_lost_gpu_is_less_sure(judged):
    assert (
        judged(gpu_firmware_hangs, log(119)).confidence
        > judged(gpu_firmware_hangs, log(79, 119)).confidence
    )


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("GPU recovery action: Node Reboot Required", True),
        ("changed from 0x0 (None) to 0x2 (Drain and Reset)", True),
        ("changed from 0x2 (Drain and Reset) to 0x0 (None)", False),
    ],
)
def test_an_action_that_became_none_is_over(judged, text, asks):
    assert isinstance(judged(driver_asks_for_a_reset, log(154, text=text)), Finding) is asks


def test_nvml_tells_the_action_too(judged):
    assert isinstance(
        judged(driver_asks_for_a_reset, KernelLog(), gpus(recovery_action="Reset")), Finding
    )
    assert isinstance(
        judged(driver_asks_for_a_reset, KernelLog(), gpus(recovery_action="None")), Cleared
    )


def test_a_mismatch_is_said_by_the_kernel(judged):
    assert isinstance(judged(library_and_module_differ, KernelLog(version_mismatch=True)), Finding)


@pytest.mark.parametrize(("module", "clear"), [("590.48.01", True), ("590.44", False)])
def test_versions_are_compared(judged, module, clear):
    kernel, known = KernelLog(nvrm_version=module), Gpus(driver="590.48.01")
    if clear:
        assert isinstance(judged(library_and_module_differ, kernel, known), Cleared)
    else:
        with pytest.raises(Undecided):
            judged(library_and_module_differ, kernel, known)


@pytest.mark.parametrize(("count", "kind"), [(1, Finding), (0, Cleared)])
def test_uncorrectable_errors_count_since_driver_load(judged, count, kind):
    assert isinstance(judged(memory_errors_counted, gpus(ecc_uncorrected=count)), kind)


def test_errors_of_the_cards_life_are_history(judged):
    assert isinstance(
        judged(memory_errors_counted, gpus(ecc_uncorrected=0, ecc_uncorrected_life=9)), Cleared
    )


@pytest.mark.parametrize(("pending", "kind"), [(True, Finding), (False, Cleared)])
def test_a_pending_remap_waits_for_a_reset(judged, pending, kind):
    known = gpus(remap_pending=pending, remapped_uncorrectable=12)
    assert isinstance(judged(row_waits_for_a_reset, known), kind)


def test_a_failed_remap_is_the_end(judged):
    assert judged(no_rows_left, gpus(remap_failed=True)).confidence == 0.95
    assert isinstance(judged(no_rows_left, gpus(), log(64)), Finding)
    assert isinstance(judged(no_rows_left, gpus(remap_failed=False)), Cleared)


@pytest.mark.parametrize(
    ("now", "life", "storm"), [(37, 236_795, True), (1, 10_000, True), (100, None, True)]
)
def test_many_corrected_errors_are_a_storm(judged, now, life, storm):
    known = gpus(ecc_corrected=now, ecc_corrected_life=life)
    assert isinstance(judged(corrected_errors_keep_coming, known), Finding) is storm


@pytest.mark.parametrize(("now", "life"), [(99, 99), (0, 10_000), (1, 9_999)])
def test_some_corrected_errors_are_left_open(judged, now, life):
    with pytest.raises(Undecided):
        judged(corrected_errors_keep_coming, gpus(ecc_corrected=now, ecc_corrected_life=life))


def test_no_corrected_errors_clear_the_card(judged):
    assert isinstance(judged(corrected_errors_keep_coming, gpus(ecc_corrected=0)), Cleared)


def test_nvml_that_refuses_the_module_is_a_mismatch(judged):
    refused = Machine(nvidia_mismatch=True, nvidia_library="575.57", nvidia_module="570.133.20")
    found = judged(library_refuses_the_module, refused)
    assert "kernel module 570.133.20, library 575.57" in found.statement
    assert judged(library_refuses_the_module, Machine(nvidia_module="570.133.20")) is None


SILENT = """[31.0] NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out
[31.1] NVRM: _kgspRpcRecvPoll: LibOS heartbeat timed out
[31.2] NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
"""
HALTED = """[31.0] NVRM: Xid (PCI:0000:01:00): 62, 323f0f30 0000c3d8 00000000
[31.1] NVRM: GPU0 _kgspRpcGspEventPmuHalted: Received signal from GSP that PMU has halted.
[31.2] NVRM: GPU0 kgspHealthCheck_TU102: ********** GSP-CrashCat Report (0) **********
"""


@pytest.mark.parametrize("text", [SILENT, HALTED])
def test_a_silent_or_halted_firmware_is_the_cause_and_the_rest_follows(judged, text):
    kernel = read_kernel_log(text)
    found = judged(gpu_firmware_hangs, kernel)
    assert found.confidence == 0.88
    assert "0000:01:00.0" in found.statement
    if "154" in text:
        assert judged(driver_asks_for_a_reset, kernel).confidence == 0.6


def test_a_firmware_that_falls_silent_after_another_error_follows_from_it(judged):
    assert (
        judged(gpu_firmware_hangs, log(79, gsp_faults=("GSP RM heartbeat timed out",))).confidence
        == 0.55
    )


def test_a_gpu_that_is_locked_without_a_word_of_the_firmware_is_open(judged):
    said = "[88.3] NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7\n"
    with pytest.raises(Undecided, match="locked up"):
        judged(gpu_firmware_hangs, read_kernel_log(said))
    with pytest.raises(Undecided):
        judged(gpu_firmware_hangs, log(8))
    assert isinstance(judged(gpu_firmware_hangs, log(8, 31)), Cleared)


def crashed(text):
    return ServerLog(notices=(Notice(kind="crash", text=text),))


def test_cuda_names_bad_memory_and_the_kernel_log_the_card(judged):
    said = crashed("RuntimeError: CUDA error: uncorrectable ECC error encountered")
    assert judged(cuda_reports_bad_memory, said).confidence == 0.9
    assert judged(cuda_reports_bad_memory, said, log(48)) is None
    assert judged(cuda_reports_bad_memory, crashed("CUDA error: an illegal memory access")) is None
