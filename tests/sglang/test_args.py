"""The dump of arguments is read in each of its forms, whole or cut."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_texts import DUMPS_OF_ARGUMENTS
from tools.sglang.args import clean_dumps, flat, read_dump
from tools.sglang.scan import Scan, scan

OLD = (
    "[2026-09-02 07:00:17] server_args=ServerArgs(model_path='/m', tp_size=2, mem_fraction_static=0.775, "
    "quantization=None, disable_cuda_graph=False, cuda_graph_bs=[1, 2, 4], api_key='sk-1', "
    "cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=32), "
    "prefill=PhaseConfig(backend='disabled', max_bs=None)), lora_paths=[LoRARef(lora_name='a')], "
    'json_model_override_args=\'{"a": "it\\\'s, (x)"}\', random_seed=-5)\n'
)


def test_the_repr_of_the_old_versions_is_flat() -> None:
    read = read_dump(OLD)
    assert read["tp_size"] == 2
    assert read["mem_fraction_static"] == 0.775
    assert read["quantization"] is None
    assert read["disable_cuda_graph"] is False
    assert read["cuda_graph_bs"] == ("1", "2", "4")
    assert read["api_key"] == "<dropped>"
    assert read["cuda_graph_config.decode.backend"] == "full"
    assert read["cuda_graph_config.prefill.max_bs"] is None
    assert read["json_model_override_args"] == '{"a": "it\'s, (x)"}'
    assert read["random_seed"] == -5


def test_the_dict_of_the_new_versions_and_json_mean_the_same() -> None:
    python = "server_args={'tp_size': 2, 'cuda_graph_config': {'decode': {'backend': 'full'}}, 'enable_lora': None}"
    told = (
        '{"tp_size": 2, "cuda_graph_config": {"decode": {"backend": "full"}}, "enable_lora": null}'
    )
    assert read_dump(python) == read_dump(told)
    assert read_dump(told) == {
        "tp_size": 2,
        "cuda_graph_config.decode.backend": "full",
        "enable_lora": None,
    }


def test_vllm_prints_what_differs_from_the_default() -> None:
    text = "(APIServer pid=7) INFO 01-01 00:00:00 [utils.py:1] non-default args: {'model_tag': '/m', 'port': 8001, 'enforce_eager': True}"
    assert read_dump(text) == {"model_tag": "/m", "port": 8001, "enforce_eager": True}


def test_the_last_dump_of_several_counts() -> None:
    assert (
        read_dump("server_args=ServerArgs(tp_size=1)\nserver_args=ServerArgs(tp_size=4)\n")[
            "tp_size"
        ]
        == 4
    )


@pytest.mark.parametrize("cut", range(40, len(OLD), 7))
def test_a_cut_end_keeps_what_was_whole(cut: int) -> None:
    whole, part = read_dump(OLD), read_dump(OLD[:cut])
    assert all(whole[name] == value for name, value in part.items())


@pytest.mark.parametrize("cut", range(40, len(OLD) - 300, 11))
def test_a_cut_beginning_keeps_what_was_whole(cut: int) -> None:
    part = read_dump(OLD[cut:])
    assert part["random_seed"] == -5
    assert part["json_model_override_args"] == '{"a": "it\'s, (x)"}'


def test_a_number_at_the_very_end_may_be_cut_and_is_left_out() -> None:
    assert read_dump("server_args=ServerArgs(tp_size=2, max_total_tokens=81") == {"tp_size": 2}


def test_what_is_no_dump_gives_nothing() -> None:
    assert read_dump("Decode batch, #running-req: 1") == {}
    assert read_dump("") == {}


@settings(max_examples=200, deadline=None)
@given(st.text("(){}[]'\",=: \\abc1<>\n", max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    read_dump(text)
    clean_dumps("server_args=ServerArgs(" + text)


PIECES = st.sampled_from((
    "a", "tp_size", "b", "=", ":", ",", ", ", " ", "\n", "(", ")", "[", "]", "{", "}", "'a'", '"b"', "b'x'", "'it\\'s'",
    "''", "\\", "<", "<F.x: 1>", "cuda:0", "True", "None", "0.5", "-5", "LoRARef(lora_name='a')", "[1, 2, 4]", "a=1",
    "'k': 'v'", "é",
))  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_plain_items_are_read_as_the_long_way_reads_them(text: str) -> None:
    class Long(Scan):
        def _plain(self, *_: object) -> None:
            """Know none."""

    read, by_spans = scan(text), scan(text, values=False)
    long = Long(text)
    with suppress(Exception):
        long.items(long.tree, 0, top=True)
    assert repr(read.tree) == repr(long.tree)
    assert read.spans == by_spans.spans == long.spans


@pytest.mark.parametrize("name", DUMPS_OF_ARGUMENTS)
def test_what_stands_before_deep_and_long_text_is_read(name: str) -> None:
    text = DUMPS_OF_ARGUMENTS[name]
    assert "tp_size" not in read_dump(text.text())
    dump = text._replace(head="server_args=ServerArgs(tp_size=2, x=")
    assert read_dump(dump.text())["tp_size"] == 2


def test_a_field_that_no_version_knows_keeps_its_name_only() -> None:
    assert flat({"tp_size": 2, "field_of_tomorrow": "x", "other_of_tomorrow": None}) == {
        "tp_size": 2,
        "field_of_tomorrow": "<dropped>",
        "other_of_tomorrow": None,
    }
