"""A wish is held against the flags of the installed version; what does not hold is told, with what was meant."""

from __future__ import annotations

import pytest

from bot.proposal.edits import Server, checked
from bot.proposal.flags import Flags, Spelled, Spellings, of_source, of_version
from bot.proposal.wanted import NotPossible
from tools.change import Change
from tools.change.edits import edited
from tools.provenance.flags import Flag

OLD = ("python3", "-m", "sglang.launch_server", "--model-path", "/m", "--tp", "2", "--port", "30000",
       "--chunked-prefill", "2048", "--disable-radix-cache", "--cuda-graph-bs", "1", "2", "4", "--api-key", "<dropped>")  # fmt: skip
SERVER = Server(OLD, variables=("NCCL_P2P_DISABLE", "HF_TOKEN"), values={"NCCL_P2P_DISABLE": "1"})


@pytest.fixture
def flags() -> Flags:
    def flag(name: str, takes: int | None = 1, *more: str, **told: object) -> Spelled:
        return Spelled(name, (f"--{name.replace('_', '-')}", *more), takes, **told)  # type: ignore[arg-type]

    return Spellings(
        [
            flag("chunked_prefill_size", type="int"),
            flag("mem_fraction_static", type="float"),
            flag("attention_backend", choices=("fa3", "triton")),
            flag("disable_radix_cache", 0),
            flag("disable_overlap_schedule", 0),
            flag("enable_mixed_chunk", 0, "--no-enable-mixed-chunk"),
            flag("cuda_graph_bs", None, type="int"),
            flag("cuda_graph_max_bs_decode", type="int"),
            flag("tp_size", 1, "--tensor-parallel-size", type="int"),
            flag("stream_interval", deprecated=True, instead="--output-interval", type="int"),
            flag("api_key"),
            flag("port"),
        ],
        "the installed source of 0.5.15",
        exact=True,
    )


def new(change: Change, flags: Flags, server: Server = SERVER) -> str:
    found = checked(change, server, flags)
    assert edited(server.old, found.edits) == found.new
    return " ".join(found.new[3:])


def test_a_value_takes_the_place_of_the_old_one_however_that_was_spelled(flags: Flags) -> None:
    said = new(Change(set={"chunked_prefill_size": 4096}), flags)
    assert "2048" not in said
    assert said.endswith("--chunked-prefill-size 4096")
    assert "--tp 2" in said


def test_a_beginning_of_a_name_is_that_flag(flags: Flags) -> None:
    said = new(Change(set={"tp_size": 1}), flags)
    assert "--tp 2" not in said
    assert said.endswith("--tp-size 1")


def test_a_flag_is_taken_out_with_all_its_values(flags: Flags) -> None:
    said = new(Change(unset=("cuda_graph_bs", "disable_radix_cache")), flags)
    assert said == "--model-path /m --tp 2 --port 30000 --chunked-prefill 2048 --api-key <dropped>"


def test_lists_and_switches_are_written_as_argparse_takes_them(flags: Flags) -> None:
    assert new(Change(set={"cuda_graph_bs": "1,8,16"}), flags).endswith("--cuda-graph-bs 1 8 16")
    assert new(Change(set={"enable_mixed_chunk": False}), flags).endswith("--no-enable-mixed-chunk")
    assert "--disable-radix-cache" not in new(Change(set={"disable_radix_cache": "off"}), flags)


def test_the_name_of_another_version_is_said_and_used_as_it_is_here(flags: Flags) -> None:
    found = checked(Change(set={"cuda_graph_max_bs": 48}), SERVER, flags)
    assert found.change.set == {"cuda_graph_max_bs_decode": 48}
    assert found.notes == (
        "--cuda-graph-max-bs is called --cuda-graph-max-bs-decode in this version.",
    )
    (note,) = checked(Change(set={"stream_interval": 4}), SERVER, flags).notes
    assert (
        note
        == "--stream-interval is deprecated in this version: --output-interval is to be used in its place."
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Change(set={"chunked_prefil_size": 4096}), r"no flag of this version, by the installed source of 0\.5\.15\. Did you mean --chunked-prefill-size\?"),
        (Change(set={"chunked_prefill_size": "many"}), "takes a whole number, not many"),
        (Change(set={"mem_fraction_static": "x"}), "takes a number, not x"),
        (Change(set={"attention_backend": "fa4"}), "takes one of fa3, triton in this version, not fa4"),
        (Change(set={"chunked_prefill_size": True}), "takes a value"),
        (Change(set={"disable_radix_cache": 7}), "is a switch"),
        (Change(set={"chunked_prefill_size": "--port"}), "cannot be given that value"),
        (Change(set={"chunked_prefill_size": "1\n2"}), "cannot be given that value"),
        (Change(unset=("attention_backend",)), "is not on its command line"),
        (Change(set={"disable_overlap_schedule": False}), "is not on its command line"),
        (Change(set={"port": 1}), "would make another server of it"),
        (Change(set={"api_key": "x"}), "That may be a secret, .* by hand: --api-key"),
        (Change(set={"tp_size": 2}), None),
        (Change(env={"NCCL_P2P_DISABLE": "1"}), "It runs like that already"),
        (Change(env={"LD_PRELOAD": "/tmp/x.so"}), "LD_PRELOAD is no variable that I may set"),
        (Change(env={"PYTHONPATH": "/tmp"}), "PYTHONPATH is no variable that I may set"),
        (Change(env={"SGLANG_API_KEY": "x"}), "SGLANG_API_KEY is no variable that I may set"),
        (Change(unset_env=("HF_TOKEN",)), "HF_TOKEN is no variable that I may take out"),
        (Change(unset_env=("NCCL_ALGO",)), "is not in the server's environment"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_refused_in_a_sentence(
    change: Change, why: str | None, flags: Flags
) -> None:
    if why is None:
        assert checked(change, SERVER, flags).new != OLD  # another spelling of the same is no harm
        return
    with pytest.raises(NotPossible, match=why):
        checked(change, SERVER, flags)


def test_a_flag_that_its_unit_takes_from_elsewhere_is_left_to_a_person(flags: Flags) -> None:
    server = Server(OLD, elsewhere=("--chunked-prefill-size",))
    with pytest.raises(NotPossible, match="Its unit takes --chunked-prefill-size from a variable"):
        checked(Change(set={"chunked_prefill_size": 4096}), server, flags)


def test_what_a_config_file_gives_is_taken_out_of_a_copy_of_it(flags: Flags) -> None:
    old = ("python3", "-m", "sglang.launch_server", "--config", "/srv/s.yaml")
    server = Server(old, config="/srv/s.yaml", in_config=("disable_overlap_schedule",))
    assert (
        new(Change(unset=("disable_overlap_schedule",)), flags, server)
        == "--config /srv/s.perfsleuth.yaml"
    )


def test_flags_come_from_the_source_or_from_what_is_known_of_the_version() -> None:
    source = [
        Flag(
            ("--tp-size", "--tensor-parallel-size"), "tp_size", 1, (), "", False, "a value", "int"
        ),
        Flag(("model",), "model", None, (), "", False),
    ]
    found = of_source(source, "0.5.23").find("tensor_parallel_size")
    assert found is not None
    assert (found.dest, found.takes, found.type) == ("tp_size", 1, "int")
    assert of_source(source, "0.5.23").find("model") is None
    old, new = of_version("sglang", "0.5.11"), of_version("sglang", "0.5.23")
    for flags, name in ((old, "cuda_graph_max_bs"), (new, "cuda_graph_max_bs_decode")):
        found = flags.find("cuda_graph_max_bs")
        assert found is not None
        assert found.dest == name
    assert of_version("vllm", None).find("max_num_seqs") is not None
    assert not old.exact
