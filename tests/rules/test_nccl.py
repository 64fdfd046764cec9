from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Benchmark, Environment, Launch, ServerLog
from tools.errors import Undecided
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Nvlink, Nvlinks, Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules import nccl_environment, nccl_paths, parallelism

Judged = Callable[..., object]
NO_P2P = Environment(values={"NCCL_P2P_DISABLE": "1"})
TWO = Launch(flags={"tp_size": 2})
p2p_off = nccl_environment.peer_access_switched_off


def gpus(word: str, p2p: str = "") -> Topology:
    peers = (Pair(a="GPU0", b="GPU1", word=p2p),) if p2p else ()
    return Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),), p2p=peers)


def counters(*readings: int) -> Nvlinks:
    return Nvlinks(
        links=tuple(Nvlink(gpu=0, link=0, tx_kib=kib, reading=n) for n, kib in enumerate(readings))
    )


def test_peer_access_forbidden_over_nvlink_is_found(judged: Judged) -> None:
    still = judged(p2p_off, NO_P2P, TWO, gpus("NV4"), counters(500, 500))
    moving = judged(p2p_off, NO_P2P, TWO, gpus("NV4"), counters(500, 900))
    assert isinstance(still, Finding)
    assert isinstance(moving, Finding)
    assert still.confidence > moving.confidence


def test_peer_access_that_does_not_exist_cannot_be_lost(judged: Judged) -> None:
    assert isinstance(judged(p2p_off, NO_P2P, TWO, gpus("PHB", "CNS")), Cleared)
    assert isinstance(judged(p2p_off, NO_P2P, TWO, gpus("PHB", "OK")), Finding)
    with pytest.raises(Undecided):
        judged(p2p_off, NO_P2P, TWO, gpus("PHB"))


def test_a_level_of_nvl_allows_nvlink_and_forbids_pcie(judged: Judged) -> None:
    level = Environment(values={"NCCL_P2P_LEVEL": "NVL"})
    assert isinstance(judged(p2p_off, level, TWO, gpus("NV4")), Cleared)
    assert isinstance(judged(p2p_off, level, TWO, gpus("PHB", "OK")), Finding)
    assert isinstance(
        judged(p2p_off, Environment(values={"NCCL_P2P_LEVEL": "SYS"}), TWO, gpus("SYS", "OK")),
        Cleared,
    )


def test_one_gpu_has_no_peer(judged: Judged) -> None:
    assert isinstance(judged(p2p_off, NO_P2P, Launch(flags={"tp_size": 1}), gpus("NV4")), Cleared)


def test_a_working_custom_all_reduce_keeps_decode_out_of_it(judged: Judged) -> None:
    found = judged(p2p_off, NO_P2P, TWO, gpus("PHB", "OK"), ServerLog(graph_addresses=129))
    assert isinstance(found, Finding)
    assert "decode" not in found.slows


def test_what_nccl_says_of_its_variables_counts_where_they_were_not_read(judged: Judged) -> None:
    said = NcclLog(env={"NCCL_P2P_DISABLE": "1"})
    says = nccl_environment.peer_access_off_says_nccl
    assert isinstance(judged(says, said, TWO, gpus("NV4")), Finding)
    assert isinstance(judged(says, said, TWO, gpus("NV4"), NO_P2P), Cleared)


def test_a_forced_protocol_costs_nothing_beside_a_custom_all_reduce(judged: Judged) -> None:
    custom = ServerLog(graph_addresses=129)
    forced = nccl_environment.algorithm_forced
    assert isinstance(judged(forced, Environment(values={"NCCL_PROTO": "Simple"}), custom), Cleared)
    assert isinstance(judged(forced, Environment(values={"NCCL_PROTO": "LL"}), custom), Finding)


def test_shared_memory_off_matters_only_where_sockets_follow(judged: Judged) -> None:
    off = Environment(values={"NCCL_SHM_DISABLE": "1"})
    shm = nccl_environment.shared_memory_switched_off
    assert isinstance(judged(shm, off, NcclLog(paths={"P2P/IPC": 4})), Cleared)
    assert isinstance(judged(shm, off, NcclLog(paths={"NET/Socket": 4})), Finding)
    with pytest.raises(Undecided):
        judged(shm, off)


def test_a_choice_left_to_nccl_is_not_forced(judged: Judged) -> None:
    forced = nccl_environment.algorithm_forced
    assert isinstance(judged(forced, Environment(values={"NCCL_PROTO": "Simple"})), Finding)
    assert isinstance(
        judged(forced, Environment(values={"NCCL_PROTO": "LL,LL128,Simple"})), Cleared
    )
    assert isinstance(judged(forced, Environment(values={"NCCL_PROTO": "^LL128"})), Cleared)


def test_rdma_off_matters_between_machines_only(judged: Judged) -> None:
    off = Environment(values={"NCCL_IB_DISABLE": "1"})
    ib = nccl_environment.rdma_switched_off
    assert isinstance(judged(ib, off, Launch(flags={"nnodes": 2})), Finding)
    assert isinstance(judged(ib, off, Launch(flags={"tp_size": 8})), Cleared)
    assert isinstance(judged(ib, off, NcclLog(paths={"P2P/CUMEM": 8})), Cleared)
    with pytest.raises(Undecided):
        judged(ib, off)


def test_sockets_between_machines_are_found(judged: Judged) -> None:
    socket = NcclLog(network="Socket", interface="bond0")
    assert isinstance(judged(nccl_paths.sockets_instead_of_rdma, socket), Finding)


@pytest.mark.parametrize(
    "known",
    [
        (NcclLog(network="IB"),),
        (NcclLog(network="Socket", paths={"P2P/IPC": 4}),),
        (NcclLog(network="Socket"), Launch(flags={"tp_size": 2})),
        (NcclLog(network="Socket"), Launch(flags={"pp_size": 2, "tp_size": 1, "nnodes": 2})),
        (NcclLog(network="Socket", ibverbs_missing=True), Launch(flags={"nnodes": 2})),
        (
            NcclLog(network="Socket"),
            Launch(flags={"nnodes": 2}),
            Environment(values={"NCCL_IB_DISABLE": "1"}),
        ),
    ],
    ids=["rdma", "one machine", "one node", "pipeline only", "library missing", "switched off"],
)
def test_sockets_have_look_alikes(judged: Judged, known: tuple[object, ...]) -> None:
    assert isinstance(judged(nccl_paths.sockets_instead_of_rdma, *known), Cleared)


def test_a_missing_rdma_library_is_found_between_machines(judged: Judged) -> None:
    missing = NcclLog(network="Socket", interface="ib0", ibverbs_missing=True)
    lacks = nccl_paths.rdma_library_missing
    assert isinstance(judged(lacks, missing, Launch(flags={"nnodes": 2})), Finding)
    assert isinstance(judged(lacks, missing, Launch(flags={"tp_size": 2})), Cleared)
    assert isinstance(judged(lacks, NcclLog(network="Socket")), Cleared)


def test_a_search_that_ends_near_nothing_is_a_misread_machine(judged: Judged) -> None:
    misread = nccl_paths.machine_misread
    peers = {"P2P/CUMEM": 8}
    assert isinstance(judged(misread, NcclLog(graph_bw_gb_s=1.0, paths=peers)), Finding)
    assert isinstance(judged(misread, NcclLog(graph_bw_gb_s=1.1, paths=peers)), Cleared)
    with pytest.raises(Undecided):
        judged(misread, NcclLog(graph_bw_gb_s=0.1, paths={"SHM": 8}))


def test_pipeline_stages_move_little(judged: Judged) -> None:
    stages = Launch(flags={"pp_size": 2, "tp_size": 1})
    assert isinstance(
        judged(nccl_paths.pipeline_moves_little, stages, NcclLog(network="Socket")), Finding
    )
    assert isinstance(
        judged(nccl_paths.pipeline_moves_little, Launch(flags={"tp_size": 2})), Cleared
    )
    with pytest.raises(Undecided):
        judged(nccl_paths.pipeline_moves_little, Launch(flags={"pp_size": 2, "tp_size": 4}))


def test_a_test_of_the_network_is_told_beside_the_sockets(judged: Judged) -> None:
    nccl = NcclLog(network="Socket", paths={"NET/Socket": 4})
    plain = judged(nccl_paths.sockets_instead_of_rdma, nccl)
    tested = judged(
        nccl_paths.sockets_instead_of_rdma, nccl, Benchmark(rdma_gbit_s=192.9, tcp_gbit_s=0.94)
    )
    assert isinstance(plain, Finding)
    assert isinstance(tested, Finding)
    assert tested.confidence > plain.confidence
    assert "a test reached 193 Gbit/s. TCP reached 0.9 Gbit/s." in tested.statement


def test_nvlinks_that_are_up_show_what_a_level_forbids(judged: Judged) -> None:
    seen = NcclLog(paths={"SHM": 4}, env={"NCCL_P2P_LEVEL": "LOC"})
    up = Nvlinks(links=tuple(Nvlink(gpu=gpu, link=0, active=True) for gpu in (0, 1)))
    assert isinstance(judged(nccl_environment.peer_access_off_says_nccl, seen, up), Finding)
    with pytest.raises(Undecided):
        judged(nccl_environment.peer_access_off_says_nccl, seen)


def test_the_rate_of_a_detour_is_not_the_links(judged: Judged) -> None:
    flat = AllReduceTest(busbw_gb_s={4 << 20: 9.3, 16 << 20: 9.4, 64 << 20: 9.5})
    forbidden = NcclLog(paths={"SHM": 4}, env={"NCCL_P2P_LEVEL": "LOC"})
    for log in (forbidden, NcclLog(paths={"NET/IB": 2}, gdr=False)):
        assert isinstance(judged(parallelism.collectives_at_link_speed, flat, log), Cleared)
    assert isinstance(
        judged(parallelism.collectives_at_link_speed, flat, NcclLog(paths={"SHM": 4})), Finding
    )
