from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Capture, Environment, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules import all_reduce

Judged = Callable[..., object]


def refusal(text: str) -> Notice:
    return Notice(kind="custom_ar_off", text=text)


def pair(word: str, p2p: str = "") -> Topology:
    peers = (Pair(a="GPU0", b="GPU1", word=p2p),) if p2p else ()
    return Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),), p2p=peers)


NO_P2P = refusal(
    "CustomAllreduce is disabled because your platform lacks GPU P2P capability or P2P test failed."
)
MANY = refusal(
    "Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs."
)


def test_more_than_two_pcie_gpus_are_refused_by_design(judged: Judged) -> None:
    found = judged(
        all_reduce.custom_all_reduce_refused, ServerLog(notices=(MANY,), resolved={"tp_size": 4})
    )
    assert isinstance(found, Finding)
    assert "by design" in found.statement


def test_peer_access_that_the_driver_denies_is_the_cause_itself(judged: Judged) -> None:
    log = ServerLog(notices=(NO_P2P,), resolved={"tp_size": 2})
    assert isinstance(
        judged(all_reduce.custom_all_reduce_refused, log, pair("PHB", "CNS")), Cleared
    )


def test_peer_access_that_the_driver_grants_means_a_stale_test(judged: Judged) -> None:
    log = ServerLog(notices=(NO_P2P,), resolved={"tp_size": 2})
    found = judged(all_reduce.custom_all_reduce_refused, log, pair("PHB", "OK"))
    assert isinstance(found, Finding)
    assert "gpu_p2p_access_cache" in found.remedy[0]
    with pytest.raises(Undecided):
        judged(all_reduce.custom_all_reduce_refused, log, pair("PHB"))


def test_registered_graph_addresses_prove_that_it_works(judged: Judged) -> None:
    log = ServerLog(graph_addresses=129, resolved={"tp_size": 2})
    assert isinstance(judged(all_reduce.custom_all_reduce_refused, log), Cleared)


def test_one_gpu_needs_none(judged: Judged) -> None:
    assert isinstance(
        judged(all_reduce.custom_all_reduce_refused, ServerLog(resolved={"tp_size": 1})), Cleared
    )


@pytest.mark.parametrize(
    ("version", "kind"), [("0.5.11", Cleared), ("0.5.12", Finding), ("0.5.13", Cleared)]
)
def test_only_one_version_loses_it_silently(judged: Judged, version: str, kind: type) -> None:
    log = ServerLog(
        version=version, captures=(Capture(what="decode", sizes=(8,)),), resolved={"tp_size": 2}
    )
    assert isinstance(judged(all_reduce.custom_all_reduce_refused, log, pair("PHB")), kind)


def test_the_variable_and_nvlink_undo_the_silent_loss(judged: Judged) -> None:
    log = ServerLog(
        version="0.5.12", captures=(Capture(what="decode", sizes=(8,)),), resolved={"tp_size": 2}
    )
    old = Environment(values={"SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2": "0"})
    assert isinstance(judged(all_reduce.custom_all_reduce_refused, log, pair("PHB"), old), Cleared)
    assert isinstance(judged(all_reduce.custom_all_reduce_refused, log, pair("NV4")), Cleared)


def test_the_flag_costs_nothing_where_it_is_off_by_design(judged: Judged) -> None:
    four = Topology(
        gpus=tuple(f"GPU{n}" for n in range(4)), links=(Pair(a="GPU0", b="GPU1", word="PHB"),)
    )
    flags = {"disable_custom_all_reduce": True}
    off = all_reduce.custom_all_reduce_off_by_flag
    assert isinstance(judged(off, Launch(flags={**flags, "tp_size": 4}), four), Cleared)
    assert isinstance(judged(off, Launch(flags={**flags, "tp_size": 2}), pair("PHB")), Finding)
    assert isinstance(judged(off, Launch(flags={**flags, "tp_size": 1})), Cleared)


def test_one_shot_hurts_across_sockets_only(judged: Judged) -> None:
    launch = Launch(flags={"enable_pcie_oneshot_allreduce": True, "tp_size": 2})
    assert isinstance(judged(all_reduce.one_shot_across_sockets, pair("SYS"), launch), Finding)
    assert isinstance(judged(all_reduce.one_shot_across_sockets, pair("NODE"), launch), Cleared)
    assert isinstance(
        judged(all_reduce.one_shot_across_sockets, pair("SYS"), Launch(flags={"tp_size": 2})),
        Cleared,
    )
