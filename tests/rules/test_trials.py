"""A test that somebody made outweighs what facts suggest; it proves no more than what it changed."""

from __future__ import annotations

import pytest

from tools.engine import Arguments, Benchmark, Launch, Trials
from tools.engine.note import read_note
from tools.errors import Undecided
from tools.evidence import Evidence
from tools.in_use import side_in_use
from tools.knowledge.knobs import all_knobs
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding, Outcome, Rule
from tools.rules import RULES, copies_at_once
from tools.rules.trials import RULES as TRIED
from tools.side_by_side import side_by_side
from tools.verdict import Interest, Verdict, judge

KNOBS = {knob.id: knob for knob in all_knobs()}


def note(text: str) -> Trials:
    found = read_note(text)
    assert found
    return found


def tried(cause: str, text: str, gpus: Gpus | None = None, launch: Launch | None = None) -> Outcome:
    one = next(one for one in TRIED if one.cause.id == cause)
    return one.judge(trials=note(text), claim=None, gpus=gpus, launch=launch, info=None, log=None)


def silent(cause: str, text: str) -> bool:
    with pytest.raises(Undecided) as why:
        tried(cause, text)
    return not why.value.why


def rule_of(name: str) -> Rule:
    return next(one for one in RULES if one.name == name)


def verdict(text: str, *facts: Launch, rules: tuple[Rule, ...] = RULES) -> Verdict:
    known = [*facts, note(text)]
    looks = [Evidence(f"E{n}", None, "h", None, one) for n, one in enumerate(known, start=1)]
    return judge(looks, rules, {}, Interest(aspects=frozenset({"decode"})))


def test_a_flag_that_is_on_and_costs_nothing_in_the_test_is_an_oddity_with_its_reason() -> None:
    launch = Launch(engine="sglang", flags={"disable_cuda_graph": True, "model_path": "m"})
    alone = verdict("nvidia-smi -pl 230: 47.1 tok/s\nnvidia-smi -pl 300: 47.2 tok/s", launch)
    assert alone.cause == "cuda_graph_disabled"
    tested = verdict("with --disable-cuda-graph: 47.1 tok/s\nwithout: 47.2 tok/s", launch)
    assert tested.cause is None
    odd = next(one for one in tested.asides if one.rule.cause.id == "cuda_graph_disabled")
    assert "It costs nothing here: a test shows" in odd.finding.statement
    assert odd.evidence == ("E1", "E2")


def test_a_test_of_decode_says_nothing_of_what_costs_prefill_alone() -> None:
    quiet = "with --disable-radix-cache: decode 47.1 tok/s\nwithout: decode 47.2 tok/s"
    launch = Launch(engine="sglang", flags={"disable_radix_cache": True, "model_path": "m"})
    found = verdict(quiet, launch)
    assert "prefix_cache_off" not in {one.rule.cause.id for one in found.asides}


def test_a_doubt_is_ended_by_the_test_that_it_asks_for() -> None:
    rules = (rule_of("slow_kernel_named"), *TRIED)
    ended = verdict("weights awq: 47.1 tok/s\nweights gptq: 47.2 tok/s", rules=rules)
    assert "quant_kernel_fallback" in {one.rule.cause.id for one in ended.ruled_out}


def test_a_rule_without_an_opinion_is_not_listed_as_open() -> None:
    said = verdict("with --disable-cuda-graph: 20 tok/s\nwithout: 47 tok/s", rules=TRIED)
    assert said.cause == "cuda_graph_disabled"
    assert not said.unchecked


def test_the_slower_side_proves_nothing_where_the_server_runs_with_the_other() -> None:
    text = "with --disable-cuda-graph: 20 tok/s\nwithout: 47 tok/s"
    runs = Launch(engine="sglang", flags={"disable_cuda_graph": False, "model_path": "m"})
    assert isinstance(tried("cuda_graph_disabled", text, launch=runs), Cleared)
    assert isinstance(tried("cuda_graph_disabled", text), Finding)


def test_a_sweep_is_judged_from_where_the_card_stands() -> None:
    sweep = "power limit (W)  decode tok/s\n200  41.0\n250  45.9\n300  46.3\n"
    low, high = (
        Gpus(samples=(GpuSample(index=0, power_limit_w=watts),)) for watts in (200.0, 300.0)
    )
    assert isinstance(tried("power_cap_low", sweep, gpus=low), Finding)
    with pytest.raises(Undecided):
        tried("power_cap_low", sweep, gpus=high)


def test_kernels_that_the_engine_chooses_itself_are_its_own_fault_when_they_lose_by_half() -> None:
    text = "# decode tok/s\nfa3          908.3\nflashinfer  2014.2\n"
    hopper = Gpus(samples=(GpuSample(index=0, name="NVIDIA H20"),))
    ampere = Gpus(samples=(GpuSample(index=0, name="NVIDIA A100-SXM4-80GB"),))
    blamed = [tried("attention_backend_fallback", text, gpus=one) for one in (hopper, ampere)]
    assert [one.category for one in blamed if isinstance(one, Finding)] == ["software_bug", None]


def test_a_loss_that_depends_on_another_thing_is_not_laid_on_the_version() -> None:
    text = (
        "# CC on, mean ITL (ms)\n0.26.0    6.68\n0.29.0   23.88\n"
        "# CC off, output tok/s\n0.26.0   253.0\n0.29.0   270.4\n"
    )
    with pytest.raises(Undecided, match="only together with confidential computing"):
        tried("version_regression", text)


def test_two_things_changed_at_once_prove_neither() -> None:
    text = "--disable-cuda-graph, powersave: 28 tok/s\nno --disable-cuda-graph, governor performance: 57 tok/s"
    for cause in ("cuda_graph_disabled", "cpu_governor_powersave"):
        with pytest.raises(Undecided, match="two things at once"):
            tried(cause, text)


def test_what_hurts_when_there_is_less_of_it_is_what_the_rate_hangs_on() -> None:
    text = "gpu clock 50 %          throughput {gpu} %\ntaskset, 2 cores      throughput {cpu} %\n"
    found = tried("host_pipeline_bound", text.format(gpu="-3.8", cpu="-29.5"))
    assert isinstance(found, Finding)
    assert "hangs on the host" in found.statement
    assert isinstance(tried("host_pipeline_bound", text.format(gpu="-48", cpu="-1.0")), Cleared)
    assert silent("host_pipeline_bound", text.format(gpu="-3.8", cpu="-9.5"))
    assert isinstance(
        tried("compute_roofline_prefill", text.format(gpu="-1.0", cpu="-29.5")), Cleared
    )


def test_a_gain_within_what_runs_differ_by_is_none() -> None:
    text = "powersave     43.1 / 45.6 / 44.0 tok/s\nperformance   {} tok/s\n"
    assert isinstance(tried("cpu_governor_powersave", text.format("44.9 / 43.0 / 45.2")), Cleared)
    assert isinstance(tried("cpu_governor_powersave", text.format("54.9 / 53.0 / 55.2")), Finding)
    assert silent("cpu_governor_powersave", "powersave 44.0 tok/s\nperformance 45.8 tok/s\n")


def test_only_a_collapse_blames_the_switch() -> None:
    together, shared = copies_at_once.RULES
    text = "GPU0>GPU4   39.6\nGPU0>GPU4 + GPU1>GPU6   {}\nGPU0>GPU4 + GPU2>GPU6   79.0\n"
    fallen, halved, free = (note(text.format(rate)) for rate in ("2.7", "41.0", "78.0"))
    assert isinstance(together.judge(trials=fallen), Finding)
    assert isinstance(together.judge(trials=halved), Cleared)
    unknown = {"launch": None, "log": None, "info": None}
    assert isinstance(shared.judge(trials=halved, **unknown), Finding)
    assert isinstance(shared.judge(trials=free, **unknown), Cleared)


@pytest.mark.parametrize(("tp", "priced"), [(4, True), (2, False), (None, False)])
def test_a_shared_link_is_priced_by_how_much_slower_it_is_where_copies_can_meet_on_it(
    tp: int | None, priced: bool
) -> None:
    text = "GPU0>GPU4   39.6\nGPU0>GPU4 + GPU1>GPU6   41.0\n"
    launch = Launch(flags={"tp_size": tp}) if tp else None
    found = copies_at_once.RULES[1].judge(trials=note(text), launch=launch, log=None, info=None)
    assert isinstance(found, Finding)
    assert found.effect.times_slower == (pytest.approx(2 * 39.6 / 41.0) if priced else None)
    assert bool(found.effect.prefill_pct) is priced


def test_two_benchmarks_of_one_load_are_compared_by_the_names_of_their_files() -> None:
    def look(number: int, name: str, duration_s: float, concurrency: int = 8) -> Evidence:
        facts = Benchmark(concurrency=concurrency, prompts=128, duration_s=duration_s)
        return Evidence(f"E{number}", None, f"/tmp/{name}", None, facts)

    both = side_by_side([look(1, "bench.txt", 437.7), look(2, "bench_tuned.txt", 409.6)])
    assert both
    assert [arm.label for arm in both.trials[0].arms] == ["bench", "bench tuned"]
    assert (
        side_by_side([look(1, "bench.txt", 437.7), look(2, "bench_tuned.txt", 409.6, 16)]) is None
    )
    assert side_by_side([look(1, "bench.txt", 437.7)]) is None


@pytest.mark.parametrize(
    ("knob", "label", "side"),
    [
        ("cuda_graph", "--disable-cuda-graph", "off"),
        ("cuda_graph", "without --disable-cuda-graph", "on"),
        ("cuda_graph", "--disable-cuda-graph removed", "on"),
        ("cuda_graph", "eager", "off"),
        ("cuda_graph", "with graph file", None),
        ("peer_access", "NCCL_P2P_DISABLE=1", "off"),
        ("peer_access", "NCCL_P2P_DISABLE=0", "on"),
        ("peer_access", "NCCL_P2P_DISABLE unset", "on"),
        ("chunk_size", "--chunked-prefill-size 8k", 8000.0),
        ("split", "TP=4", 4.0),
        ("cpu_cores", "taskset, 2 cores", 2.0),
        ("attention", "--attention-backend fa3", "fa3"),
        ("engine_version", "lmsysorg/sglang:v0.5.13-cu126", "0.5.13"),
        ("engine_version", "driver 570.86.15", None),
        ("engine_version", "main with one pull request reverted", "old"),
        ("iommu", "amd_iommu=on iommu=pt", "off"),
        ("expert_kernel", "untuned", "off"),
        ("confidential", "CC 9.0", None),
    ],
)
def test_where_a_knob_stands_is_read_from_a_label(
    knob: str, label: str, side: float | str | None
) -> None:
    assert KNOBS[knob].side(label) == side


def test_the_arguments_tell_the_side_in_use_before_any_note_does() -> None:
    args = Arguments(Launch(engine="sglang", flags={"chunked_prefill_size": "2048"}))
    text = "chunked-prefill-size 8192 (today): TTFT 3.0 s\nchunked-prefill-size 2048: TTFT 3.3 s"
    assert side_in_use(KNOBS["chunk_size"], note(text), (), None, args, None) == 2048.0


def test_the_run_that_is_said_to_be_todays_is_where_a_sweep_is_judged_from() -> None:
    sweep = "--max-running-requests  total tok/s\n16{}  640\n48{}  1480\n96  1490\n"
    assert isinstance(tried("batching_limits", sweep.format(" (today)", "")), Finding)
    assert isinstance(tried("batching_limits", sweep.format("", " (today)")), Cleared)
