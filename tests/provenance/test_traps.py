"""The table of traps: what it says of a version, and that every line it cites stands in that version's source."""

from __future__ import annotations

import pytest

from tests.provenance.engines import TEXT, VISION, wheel_or_skip
from tools.knowledge.traps import all_proofs, all_traps, proof_of, removed_by, traps_for
from tools.provenance.given import Given
from tools.provenance.trapped import conditions_of, trapped

VERSIONS = sorted(
    {
        version
        for one in (*all_traps(), *all_proofs())
        for cited in one.sources
        for version in cited.lines
    }
)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_cited_line_stands_in_the_source_of_its_release(version: str) -> None:
    folder = wheel_or_skip(version)
    for one in (*all_traps(), *all_proofs()):
        for cited in one.sources:
            if (line := cited.lines.get(version)) is not None:
                text = (folder / "sglang" / cited.path).read_text(encoding="utf-8-sig")
                assert cited.text in text.splitlines()[line - 1], (one.id, cited.path, line)


def test_every_trap_is_cited_within_its_life_and_names_a_proof_there_is() -> None:
    known = {proof.id for proof in all_proofs()}
    for trap in all_traps():
        assert trap.sources
        assert all(trap.holds_in(v) for cited in trap.sources for v in cited.lines), trap.id
        assert trap.proof is None or trap.proof in known, trap.id
        assert trap.remedy.endswith(".")


def ids(flag: str, version: str, **known: bool) -> list[str]:
    return [trap.id for trap in traps_for((flag,), version, known)]


def test_dead_prefill_graphs_are_a_trap_of_three_releases_with_speculation_only() -> None:
    flag = "--enforce-piecewise-cuda-graph"
    for version in ("0.5.11", "0.5.12.post1", "0.5.13"):
        assert "prefill_graphs_never_replayed" in ids(flag, version, eagle=True)
    assert ids(flag, "0.5.13", eagle=False) == []
    assert "prefill_graphs_never_replayed" not in ids(flag, "0.5.14", eagle=True)


def test_the_lost_all_reduce_is_a_trap_of_one_release() -> None:
    lost = "custom_all_reduce_lost_on_pcie"
    assert lost in ids("disable_custom_all_reduce", "0.5.12", pcie_pair=True)
    assert lost not in ids("disable_custom_all_reduce", "0.5.13", pcie_pair=True)
    assert lost not in ids("disable_custom_all_reduce", "0.5.12", pcie_pair=False)
    (trap,) = [t for t in traps_for(("disable_custom_all_reduce",), "0.5.12") if t.id == lost]
    assert trap.open({}) == ("pcie_pair",)


def test_flags_that_0_5_20_removed_have_what_takes_their_place() -> None:
    assert removed_by("--cuda-graph-max-bs", "0.5.20") == "--cuda-graph-max-bs-decode"
    assert removed_by("--cuda-graph-max-bs", "0.5.19") is None
    assert removed_by("--no-such-flag", "0.5.20") is None


@pytest.mark.parametrize(
    ("flag", "version", "line", "value"),
    [
        ("cuda_graph_max_bs", "0.5.11", "[2026-01-01 TP0] Capture cuda graph bs [1, 2, 48]", "1, 2, 48"),
        ("cuda_graph_max_bs_decode", "0.5.23",
         "Capture target verify CUDA graph end. elapsed=4.1 s, mem usage=0.2 GB, bs=[1, 2], avail mem=3 GB.", "1, 2"),
        ("max_running_requests", "0.5.23",
         "max_total_num_tokens=16384, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=48, "
         "context_len=4096", "48"),
        ("chunked_prefill_size", "0.5.11",
         "max_total_num_tokens=16384, chunked_prefill_size=4096, max_prefill_tokens=16384", "4096"),
        ("kv_cache_dtype", "0.5.11", "Using KV cache dtype: torch.float8_e4m3fn", "torch.float8_e4m3fn"),
        ("kv_cache_dtype", "0.5.14",
         "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 8, K size: 1.00 GB, V size: 1.00 GB", "torch.bfloat16"),
        ("speculative_algorithm", "0.5.11",
         "Decode batch, #running-req: 1, #token: 9, token usage: 0.0, accept len: 2.80, accept rate: 0.60, cuda graph: "
         "True, gen throughput (token/s): 9.0, #queue-req: 0", "2.80"),
    ],
)  # fmt: skip
def test_a_proof_finds_its_value_in_a_log_line(
    flag: str, version: str, line: str, value: str
) -> None:
    found = [match for proof in proof_of(flag, version) if (match := proof.in_log(line))]
    assert found[0][1] == value


def test_a_prefill_line_proves_prefill_graphs_only_where_it_says_true() -> None:
    line = "[2026-01-01 00:00:00 TP0] Prefill batch, #new-seq: 1, #new-token: 9, cuda graph: {}, input throughput: 1"
    proof = proof_of("enforce_piecewise_cuda_graph", "0.5.11")[0]
    assert proof.in_log(line.format("True"))
    assert not proof.in_log(line.format("False"))
    assert not proof.in_log(line.format("True").replace("Prefill", "Decode"))


def test_a_launch_says_which_conditions_hold_and_which_are_not_known() -> None:
    given = Given.of(gpu="NVIDIA RTX A6000", model_config=VISION)
    found = conditions_of(given, {"speculative_algorithm": "EAGLE", "tp_size": 2})
    assert found["eagle"]
    assert found["several_gpus"]
    assert found["not_sm90_sm100"]
    assert "multimodal" in conditions_of(Given.of(model_config=TEXT), {})
    assert "pcie_pair" not in found
    assert "if two GPUs have no NVLink" in trapped("disable_custom_all_reduce", "0.5.12", found)
    assert (
        trapped("disable_custom_all_reduce", "0.5.12", {"pcie_pair": False, "several_gpus": False})
        == ""
    )
