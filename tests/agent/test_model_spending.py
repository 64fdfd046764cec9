"""What models take is counted, and a bound is reached before it is passed."""

from __future__ import annotations

import contextlib
import threading

import pytest

from bot.agent.asking.model import Models
from bot.agent.asking.reply import Said
from bot.agent.asking.spending import MemoryLedger, Spending
from bot.agent.asking.trouble import OverBudget
from bot.settings import Budgets, ModelSettings
from tests.fakes.models import FakeModel
from tools.errors import ToolsError

DAY = 86_400.0


def test_an_ask_takes_what_the_server_counts_in_tokens_and_money() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    with FakeModel("Yes.", usage=usage) as fake:
        one = ModelSettings(
            name="openai:x", base_url=fake.base_url, usd_per_m_in=2, usd_per_m_out=10
        )
        ledger = MemoryLedger()
        spending = Spending(Budgets(usd_per_day=1), ledger, now=lambda: 10 * DAY)
        Models([one], spending, {}).ask("s", [Said("user", "x")])
    assert spending.tokens == 1200
    assert spending.usd == pytest.approx(0.004)
    tokens, usd = ledger.take("1970-01-11", 0, 0)
    assert (tokens, usd) == (1200, pytest.approx(0.004))


def test_an_investigation_ends_asking_at_its_bound_and_is_never_sent_beyond() -> None:
    usage = {"prompt_tokens": 250, "completion_tokens": 650, "total_tokens": 900}
    with FakeModel("Yes.", usage=usage) as fake:
        asks = Models(
            [ModelSettings(name="openai:x", base_url=fake.base_url)],
            Spending(Budgets(tokens_per_investigation=2000)),
            {},
        )
        for _ in range(2):
            asks.ask("s", [Said("user", "x" * 600)])
        with pytest.raises(
            OverBudget,
            match=r"^The model's budget for one investigation \(2,000 tokens\) is used up\.$",
        ):
            asks.ask("s", [Said("user", "x" * 600)])
    assert len(fake.asked) == 2
    assert fake.asked[1].body["max_tokens"] < 1500  # what was left, and no more


def test_a_question_too_large_for_what_is_left_is_not_sent() -> None:
    with FakeModel() as fake:
        asks = Models(
            [ModelSettings(name="openai:x", base_url=fake.base_url)],
            Spending(Budgets(tokens_per_investigation=1000)),
            {},
        )
        with pytest.raises(OverBudget):
            asks.ask("s", [Said("user", "x" * 6000)])
    assert fake.asked == []
    assert asks.spending.tokens == 0


@pytest.mark.parametrize(
    ("budgets", "says"),
    [
        (Budgets(usd_per_investigation=0.01), "one investigation ($0.01)"),
        (Budgets(tokens_per_day=100), "today (100 tokens)"),
        (Budgets(usd_per_day=0.01), "today ($0.01)"),
    ],
)
def test_each_bound_says_which_it_is(budgets: Budgets, says: str) -> None:
    spending = Spending(budgets)
    with pytest.raises(OverBudget) as why:
        spending.hold(200, 0.02)
    assert says in str(why.value)
    assert (spending.tokens, spending.usd) == (0, 0)


def test_a_new_day_begins_at_nothing() -> None:
    now, ledger = [DAY], MemoryLedger()
    budgets = Budgets(tokens_per_day=100)
    Spending(budgets, ledger, lambda: now[0]).hold(100, 0).settle(100, 0)
    with pytest.raises(OverBudget):
        Spending(budgets, ledger, lambda: now[0]).hold(1, 0)
    now[0] += DAY
    Spending(budgets, ledger, lambda: now[0]).hold(100, 0)


def test_what_is_settled_after_midnight_counts_for_the_day_it_was_held_on() -> None:
    now, ledger = [DAY - 1], MemoryLedger()
    held = Spending(Budgets(), ledger, lambda: now[0]).hold(100, 0)
    now[0] += 2
    held.settle(40, 0)
    assert ledger.take("1970-01-01", 0, 0) == (40, 0)
    assert ledger.take("1970-01-02", 0, 0) == (0, 0)


def test_many_at_once_cannot_pass_the_day_together() -> None:
    ledger, budgets = MemoryLedger(), Budgets(tokens_per_day=1000)
    begin, held = threading.Barrier(20), []

    def take() -> None:
        begin.wait()
        with contextlib.suppress(OverBudget):
            held.append(Spending(budgets, ledger).hold(100, 0))

    threads = [threading.Thread(target=take) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(held) <= 10


class _Dead:
    """A ledger whose database goes away after so many writes."""

    def __init__(self, writes: int) -> None:
        self.writes = writes

    def take(self, day: str, tokens: int, usd: float) -> tuple[int, float]:
        self.writes -= 1
        if self.writes < 0:
            raise ToolsError("The database does not answer.")
        return tokens, usd


def test_a_day_that_cannot_be_looked_up_ends_the_asking_and_nothing_else() -> None:
    with FakeModel() as fake:
        spending = Spending(Budgets(), _Dead(0))
        asks = Models([ModelSettings(name="openai:x", base_url=fake.base_url)], spending, {})
        with pytest.raises(OverBudget, match="cannot be looked up"):
            asks.ask("s", [Said("user", "x")])
    assert fake.asked == []
    assert spending.tokens == 0


def test_an_answer_is_not_lost_with_the_day_it_should_be_written_to() -> None:
    with FakeModel("Yes.") as fake:
        spending = Spending(Budgets(), _Dead(1))
        asks = Models([ModelSettings(name="openai:x", base_url=fake.base_url)], spending, {})
        reply = asks.ask("s", [Said("user", "x")])
    assert reply.text == "Yes."
    assert spending.tokens == reply.tokens_in + reply.tokens_out
