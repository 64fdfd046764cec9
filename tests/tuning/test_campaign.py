"""A campaign: one change at a time, under one digest, with a ledger of every try, and an end that is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.experiment.record import Judged, Record
from bot.narrator import Line, Table
from bot.proposal.wanted import NotPossible
from bot.trying.tune import carried_out
from bot.tuning.campaign import Try, ended
from bot.tuning.ledger import in_short, of_campaign, of_plan
from bot.tuning.plan import hopeless, takes_s, worth
from tests.experiment.pretend import OLD, proposal
from tools.change import Change, Identity, Plan, Predicted, Proposal, Server, Status

START = Identity(pid=10, started_ticks=1, boot_id="boot", digest=OLD)


def wanted(size: int, gain: float | None = 20.0, **more: object) -> Proposal:
    told = Predicted(prefill_pct=None if gain is None else (gain - 5, gain, gain + 5))
    change = Change(set={"chunked_prefill_size": size})
    return proposal(**{"change": change, "predicted": told, "identity": START} | more)


def plan_of(*planned: Proposal, budget_s: float = 36_000, **more: object) -> Plan:
    sources = tuple(f"reason {number}" for number, _ in enumerate(planned, start=1))
    told = {"goal": "prefill", "budget_s": budget_s, "proposals": planned, "sources": sources}
    return Plan.model_validate(told | more)


class Machine:
    """What a campaign meets: it changes with what is kept."""

    def __init__(self, ends: dict[int, str]) -> None:
        self.ends, self.digest, self.carried = ends, OLD, []
        self.now_s = 0.0
        self.before: Callable[[Proposal], Proposal] = lambda planned: planned

    def anew(self, planned: Proposal) -> Proposal:
        identity = START.model_copy(update={"digest": self.digest, "pid": 11})
        return self.before(planned).model_copy(update={"identity": identity})

    def carry_out(self, one: Proposal) -> Record:
        size = int(str(one.change.set["chunked_prefill_size"]))
        self.carried.append(size)
        self.now_s += 300
        end = self.ends.get(size, "restored")
        if end == "kept":
            self.digest = f"{size:064d}"
        seen = Status(name="n", fence=1, state="kept", old=Server(), new=Server(digest=self.digest))
        judged = Judged(kept=end == "kept", why=f"{size} was measured.", gain_pct=(8, 12, 16))
        return Record(
            run=size, name="n", fence=1, proposal=one, phase="restored" if end == "stopped" else end, began_at=0, seen=seen, judged=judged,
            reason="" if end == "kept" else f"{size} was no better.", stop_by="ana" if end == "stopped" else "",
        )  # fmt: skip

    def campaign(self, *planned: Proposal, budget_s: float = 36_000) -> Campaign:
        return Campaign(self, plan_of(*planned, budget_s=budget_s))


class Campaign:
    """A plan that is carried out in the foreground, as at a terminal."""

    def __init__(self, server: Machine, plan: Plan) -> None:
        self.server, self.plan = server, plan
        self.done: list[Try] = []

    def tries(self) -> list[Try]:
        server = self.server
        return list(
            carried_out(
                self.plan, self.done, server.anew, server.carry_out, now=lambda: server.now_s
            )
        )

    @property
    def ended(self) -> str:
        return ended(self.plan, self.done, self.server.now_s)


def test_each_is_tried_on_what_the_one_before_left() -> None:
    server = Machine({4096: "kept", 8192: "restored"})
    campaign = server.campaign(wanted(4096), wanted(8192), wanted(16384))
    tries = list(campaign.tries())
    assert [(one.change, one.end) for one in tries] == [
        ("--chunked-prefill-size 4096", "kept"),
        ("--chunked-prefill-size 8192", "taken back"),
        ("--chunked-prefill-size 16384", "taken back"),
    ]
    assert tries[1].record
    assert tries[1].record.proposal.identity.digest == f"{4096:064d}"
    assert campaign.ended == "Nothing that is predicted to help is left."


def test_it_ends_when_the_budget_is_too_small_for_one_more() -> None:
    server = Machine({})
    one_s = takes_s(wanted(4096))
    campaign = server.campaign(wanted(4096), wanted(8192), budget_s=one_s + 250)
    assert [one.end for one in campaign.tries()] == ["taken back"]
    assert campaign.ended.startswith("The budget is over")


def test_what_is_not_predicted_to_help_any_more_is_left_out() -> None:
    server = Machine({4096: "kept"})
    server.before = lambda planned: planned if not server.carried else wanted(8192, gain=-9.0)
    tries = list(server.campaign(wanted(4096), wanted(8192)).tries())
    assert tries[1].end == "left out"
    assert tries[1].why == "at best -4.0 % is predicted, and 3 % is asked for"
    assert server.carried == [4096]


def test_a_proposal_that_came_out_otherwise_than_approved_is_left_out() -> None:
    server = Machine({})
    server.before = lambda planned: planned.model_copy(update={"version": "0.5.24"})
    (one,) = server.campaign(wanted(4096)).tries()
    assert (one.end, server.carried) == ("left out", [])


def test_a_server_that_somebody_else_changed_meanwhile_is_left_alone() -> None:
    server = Machine({})
    server.digest = "f" * 64
    (one,) = server.campaign(wanted(4096)).tries()
    assert one.why == "the server was changed by somebody else meanwhile"


def test_what_cannot_be_tried_any_more_says_why() -> None:
    server = Machine({})

    def refuse(_planned: Proposal) -> Proposal:
        raise NotPossible("it is so already")

    server.before = refuse
    (one,) = server.campaign(wanted(4096)).tries()
    assert (one.end, one.why) == ("left out", "it is so already")


@pytest.mark.parametrize(
    ("end", "said"), [("needs_person", "A person is needed"), ("stopped", "Stopped by ana.")]
)
def test_nothing_more_is_tried_after_a_stop_or_where_a_person_is_needed(
    end: str, said: str
) -> None:
    campaign = Machine({4096: end}).campaign(wanted(4096), wanted(8192))
    assert len(list(campaign.tries())) == 1
    assert campaign.ended.startswith(said)


def test_the_digest_of_a_plan_holds_all_of_it() -> None:
    first, second = wanted(4096), wanted(8192)
    plan = plan_of(first, second)
    others = [
        plan_of(first, second, goal="ttft"),
        plan_of(first, second, budget_s=3601),
        plan_of(first),
        plan_of(second, first),
        plan_of(first, wanted(8193)),
        plan_of(first, second, sources=("another", "reason 2")),
        plan_of(first, second, left_out=(("--tp-size 2", "no"),)),
    ]
    assert len({plan.digest, *(one.digest for one in others)}) == 8


def test_a_plan_is_of_one_server_and_says_why_of_each_change() -> None:
    with pytest.raises(ValueError, match="for one server"):
        plan_of(wanted(4096), wanted(8192, port=30001))
    with pytest.raises(ValueError, match="has a source"):
        plan_of(wanted(4096), wanted(8192), sources=("one",))


def test_an_unknown_prediction_may_help_and_ranks_last() -> None:
    assert hopeless(wanted(4096, gain=None), "prefill") == ""
    assert worth(wanted(4096, gain=None), "prefill") == 0


def test_the_plan_and_the_ledger_are_told_whole() -> None:
    server = Machine({4096: "kept"})
    plan = plan_of(
        wanted(4096, traps=("Mind the gap.",), interrupts=("3 requests run now.",)),
        wanted(8192, gain=None, traps=("Mind the gap.",)),
        left_out=(("--tp-size 2", "no"),),
    )
    parts = list(of_plan(plan))
    said = [one.text for one in parts if isinstance(one, Line)]
    assert said[:3] == [
        "Plan for CT129:30000: 2 changes, one at a time, for prefill.",
        "1. --chunked-prefill-size 4096: +20 % (+15 to +25) predicted for prefill. Reason 1.",
        "2. --chunked-prefill-size 8192: nothing predicted for prefill. Reason 2.",
    ]
    assert "3 requests run now." in said
    assert said.count("Mind the gap.") == 1
    assert said[-1] == "--tp-size 2: no."
    (short,) = [one for one in said if one.startswith("The server is restarted")]
    assert short.startswith("The server is restarted up to 4 times: 2 for a change that is taken")
    assert in_short(plan) == (
        "CT129:30000 is restarted up to 4 times within 600 minutes: --chunked-prefill-size 4096, "
        "--chunked-prefill-size 8192."
    )
    campaign = Campaign(server, plan)
    tries = campaign.tries()
    head, table = of_campaign("prefill", tries, campaign.ended)
    assert isinstance(head, Line)
    assert head.text.startswith("1 of 2 changes kept.")
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows] == ["kept", "taken back"]
    assert table.rows[0][2] == "+12 % (+8 to +16)"
