"""The demo's case: its raw texts agree with the physics and with each other, and end in the verdict."""

from __future__ import annotations

import re
from functools import cache
from typing import TypeVar

import pytest

from bot.demo import shipped
from bot.investigate import Judged, conclude
from bot.question import Question
from tests.scenarios import make_ct129
from tests.scenarios.ct129 import story
from tools.engine import Launch, ModelConfig, ServerInfo, ServerLog, SourceLines
from tools.evidence import Evidence
from tools.linux.machine import Machine
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.physics.measured import Measured, cold_prefill_tok_s
from tools.physics.step import decode_step
from tools.probe import Facts
from tools.probes import PROBES

F = TypeVar("F", bound=Facts)


@cache
def looks() -> tuple[Evidence, ...]:
    return tuple(shipped().evidence(PROBES))


def facts(probe: str, kind: type[F]) -> F:
    found = next(look.facts for look in looks() if look.title == probe)
    assert isinstance(found, kind)
    return found


@cache
def judged() -> Judged:
    return conclude(Question.of(shipped().question, ["CT129"]), looks())


def costs() -> dict[str, str]:
    verdict = judged().verdict
    return {
        one.rule.cause.id: one.finding.statement for one in (*verdict.findings, *verdict.asides)
    }


def test_the_shipped_case_is_what_its_generator_writes() -> None:
    assert make_ct129.TARGET.read_text(encoding="utf-8") == make_ct129.text()


def test_it_says_that_it_is_synthetic() -> None:
    assert shipped().made.startswith("synthetic")


def test_every_look_is_read_but_the_kernel_log_which_a_container_may_not_read() -> None:
    troubles = {look.title: look.trouble for look in looks() if look.trouble}
    assert list(troubles) == ["ReadKernelLog"]
    assert "Operation not permitted" in troubles["ReadKernelLog"]


def test_no_line_of_its_log_is_left_unexplained() -> None:
    log = facts("ReadServerLog", ServerLog)
    assert (log.unexplained, log.unexplained_count) == ((), 0)
    assert log.started
    assert log.health_prefills > 50
    assert log.graph_addresses == 1032


def test_one_stream_makes_55_tokens_a_second_in_steps_of_58_milliseconds() -> None:
    measured = Measured.of(facts("ReadServerLog", ServerLog))
    assert measured.running == 1
    assert measured.tok_s == pytest.approx(55, abs=0.3)
    assert measured.accept_len == pytest.approx(3.2, abs=0.03)
    assert (measured.accept_len or 0) / measured.tok_s * 1e3 == pytest.approx(58.2, abs=0.3)


def test_every_steady_line_agrees_with_the_step_model_at_its_batch_and_context() -> None:
    log = facts("ReadServerLog", ServerLog)
    told = [
        line
        for line in log.steady()
        if line.tokens and line.accept_len and line.running and line.tok_s
    ]
    agree = 0
    for line in told:
        assert line.running
        assert line.accept_len
        assert line.tok_s
        assert line.tokens
        step_s = line.running * line.accept_len / line.tok_s
        agree += abs(step_s / story.step_s(line.running, line.tokens / line.running) - 1) < 0.015
    assert len(told) > 100
    assert agree > 0.85 * len(told)  # the others span the end of a request


def test_a_cold_prompt_is_read_at_what_gen1_leaves_and_at_half_of_what_gen4_would() -> None:
    assert cold_prefill_tok_s(facts("ReadServerLog", ServerLog)) == pytest.approx(1430, abs=10)


def test_all_samples_under_load_show_gen1_and_the_idle_look_shows_it_too() -> None:
    busy = facts("SampleGpus", Gpus).busy()
    assert len(busy) == 41
    assert {(one.link_gen, one.gen_possible, one.link_width, one.pstate) for one in busy} == {
        (1, 4, 16, 2)
    }
    assert {one.util_pct for one in busy} == {94}
    assert {one.mem_mhz for one in busy} == {7601}
    assert not any(one.reasons for one in busy)
    assert all((one.power_w or 0) < 0.9 * (one.power_limit_w or 0) for one in busy)
    rest = facts("ReadGpus", Gpus).samples
    assert {(one.link_gen, one.pstate, one.busy) for one in rest} == {(1, 8, False)}
    devices = facts("ReadPcieLinks", PciLinks).devices
    assert [(one.link_gen, one.cap_gen, one.link_width) for one in devices] == [(1, 4, 16)] * 4


def test_nobody_asked_for_the_piecewise_graph_to_be_off_and_line_1230_did_it() -> None:
    launch, info = facts("ReadLaunch", Launch), facts("ReadServerInfo", ServerInfo)
    assert launch.flags
    assert "disable_piecewise_cuda_graph" not in launch.flags
    assert info.resolved["disable_piecewise_cuda_graph"] is True
    assert info.effective[0]["disable_piecewise_cuda_graph"] is True
    found = facts("ReadSourceLines", SourceLines).found
    assert 1230 in [one.line for one in found if one.path == "srt/server_args.py"]


def test_the_sizes_of_its_model_are_those_of_its_config() -> None:
    from tools.physics import Checkpoint

    sizes = Checkpoint.of(facts("ReadModelConfig", ModelConfig), state_bytes=2.0)
    ours = story.deployment().checkpoint
    for name in (
        "params_b",
        "head_b",
        "state_gb",
        "kv_bytes_per_token",
        "draft_b",
        "draft_replicated_b",
    ):
        assert getattr(sizes, name) == pytest.approx(getattr(ours, name), rel=0.003), name


def test_nothing_holds_its_processor_back() -> None:
    machine = facts("ReadMachine", Machine)
    assert (machine.virt, machine.guest_of) == ("lxc", "proxmox")
    assert machine.governors == {"performance": 32}
    assert machine.quota_told
    assert (machine.quota_cpus, machine.throttled_delta) == (None, 0)


def test_the_verdict_is_the_link_under_load() -> None:
    verdict = judged().verdict
    assert (verdict.category, verdict.cause) == ("hardware", "pcie_gen_low_under_load")
    assert verdict.confidence >= 0.85
    effect = verdict.findings[0].finding.effect
    assert effect.decode_pct
    assert effect.prefill_pct
    assert effect.decode_pct[1] == pytest.approx(-3.4, abs=0.4)
    assert effect.prefill_pct[1] == pytest.approx(-51, abs=2)
    assert any("off and on (cold" in step for step in verdict.findings[0].finding.remedy)


def test_the_headroom_contradicts_the_memory_of_seventy() -> None:
    room = judged().verdict.headroom
    assert room
    assert room.ceiling_tok_s.mid == pytest.approx(59.7, abs=0.3)
    assert room.share_pct == pytest.approx(92, abs=1)
    assert room.accept_len_needed == pytest.approx(3.75, abs=0.02)
    assert sum(ms.mid for _, ms in room.terms) == pytest.approx(room.step_ms)
    healthy = decode_step(story.deployment().over(story.Link.pcie(4))).ms.mid
    assert room.ceiling_step_ms.mid == pytest.approx(healthy, abs=0.1)


@pytest.mark.parametrize("cause", ["piecewise_graph_off", "prefix_cache_off"])
def test_what_else_is_true_is_told_beside_it(cause: str) -> None:
    assert cause in costs()


def test_no_other_cause_is_named() -> None:
    allowed = {
        "pcie_gen_low_under_load",
        "piecewise_graph_off",
        "prefix_cache_off",
        "cuda_graph_bs_exceeded",
        "memory_roofline",
        "acceptance_drop",
        "metric_includes_prefill",
        "decode_window_includes_idle",
        "mem_clock_p2_by_design",
    }
    assert set(costs()) <= allowed


def test_no_secret_and_no_real_address_is_in_it() -> None:
    text = make_ct129.TARGET.read_text(encoding="utf-8")
    addresses = set(re.findall(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", text)) - {
        "0.0.0.0",
        "127.0.0.1",
    }
    assert all(one.startswith("192.0.2.") for one in addresses), addresses
