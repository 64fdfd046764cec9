"""perfsleuth whatif: a plan from a config.json, or today and a change of it, as data and as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from tools.errors import ToolsError

ROOT = Path(__file__).parents[2]
QWEN27 = ROOT / "tests" / "physics" / "configs_json" / "qwen3.6-27b.json"
DEEPSEEK = ROOT / "tests" / "golden" / "ReadModelConfig" / "deepseek_v3_mla.out"
CT129 = ROOT / "bot" / "demo" / "ct129.json"
TWO_A6000 = ("--gpu", "RTX A6000", "--tp", "2", "--spec-steps", "3", "--draft-tokens", "4")
DRAFTS = (*TWO_A6000, "--accept-len", "3.25", "--context", "2000")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["whatif", *arguments])


def plan(*arguments: str, config: Path = QWEN27) -> dict[str, Any]:
    said = run("--model-config", str(config), *arguments, "--json")
    assert said.exception is None, said.exception
    told: dict[str, Any] = json.loads(said.stdout)
    return told


def refused(*arguments: str) -> str:
    said = run(*arguments)
    assert isinstance(said.exception, ToolsError)
    return str(said.exception)


def mid(told: dict[str, Any], phase: str = "decode") -> float:
    rate: float = told[phase]["tok_s"][1]
    return rate


def test_the_worked_example_comes_out_with_its_terms() -> None:
    told = plan(*DRAFTS, "--dtype", "bf16", "--pcie-gen", "4", "--pcie-width", "16", "--p2p", "on")
    assert told["decode"]["step_ms"][1] == pytest.approx(53.5, abs=0.1)
    assert mid(told) == pytest.approx(60.7, abs=0.2)
    assert mid(told, "prefill") == pytest.approx(3004, abs=5)
    low, middle, high = told["decode"]["tok_s"]
    assert low < middle < high
    named = [term["name"] for term in told["decode"]["terms"]]
    assert named == ["weights", "KV cache and state", "kernels", "links", "host"]
    whole = sum(term["ms"][1] for term in told["decode"]["terms"])
    assert whole == pytest.approx(told["decode"]["step_ms"][1], abs=0.01)
    assert [term["name"] for term in told["prefill"]["terms"]] == ["arithmetic", "links"]


def test_gen1_costs_decode_two_to_six_percent_and_halves_prefill() -> None:
    gen4, gen1 = (plan(*DRAFTS, "--pcie-gen", gen, "--p2p", "on") for gen in ("4", "1"))
    assert -6 < (mid(gen1) / mid(gen4) - 1) * 100 < -2
    assert mid(gen1, "prefill") / mid(gen4, "prefill") == pytest.approx(0.49, abs=0.02)


@pytest.mark.parametrize(
    ("change", "phase", "factor"),
    [
        (("--dtype", "fp8"), "decode", (1.3, 1.6)),
        (("--dtype", "int4"), "decode", (1.7, 2.2)),
        (("--p2p", "off"), "decode", (0.9, 0.97)),
        (("--p2p", "off"), "prefill", (0.55, 0.7)),
        (("--custom-all-reduce", "off"), "decode", (0.95, 0.995)),
        (("--nvlink", "on"), "prefill", (1.02, 1.1)),
        (("--nvlink", "nvlink3_bridge"), "decode", (1.0, 1.02)),
        (("--cuda-graph", "off"), "decode", (0.4, 0.65)),
        (("--overlap", "off"), "decode", (0.95, 0.99)),
        (("--batch", "4"), "decode", (3.5, 4.0)),
        (("--context", "128000"), "decode", (0.8, 0.95)),
        (("--context", "128000"), "prefill", (0.3, 0.8)),
        (("--kv-dtype", "fp8", "--context", "128000"), "decode", (0.88, 0.99)),
        (("--tp", "4"), "decode", (1.4, 1.9)),
        (("--dp", "2", "--batch", "2"), "decode", (1.95, 2.05)),
        (("--spec-steps", "0", "--draft-tokens", "1", "--accept-len", "1"), "decode", (0.35, 0.45)),
        (("--pcie-width", "4"), "prefill", (0.6, 0.75)),
    ],
)
def test_an_option_moves_the_rate_as_the_machine_would(
    change: tuple[str, ...], phase: str, factor: tuple[float, float]
) -> None:
    base = plan(*DRAFTS, "--p2p", "on")
    assert (
        factor[0] < mid(plan(*DRAFTS, "--p2p", "on", *change), phase) / mid(base, phase) < factor[1]
    )


@pytest.mark.parametrize(
    ("change", "slower_or_faster"),
    [
        (("--ep", "8"), "slower"),  # the fullest GPU has more experts than the mean
        (("--dp", "8", "--dp-attention", "on"), "slower"),  # one sequence: each holds all attention
        (("--dp", "8", "--dp-attention", "on", "--batch", "64", "--context", "32000"), "faster"),
    ],
)
def test_a_mixture_with_latent_attention_is_split_in_its_ways(
    change: tuple[str, ...], slower_or_faster: str
) -> None:
    card = ("--gpu", "H200 SXM", "--tp", "8", "--dtype", "fp8")
    load = [one for one in change if change.index(one) >= 4] if "--batch" in change else []
    base, other = (plan(*card, *how, config=DEEPSEEK) for how in (load, change))
    assert (mid(other) > mid(base)) == (slower_or_faster == "faster")


def test_what_is_assumed_and_what_does_not_fit_is_noted() -> None:
    notes = " ".join(plan("--gpu", "RTX 4090", "--spec-steps", "3")["notes"])
    assert "accept length" in notes
    assert "does not fit" in notes


def test_a_claim_that_cannot_be_is_said_so() -> None:
    told = plan("--gpu", "H20", "--claim", "200")
    assert not told["claim"]["fits"]
    assert "impossible" in told["claim"]["why"]
    assert plan("--gpu", "H20", "--claim", "50")["claim"]["fits"]


def test_from_a_case_today_stands_beside_the_change() -> None:
    told = json.loads(run(str(CT129), "--pcie-gen", "4", "--json").stdout)
    assert mid(told["today"]) == pytest.approx(55, abs=0.1)
    assert mid(told) == pytest.approx(56.9, abs=0.2)
    text = run(str(CT129), "--pcie-gen", "4").stdout
    assert text.startswith("Today: ")
    assert "Changed: " in text


def test_without_a_change_it_says_what_each_would_give() -> None:
    told = json.loads(run(str(CT129), "--json").stdout)
    changes = {one["change"]: one for one in told["gains"]}
    assert changes["the link repaired to PCIe Gen4 x16"]["prefill_pct"][1] == pytest.approx(
        106, abs=1
    )
    assert "What a change would give" in run(str(CT129)).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model-config", str(QWEN27), "--gpu", "A6001"), "Near it: RTX A6000"),
        (("--model-config", str(QWEN27), "--gpu", "H100"), "H100 SXM, H100 PCIe, H100 NVL"),
        (("--model-config", str(QWEN27)), "--gpu NAME"),
        (("--gpu", "H200 SXM"), "--model-config FILE"),
        (("--model-config", str(ROOT / "LICENSE"), "--gpu", "L4"), "no model's config"),
        (("--model-config", "/nowhere/config.json", "--gpu", "L4"), "/nowhere/config.json"),
        (("--model-config", str(QWEN27), "--gpu", "L4", "--dtype", "fp7"), "--dtype takes"),
        (("--model-config", str(QWEN27), "--gpu", "L4", "--p2p", "maybe"), "--p2p takes on or off"),
        (
            ("--model-config", str(QWEN27), "--gpu", "L4", "--tp", "2", "--nvlink", "on"),
            "no NVLink",
        ),
        (("--model-config", str(QWEN27), "--gpu", "L4", "--tp", "2", "--nvlink", "x"), "nvlink3"),
        (("--model-config", str(QWEN27), "--gpu", "L4", "--accept-len", "2"), "--spec-steps"),
        (("--model-config", str(QWEN27), *TWO_A6000, "--accept-len", "5"), "give 1 to 4"),
        (("--model-config", str(QWEN27), "--gpu", "L4", "--ep", "2", "--tp", "2"), "has none"),
        (
            ("--model-config", str(DEEPSEEK), "--gpu", "B200", "--tp", "8", "--ep", "3"),
            "not divide",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(*arguments)
