"""What took effect, by what a server says of itself: never by its command line."""

from __future__ import annotations

import pytest

from bot.experiment.effects import LINE, LOG, SERVER_INFO, effects, firmer, void
from bot.experiment.record import Proof, Record
from tests.experiment.pretend import proposal
from tools.change import Change
from tools.engine import ServerInfo


def record(change: Change, proofs: dict[str, str] | None = None, **more: object) -> Record:
    told = proposal(change=change, proofs=proofs or {})
    return Record.model_validate(
        {"run": 1, "name": "n", "fence": 1, "proposal": told, "began_at": 0.0} | more
    )


def one(of: Record, info: ServerInfo | None, *log: str) -> Proof:
    (proof,) = effects(of, info, log)
    return proof


CHUNK = Change(set={"chunked_prefill_size": 4096})


def test_what_the_server_resolved_counts() -> None:
    proof = one(record(CHUNK), ServerInfo(resolved={"chunked_prefill_size": 4096}))
    assert (proof.found, proof.source, proof.effective) == ("4096", SERVER_INFO, True)


def test_what_the_engine_overrode_did_not_take_effect() -> None:
    proof = one(record(CHUNK), ServerInfo(resolved={"chunked_prefill_size": 2048}))
    assert (proof.asked, proof.found, proof.effective) == ("4096", "2048", False)


def test_what_the_schedulers_run_with_goes_before_the_main_process() -> None:
    info = ServerInfo(
        resolved={"chunked_prefill_size": 4096}, effective=({"chunked_prefill_size": 2048},)
    )
    assert one(record(CHUNK), info).effective is False


def test_the_line_that_proves_it_is_quoted() -> None:
    of = record(CHUNK, {"chunked_prefill_size": "chunked_prefill_size=4096"})
    proof = one(of, None, "[x] max_total_num_tokens=1, chunked_prefill_size=4096, more")
    assert (proof.source, proof.effective) == (LINE, True)
    assert "chunked_prefill_size=4096" in proof.found


def test_a_server_that_contradicts_goes_before_a_line_of_its_log() -> None:
    of = record(CHUNK, {"chunked_prefill_size": "chunked_prefill_size=4096"})
    info = ServerInfo(resolved={"chunked_prefill_size": 2048})
    assert one(of, info, "server_args=ServerArgs(chunked_prefill_size=4096)").effective is False


def test_a_server_that_wants_a_key_is_known_by_the_arguments_in_its_log() -> None:
    log = "server_args=ServerArgs(model_path='m', chunked_prefill_size=4096, port=1)"
    proof = one(record(CHUNK), None, log)
    assert (proof.found, proof.source, proof.effective) == ("4096", LOG, True)


SCHEDULER = (
    "[2026-12-01 00:56:32] max_total_num_tokens=16384, chunked_prefill_size=512, max_prefill_tokens=16384, "
    "max_running_requests=2, context_len=4096, available_gpu_mem=20.55 GB"
)
REPLAYED = (
    "[2026-12-01 00:57:00] Decode batch, #running-req: 1, #token: 9, token usage: 0.00, cuda graph: {}, "
    "gen throughput (token/s): 9.0, #queue-req: 0"
)


@pytest.mark.parametrize(("asked", "effective"), [(2, True), (64, False)])
def test_the_schedulers_own_line_goes_before_the_servers_answer(
    asked: int, effective: bool
) -> None:
    change = Change(set={"max_running_requests": asked})
    info = ServerInfo(resolved={"max_running_requests": asked})
    proof = one(record(change, {"max_running_requests": SERVER_INFO}), info, "x", SCHEDULER)
    assert (proof.source, proof.found, proof.effective) == (LINE, SCHEDULER, effective)
    assert ("did not take effect" in void([proof])) != effective


def test_what_was_asked_for_and_written_down_proves_nothing() -> None:
    dump = "server_args=ServerArgs(max_running_requests=64, port=1)"
    change = Change(set={"max_running_requests": 64})
    assert one(record(change), None, dump).source == LOG
    assert one(record(change), None, dump, SCHEDULER).effective is False


def test_a_flag_that_is_taken_out_is_proven_by_another_value_in_the_line() -> None:
    out = record(Change(unset=("max_running_requests",)))
    assert one(out, None, SCHEDULER).effective is None  # 2 as before: the default may be that
    proof = one(out, None, SCHEDULER.replace("requests=2", "requests=2048"))
    assert (proof.source, proof.effective) == (LINE, True)


def test_the_line_of_one_rank_of_several_is_not_compared() -> None:
    change = Change(set={"max_running_requests": 4})
    new = ("python", "-m", "sglang.launch_server", "--max-running-requests", "4", "--dp-size", "2")
    of = record(change)
    of = of.model_copy(update={"proposal": of.proposal.model_copy(update={"new": new})})
    assert one(of, ServerInfo(resolved={"max_running_requests": 4}), SCHEDULER).effective is True


@pytest.mark.parametrize(
    ("change", "effective"),
    [
        (Change(set={"disable_cuda_graph": True}), False),
        (Change(unset=("disable_cuda_graph",)), True),
        (Change(set={"cuda_graph_backend_decode": "full"}), True),
        (Change(set={"cuda_graph_backend_decode": "disabled"}), False),
        (Change(unset=("cuda_graph_backend_decode",)), None),
    ],
)
def test_a_graph_that_is_replayed_speaks_for_one_flag_and_against_another(
    change: Change, effective: bool | None
) -> None:
    first = one(record(change), None, REPLAYED.format("False"))
    assert first.effective is None
    later = one(record(change, phase="after"), None, REPLAYED.format("True"))
    assert later.effective is effective
    (proof,) = firmer([first], [later])
    assert proof.effective is effective


def test_a_later_look_that_shows_nothing_takes_no_proof_away() -> None:
    first = one(record(CHUNK), ServerInfo(resolved={"chunked_prefill_size": 4096}))
    assert firmer([first], [one(record(CHUNK), None)]) == (first,)


def test_the_largest_graph_is_told_by_the_sizes_that_were_captured() -> None:
    line = "Capture decode CUDA graph end. elapsed=4.1 s, mem usage=0.2 GB, bs=[1, 2, 48], avail mem=3 GB."
    change = Change(set={"cuda_graph_max_bs_decode": 48})
    assert one(record(change), None, line).effective is True
    assert one(record(Change(set={"cuda_graph_max_bs_decode": 64})), None, line).effective is False


def test_where_nothing_tells_it_that_is_said() -> None:
    assert one(record(CHUNK), None).effective is None


def test_a_flag_that_is_taken_out_took_effect_where_its_value_is_another_now() -> None:
    of = record(Change(unset=("max_running_requests",)))
    assert one(of, ServerInfo(max_running_effective=48)).effective is True
    same = one(of, ServerInfo(max_running_effective=2))
    assert same.effective is None


def test_a_flag_that_is_told_as_not_set_was_taken_out() -> None:
    of = record(Change(unset=("max_running_requests",)))
    log = "server_args={'model_path': 'm', 'max_running_requests': None, 'port': 1}"
    proof = one(of, None, log)
    assert (proof.found, proof.source, proof.effective) == ("not set", LOG, True)
    info = ServerInfo(resolved={"max_running_requests": None})
    assert one(of, info).found == "not set"


def test_a_pool_that_is_clamped_did_not_take_effect_but_whole_pages_do() -> None:
    of = record(Change(set={"max_total_tokens": 100_000}))
    assert one(of, ServerInfo(max_total_tokens=99_968)).effective is True
    clamped = ServerInfo(resolved={"max_total_tokens": 100_000}, max_total_tokens=30_000)
    assert one(of, clamped).effective is False


def test_the_most_requests_of_one_rank_do_not_compare_with_those_of_all() -> None:
    of = record(Change(set={"max_running_requests": 64}))
    info = ServerInfo(
        resolved={"max_running_requests": 64}, effective=({}, {}), max_running_effective=32
    )
    assert one(of, info).effective is True


def test_a_variable_is_proven_by_its_line_alone() -> None:
    change = Change(env={"SGLANG_X": "1"})
    of = record(change, {"SGLANG_X": "X is on"})
    assert one(of, None, "[now] X is on").effective is True
    assert one(record(change), None, "[now] X is on").effective is None


@pytest.mark.parametrize(("asked", "said"), [(True, True), ("fa3", "fa3"), (0.85, 0.85)])
def test_switches_words_and_shares_compare(asked: object, said: object) -> None:
    of = record(Change.model_validate({"set": {"x": asked}}))
    assert one(of, ServerInfo(resolved={"x": said})).effective is True  # type: ignore[dict-item]
