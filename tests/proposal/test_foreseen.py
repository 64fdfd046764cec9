"""What the installed source makes of a changed launch is known before anything is restarted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.proposal.edits import Server, checked
from bot.proposal.flags import of_source
from bot.proposal.foreseen import SHOWN, foreseen
from bot.proposal.wanted import NotPossible
from bot.source.folder import SourceFolder
from bot.source.known import Known
from tests.provenance.engines import TEXT, VISION, direct, lines, source, wheel_or_skip
from tests.provenance.test_real_engines import QWEN
from tools.change import Change
from tools.knowledge import fields
from tools.provenance.flags import flags_of
from tools.provenance.given import Given
from tools.provenance.tree import Tree

ARGS = "sglang/srt/server_args.py"
MANY = ("page_size", "max_running", "tp_size", "mem_fraction", "speculative", "api_key")
START = ("python3", "-m", "sglang.launch_server", "--model-path", "/models/m")


@pytest.fixture(autouse=True)
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the small engine's own fields be shown, as those of the real one are."""
    own = fields.public_names() | {"max_running", "watchdog", "disable_graph", "enforce_graph"}
    for module in ("edits", "foreseen"):
        monkeypatch.setattr(f"bot.proposal.{module}.public_names", lambda: own)
    monkeypatch.setattr("tools.provenance.answer.public_names", lambda: own)


def told(
    tree: Tree,
    change: Change,
    *argv: str,
    model: dict[str, Any] = TEXT,
    gpu: str = "NVIDIA RTX A6000",
    config: dict[str, Any] | None = None,
    resolved: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
) -> Sequence[str]:
    old = (*START, *argv)
    server = Server(old, variables=tuple(environment or ()), values=environment or {},
                    in_config=tuple(one.replace("-", "_") for one in config or ()), config="c.yaml" if config else None)  # fmt: skip
    made = checked(change, server, of_source(flags_of(tree), tree.version()))
    given = Given.of(
        argv=old, model_config=model, gpu=gpu, resolved=resolved, environment=environment or {}
    )
    return foreseen(tree, Known(given, config), made)


def begun_by(body: str) -> Tree:
    """The small engine, whose resolver begins with these lines."""
    begin = "    def _handle_defaults(self):\n"
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return direct(**{ARGS: source("direct").replace(begin, begin + lines)})


def setting(**values: Any) -> Change:
    return Change(set=values)


def test_a_value_that_the_source_keeps_is_not_talked_about() -> None:
    assert told(direct(), setting(watchdog=100)) == ()


def test_a_launch_that_the_source_would_end_is_not_proposed() -> None:
    tree = begun_by("if self.watchdog > 900:\n    raise ValueError('at most 900')")
    assert told(tree, setting(watchdog=900)) == ()
    with pytest.raises(NotPossible, match=r"would not start with it: ValueError: at most 900\.$"):
        told(tree, setting(watchdog=901))


def test_a_launch_that_would_not_start_as_it_runs_says_nothing() -> None:
    assert told(begun_by("raise ValueError('never')"), setting(watchdog=100)) == ()


def test_a_change_that_the_source_undoes_is_not_proposed_and_the_line_is_named() -> None:
    tree = direct()
    line = lines(tree, ARGS, "self.chunked_prefill_size = 4096")
    with pytest.raises(NotPossible) as refused:
        told(tree, setting(chunked_prefill_size=2048))
    assert str(refused.value).startswith(
        "It would change nothing: --chunked-prefill-size 2048 was asked; "
        f"{ARGS}:{line} made it 4096, because "
    )


def test_what_the_engine_chooses_anyway_is_not_proposed() -> None:
    with pytest.raises(NotPossible, match=r"nothing: --attention-backend is flashinfer as it is\."):
        told(direct(), setting(attention_backend="flashinfer"))


def test_a_value_that_is_raised_is_told_with_the_line_that_does_it() -> None:
    (said,) = told(direct(), setting(watchdog=10), "--watchdog", "400")
    assert said.startswith(f"--watchdog 10 was asked; {ARGS}:")
    assert " made it 60, because " in said
    assert "the log" not in said


def test_what_changes_along_is_told_with_both_values_and_the_line() -> None:
    tree = direct()
    said = told(tree, setting(dp_size=2))
    line = lines(tree, ARGS, "self.chunked_prefill_size //= self.dp_size")
    assert (
        f"--dp-size changes chunked_prefill_size as well, from 4096 to 2048 ({ARGS}:{line})."
        in said
    )
    assert any(
        one.startswith("--dp-size changes cuda_graph.prefill.backend as well") for one in said
    )


def test_a_long_list_of_sizes_is_told_by_its_ends() -> None:
    tree = begun_by("self.max_running = list(range(4, 4 + self.watchdog // 10))")
    line = lines(tree, ARGS, "self.max_running = list")
    assert told(tree, setting(watchdog=400)) == (
        f"--watchdog changes max_running as well, from 30 values (4 to 33) to 40 values (4 to 43) ({ARGS}:{line}).",
    )


def test_what_taking_out_changes_along_is_told_as_that_and_many_are_counted() -> None:
    more = "\n".join(f"self.{n} = self.watchdog" for n in MANY)
    said = told(begun_by(more), Change(unset=("watchdog",)), "--watchdog", "400")
    assert said[0] == "Without it, --watchdog is 300."
    assert said[1].startswith(
        "Taking out --watchdog changes tp_size as well, from 400 to 300 (sglang/"
    )
    assert said[-1] == "Taking out --watchdog changes 1 more of the engine's arguments as well."
    assert len(said) == 1 + SHOWN + 1


def test_a_value_that_may_be_a_secret_is_not_told() -> None:
    tree = begun_by("self.api_key = f'hf_{self.watchdog}'")
    line = lines(tree, ARGS, "self.api_key = f")
    assert told(tree, setting(watchdog=400)) == (
        f"--watchdog changes api_key as well ({ARGS}:{line}).",
    )


def test_what_is_taken_out_is_what_the_engine_makes_of_it() -> None:
    said = told(direct(), Change(unset=("max_running",)), "--speculative", "NEXTN", "--max-running", "8")  # fmt: skip
    assert said == ("Without it, --max-running is 48.",)


def test_a_file_of_config_loses_what_is_taken_out_of_it() -> None:
    said = told(
        direct(),
        Change(unset=("max_running",)),
        "--speculative",
        "NEXTN",
        "--config",
        "c.yaml",
        config={"max-running": 8},
    )
    assert said == ("Without it, --max-running is 48.",)


def test_a_variable_alone_is_followed_as_well() -> None:
    tree = begun_by("self.watchdog = 500 if os.getenv('NCCL_ALGO') == 'Ring' else self.watchdog")
    line = lines(tree, ARGS, "self.watchdog = 500")
    said = (f"NCCL_ALGO changes watchdog as well, from 300 to 500 ({ARGS}:{line}).",)
    assert told(tree, Change(env={"NCCL_ALGO": "Ring"})) == said
    assert told(tree, Change(env={"NCCL_ALGO": "Tree"})) == ()


def test_nothing_is_said_where_what_runs_contradicts_the_reading() -> None:
    assert (
        told(direct(), setting(chunked_prefill_size=2048), resolved={"chunked_prefill_size": 1024})
        == ()
    )


def test_a_flag_that_is_named_by_another_of_its_names_is_not_told_as_changing_along() -> None:
    assert told(direct(), setting(tensor_parallel_size=2)) == ()
    with pytest.raises(NotPossible, match="nothing: --tp-size is 2 as it is"):
        told(direct(), setting(tensor_parallel_size=2), "--tp-size=2", "--watchdog", "99")


def test_what_is_not_known_is_not_said() -> None:
    assert told(direct(), setting(chunked_prefill_size=2048), gpu="A card of 2041") == ()


def test_the_seed_deployment_is_told_that_its_prefill_graphs_stay_off() -> None:
    """0.5.11 turns them off for a multimodal model however the switch stands; 1230 is the line."""
    tree = Tree(SourceFolder(wheel_or_skip("0.5.11")))
    argv = ("--tp", "2", "--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer",
            "--disable-piecewise-cuda-graph")  # fmt: skip
    with pytest.raises(NotPossible) as refused:
        told(tree, Change(unset=("disable_piecewise_cuda_graph",)), *argv, model=QWEN)
    assert str(refused.value).startswith("It would change nothing: Nobody passed --disable-")
    assert f"{ARGS}:1230 made it True" in str(refused.value)


def test_the_vision_model_of_the_small_engine_keeps_its_graphs_off() -> None:
    with pytest.raises(NotPossible, match="It would change nothing"):
        told(direct(), Change(unset=("disable_graph",)), "--disable-graph", model=VISION)
