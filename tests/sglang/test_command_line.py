"""Flags of a command line land on the fields they set, however they were typed."""

from __future__ import annotations

import pytest

from tools.engine.manifests import documents
from tools.knowledge.fields import public_names, sglang_fields
from tools.sglang.command_line import read_lines
from tools.sglang.flags import field_of, read_flags
from tools.sglang.manifests import read_manifest

START = "python3 -m sglang.launch_server --model-path /m "


def flags(typed: str) -> dict[str, object]:
    seen = read_lines(START + typed)
    assert seen is not None
    assert seen.flags is not None
    return {name: value for name, value in seen.flags.items() if name != "model_path"}


@pytest.mark.parametrize("name", ["--tp", "--tp-size", "--tensor-parallel-size"])
def test_several_names_are_one_field(name: str) -> None:
    assert flags(f"{name} 4") == {"tp_size": 4}
    assert flags(f"{name}=4") == {"tp_size": 4}


def test_a_unique_abbreviation_is_the_flag() -> None:
    assert flags("--mem-fraction 0.9") == {"mem_fraction_static": 0.9}
    assert flags("--disable-custom") == {"disable_custom_all_reduce": True}


def test_an_abbreviation_is_judged_in_the_version_it_was_typed_for() -> None:
    old, new = (
        field_of("cuda-graph-max", "sglang", "0.5.11"),
        field_of("cuda-graph-max", "sglang", "0.5.23"),
    )
    assert old is not None
    assert old.name == "cuda_graph_max_bs"
    assert new is None  # for decode or for prefill?


def test_the_last_of_repeated_flags_counts() -> None:
    assert flags("--tp 2 --tp 4") == {"tp_size": 4}


def test_a_switch_takes_no_value_and_a_list_takes_all() -> None:
    assert flags("--trust-remote-code --cuda-graph-bs 1 2 4 --disable-cuda-graph") == {
        "trust_remote_code": True,
        "cuda_graph_bs": ("1", "2", "4"),
        "disable_cuda_graph": True,
    }


def test_a_negative_number_is_a_value() -> None:
    assert flags("--chunked-prefill-size -1") == {"chunked_prefill_size": -1}


def test_json_stays_text() -> None:
    assert flags("""--json-model-override-args '{"a": 1}'""") == {
        "json_model_override_args": '{"a": 1}'
    }


@pytest.mark.parametrize(
    "typed", ["--api-key sk1", "--api-key=sk1", "--api-k sk1", "--api_key sk1"]
)
def test_a_key_is_named_and_not_told(typed: str) -> None:
    assert flags(typed) == {"api_key": "<dropped>"}


def test_an_unknown_flag_is_named_and_not_told() -> None:
    assert flags("--flag-of-tomorrow abc --tp 2") == {"flag_of_tomorrow": "<dropped>", "tp_size": 2}


def test_vllm_keeps_its_own_names() -> None:
    seen = read_lines("vllm serve /m -tp 2 --max-num-seqs=64 --no-enable-prefix-caching -O3")
    assert seen is not None
    assert seen.engine == "vllm"
    assert seen.flags == {
        "model": "/m",
        "tensor_parallel_size": 2,
        "max_num_seqs": 64,
        "enable_prefix_caching": False,
        "compilation_config": 3,
    }


def test_the_words_of_a_shell_end_the_command() -> None:
    seen = read_lines(START + "--tp 2 2>&1 | tee -a /var/log/s.log")
    assert seen is not None
    assert seen.flags == {"model_path": "/m", "tp_size": 2}
    assert seen.log_path == "/var/log/s.log"


def test_a_command_over_several_lines_is_one() -> None:
    assert flags("\\\n  --tp 2 \\\n  --port 30001") == {"tp_size": 2, "port": 30001}


def test_a_shell_that_runs_the_command_is_looked_through() -> None:
    text = (
        'services:\n  a:\n    image: lmsysorg/sglang:v0.5.11\n    command: ["bash", "-c", "cd /x && '
        + START
        + '--tp 2"]\n'
    )
    seen = read_manifest(text)
    assert seen is not None
    assert seen.flags == {"model_path": "/m", "tp_size": 2}
    assert seen.version == "0.5.11"


@pytest.mark.parametrize(
    "text",
    [
        "Example: sglang serve --model-path <model>",
        "'python -m sglang.launch_server' is still supported, but 'sglang serve' is the recommended entrypoint.",
        'File "/x/sglang/launch_server.py", line 3, in <module>',
        "sglang serve: error: unrecognized arguments: --no-such-flag",
    ],
)
def test_prose_about_a_command_is_none(text: str) -> None:
    assert read_lines(text) is None


def test_aliases_of_yaml_are_no_bomb() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{c}: &{c} [*{p}, *{p}, *{p}, *{p}]\n"
        for p, c in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    assert read_manifest("command: x\n" + bomb) is None


def test_a_listing_of_many_processes_that_serve_nothing_is_none() -> None:
    line = "root 1 0 python3 -c from multiprocessing.spawn import spawn_main vllm.entrypoints\n"
    assert read_lines(line * 20_000) is None
    assert documents("x" * 1_000_000) == []


def test_no_field_that_may_hold_a_secret_is_public() -> None:
    assert (
        not {"api_key", "admin_api_key", "ssl_keyfile_password", "watermark_key", "hf_token"}
        & public_names()
    )
    telling = [n for n in public_names() if n.endswith(("_key", "password", "secret", "_token"))]
    assert sorted(telling) == ["bucket_time_to_first_token", "kt_max_deferred_experts_per_token"]


def test_fields_of_all_versions_are_known() -> None:
    fields = sglang_fields()
    assert fields["disable_piecewise_cuda_graph"].first == "0.5.10"
    assert fields["disable_piecewise_cuda_graph"].last == "0.5.13"
    assert fields["cuda_graph_max_bs"].last == "0.5.13"
    assert fields["tp_size"].first == "0.4.6"
    assert fields["tp_size"].last == "0.5.23"
    assert read_flags(["--enable-hicache"], "sglang") == {"enable_hierarchical_cache": True}
