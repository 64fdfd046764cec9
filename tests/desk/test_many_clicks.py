"""Two replicas and eight clicks of two people at the same moment: one begins what was approved."""

from __future__ import annotations

import threading

import pytest

from bot.access import Access
from bot.approvals import Approvals
from bot.desk.books import Books, Place
from bot.desk.deciding import Deciding
from bot.settings import Settings
from bot.store import Offer, Store
from tests.desk.test_plans import plan_of
from tests.proposal.made import proposal
from tests.work.room import Everybody
from tools.change import Plan, Proposal


@pytest.mark.parametrize(
    ("asked", "kind"), [(proposal(), "experiment"), (plan_of(), "campaign")], ids=["change", "plan"]
)
def test_of_two_replicas_and_many_clicks_one_begins_it(
    url: str, asked: Proposal | Plan, kind: str
) -> None:
    settings = Settings.model_validate(
        {"hosts": {"CT129": {"local": True}}, "access": {"approve": ["USAM", "UANA"]}}
    )
    stores = [Store.open(url, executor=f"replica-{n}") for n in range(2)]
    made = stores[0].proposals.add(7, asked, user="USAM", channel="C1", thread="1.0", lives_s=600)
    begun: list[object] = []
    said: list[str] = []
    start = threading.Barrier(8)

    def click(number: int) -> None:
        store = stores[number % 2]
        place = Place(("USAM", "UANA")[number // 4], "C1", "1.0")
        access = Access(settings, Everybody())
        approvals = Approvals(store, lambda user: user, store._database.now)
        deciding = Deciding(store, access, Books(store), approvals, lambda user: user)
        start.wait()
        offer = store.proposals.of_run(7)
        assert isinstance(offer, Offer)
        assert deciding.refusal("approve", offer, place) is None
        with store.together():
            runs, outcome = deciding.press("approve", offer, made.digest, place, f"act:{number}")
        begun.extend(runs)
        said.append(outcome)

    threads = [threading.Thread(target=click, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(begun) == 1, said
    assert len([one for one in said if one.startswith("refused: U")]) == 7, said
    assert len([run for run in stores[1].runs.open() if run.kind == kind]) == 1
    for store in stores:
        store.close()
