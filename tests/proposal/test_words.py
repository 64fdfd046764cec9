"""What people write when they want something tried, and what only looks like it."""

from __future__ import annotations

import pytest

from bot.proposal.words import asks_to_put_back, asks_to_try, read
from tools.change import Change


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("set chunked prefill to 4096 on CT129 and measure", Change(set={"chunked_prefill_size": 4096})),
        ("please set --chunked-prefill-size 4096 on CT129", Change(set={"chunked_prefill_size": 4096})),
        ("try --chunked-prefill-size=8k", Change(set={"chunked_prefill_size": 8192})),
        ("set mem fraction to 0.8", Change(set={"mem_fraction_static": 0.8})),
        ("raise cuda graph max bs to 48", Change(set={"cuda_graph_max_bs": 48})),
        ("set tp to 1", Change(set={"tp_size": 1})),
        ("remove --disable-radix-cache and measure", Change(unset=("disable_radix_cache",))),
        ("restart it without --disable-cuda-graph", Change(unset=("disable_cuda_graph",))),
        ("try --enable-mixed-chunk on CT129", Change(set={"enable_mixed_chunk": True})),
        ("disable cuda graphs on CT129", Change(set={"disable_cuda_graph": True})),
        ("turn the radix cache on", Change(unset=("disable_radix_cache",))),
        ("turn cuda graphs off on CT129 and measure", Change(set={"disable_cuda_graph": True})),
        ("set NCCL_ALGO=Ring and unset NCCL_P2P_DISABLE", Change(env={"NCCL_ALGO": "Ring"}, unset_env=("NCCL_P2P_DISABLE",))),
        ("can you try --max-running-requests 2, --stream-interval 4", Change(set={"max_running_requests": 2, "stream_interval": 4})),
    ],
)  # fmt: skip
def test_a_wish_is_read(text: str, change: Change) -> None:
    found = read(text)
    assert found is not None
    assert found.change == change


@pytest.mark.parametrize(
    "text",
    [
        "what if chunked prefill were 4096?",
        "why is chunked prefill set to 2048?",
        "is CT129 slow? it does 55 tok/s",
        "run a check on CT129",
        "restart the server",
        "set it to 4096",
        "it was started with --chunked-prefill-size 4096",
        "who set --disable-radix-cache?",
        "",
    ],
)
def test_what_is_no_wish_is_none(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("text", ["try it", "Try it.", "ok, try it out please", "yes, do that", "go ahead and try it", "test it on CT129"])  # fmt: skip
def test_the_remedy_is_asked_for(text: str) -> None:
    assert asks_to_try(text)
    assert not asks_to_put_back(text)


@pytest.mark.parametrize("text", ["put it back", "Put it back please", "undo", "revert that", "take the change back"])  # fmt: skip
def test_what_was_kept_is_to_go(text: str) -> None:
    assert asks_to_put_back(text)
    assert not asks_to_try(text)


@pytest.mark.parametrize("text", ["try it again", "I will try it tomorrow", "we tried it", "did you try it?", "try the other node"])  # fmt: skip
def test_talk_is_no_wish(text: str) -> None:
    assert not asks_to_try(text)
    assert read(text) is None


def test_the_goal_is_what_a_sentence_names() -> None:
    for text, goal in (
        ("set chunked prefill to 4096 and measure ttft", "ttft"),
        ("set max running requests to 64 for throughput", "throughput"),
        ("set max running requests to 64", None),
    ):
        found = read(text)
        assert found is not None
        assert found.goal == goal
