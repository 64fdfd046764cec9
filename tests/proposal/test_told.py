"""How a proposal reads: what changes, what is expected, when it is kept."""

from __future__ import annotations

import pytest

from bot.narrator import Line
from bot.narrator.proposed import difference, expected, headline, in_short, kept_if, proposed
from bot.proposal.reverse import reverse
from bot.proposal.wanted import NotPossible
from bot.slack.blocks.buttons import buttons
from tests.proposal.made import OLD, proposal
from tools.change import Change, Edit, KeepRule, Predicted


def texts(**more: object) -> str:
    return "\n".join(one.text for one in proposed(proposal(**more)) if isinstance(one, Line))


def test_only_what_changes_is_marked_one_flag_a_line() -> None:
    assert [one.text for one in difference(proposal())] == [
        "- --chunked-prefill-size 2048",
        "+ --chunked-prefill-size 4096",
    ]
    change = Change(unset=("tp_size",), env={"NCCL_ALGO": "Ring"}, unset_env=("NCCL_P2P_DISABLE",))
    out = proposal(change=change, new=(*OLD[:5], *OLD[7:]))
    assert [one.text for one in difference(out)] == [
        "- --tp 2",
        "- NCCL_P2P_DISABLE",
        "+ NCCL_ALGO=Ring",
    ]


def test_a_title_names_host_and_change_and_many_changes_are_counted() -> None:
    assert (
        headline(proposal()) == "Proposed for CT129:30000: --chunked-prefill-size 4096 (was 2048)."
    )
    many = Change(set={"a": 1, "b": True}, unset=("c",))
    assert headline(proposal(change=many)) == "Proposed for CT129:30000: 3 changes."
    assert in_short(proposal(change=many)).startswith(
        "CT129:30000 is restarted: --a 1, --b, without --c. "
    )


@pytest.mark.parametrize(
    ("predicted", "said"),
    [
        (Predicted(), "not predicted"),
        (Predicted(why="What a variable does is not modelled"), "not predicted: what a variable does is not modelled"),
        (Predicted(decode_pct=(1.0, 2.0, 3.0), why="by the step model"), "decode +2 % (+1 to +3), by the step model"),
        (Predicted(prefill_pct=(0.0, 0.0, 0.0), why="by the step model"), "prefill as it is, by the step model"),
    ],
)  # fmt: skip
def test_what_is_expected_is_said_or_that_it_is_not_known(predicted: Predicted, said: str) -> None:
    assert expected(predicted) == said


def test_the_keep_rule_is_said_in_words() -> None:
    assert kept_if(KeepRule(goal="ttft", better_pct=5)) == (
        "Kept if the time to the first token is better by more than 5 % and more than its interval, "
        "nothing else is worse by more than 3 %, and nothing fails."
    )
    assert "takes an earlier change back" in kept_if(KeepRule(anyway=True))


def test_all_that_an_approval_is_bound_to_is_on_the_card() -> None:
    said = texts(traps=("one", "two"), undo="The old one comes back.")
    for part in (
        "3 requests run now.",
        "The last start took 84 s.",
        "prefill +14 % (+8 to +21), fewer, larger chunks.",
        "5 runs each of a short burst",
        "Else it is taken back: the old one comes back.",
        "silent for 5 min",
        "one\ntwo",
        "--api-key ***",
        "--chunked-prefill-size 4096",
    ):
        assert part in said, part


def test_what_was_changed_can_be_turned_round() -> None:
    assert reverse(proposal()) == Change(set={"chunked_prefill_size": 2048})
    edits = (
        Edit(drop=("--disable-radix-cache",), takes=0),
        Edit(drop=("--max-running-requests",), takes=1, add=("--max-running-requests", "2")),
    )
    change = Change(set={"max_running_requests": 2}, unset=("disable_radix_cache",))
    old = (*OLD, "--disable-radix-cache")
    assert reverse(proposal(change=change, old=old, edits=edits)) == Change(
        set={"disable_radix_cache": True}, unset=("max_running_requests",)
    )


def test_what_is_not_known_of_before_is_not_turned_round() -> None:
    with pytest.raises(NotPossible, match="earlier values I do not keep"):
        reverse(proposal(change=Change(env={"NCCL_ALGO": "Ring"})))
    edit = Edit(drop=("--cuda-graph-bs",), takes=None, add=("--cuda-graph-bs", "1", "2"))
    with pytest.raises(NotPossible, match="takes several values"):
        reverse(proposal(change=Change(set={"cuda_graph_bs": "1,2"}), edits=(edit,)))


def test_the_button_asks_once_more_and_carries_what_was_shown() -> None:
    (row,) = buttons(("approve", "decline"), 7, digest="a" * 64, asks="x" * 400)
    approve, decline = row["elements"]
    assert approve["value"] == decline["value"] == f"{'a' * 64}:7"
    assert len(approve["confirm"]["text"]["text"]) == 300
    assert "confirm" not in decline
