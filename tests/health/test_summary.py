"""A morning is read in ten seconds: what is new, what it costs, what got better; nothing nags."""

from __future__ import annotations

import pytest

from bot.health.kinds import some_of_each
from bot.health.looked import Found, Looked
from bot.health.summary import Past, summarise
from bot.health.told import details, headline, message
from bot.narrator import Line, Table
from tools.vitals.vitals import Reading, Setting, Vitals

GEN1 = Found(
    cause="pcie_gen_low_under_load",
    category="hardware",
    statement="The PCIe link of GPU 0 runs at Gen1 under load.",
    decode_pct=(-6.0, -4.0, -2.0),
    prefill_pct=(-60.0, -47.0, -30.0),
)


def looked(host="CT129", *, found=(), decode=55.0, version="0.5.11", state="seen", why=""):
    setting = Setting(engine="sglang", version=version, model="qwen3.6-27b")
    vitals = Vitals(setting=setting, figures={"decode": Reading(value=decode, load="1 running")})
    return Looked(host=host, at=0.0, state=state, why=why, found=tuple(found), vitals=vitals)


def past(looks, acknowledged=()):
    days = [(f"2026-11-{n:02}", one) for n, one in enumerate(looks, start=1)]
    return Past(days, frozenset(acknowledged))


def of(today, before=(), acknowledged=()):
    return summarise("2026-11-30", [today], {"CT129": past(before, acknowledged)})


def test_a_silent_morning_is_one_line():
    summary = summarise("2026-11-30", [looked(f"CT{n}") for n in range(40)], {})
    assert headline(summary) == "All 40 hosts are fine."
    assert [part.text for part in message(summary)] == ["All 40 hosts are fine."]
    assert list(details(summary, summary.items)) == []


def test_what_is_new_comes_first_with_what_it_costs():
    costly = GEN1.model_copy(update={"cause": "prefix_cache_off", "prefill_pct": (-95, -60, -20)})
    old = looked("CT200", found=[costly])
    before = {"CT200": past([old, old]), "CT129": past([looked()])}
    summary = summarise("2026-11-30", [old, looked(found=[GEN1]), looked("CT1")], before)
    assert [item.host for item in summary.items] == ["CT129", "CT200"]
    assert [item.course for item in summary.items] == ["new", "known"]
    assert headline(summary) == "2 of 3 need attention, 1 of them new: CT129, CT200."
    table = next(part for part in message(summary) if isinstance(part, Table))
    assert table.rows == (
        (
            "CT129",
            "prefill 47 %, decode 4 %",
            "New: The PCIe link of GPU 0 runs at Gen1 under load.",
        ),
        (
            "CT200",
            "prefill 60 %, decode 4 %",
            "Known: The PCIe link of GPU 0 runs at Gen1 under load.",
        ),
    )


def test_where_no_day_is_kept_nothing_is_called_new():
    """A look by hand knows of no other day."""
    summary = summarise("2026-11-30", [looked(found=[GEN1])], {})
    assert summary.items[0].course == "first"
    told = [part.text for part in message(summary)]
    assert told[1].startswith(
        "The PCIe link of GPU 0 runs at Gen1 under load. Costs: prefill 47 % (30 to 60), "
    )
    assert "new" not in " ".join(told).lower()


def test_an_unreachable_host_is_a_result_and_its_return_is_good_news():
    gone = looked(state="unreachable", why="CT129 does not answer: connection refused")
    summary = of(gone, [looked()])
    assert summary.items[0].text == "CT129 does not answer: connection refused"
    assert summary.items[0].course == "new"
    assert of(looked(), [gone]).better == ("CT129 answers again",)


def test_what_was_acknowledged_does_not_nag_and_is_counted():
    summary = of(looked(found=[GEN1]), [looked(found=[GEN1])], ["pcie_gen_low_under_load"])
    assert summary.items == ()
    assert headline(summary) == "Nothing new: what CT129 has is acknowledged."


def test_who_is_acknowledged_is_not_told_as_fine():
    known = {"CT0": past([looked("CT0", found=[GEN1])], ["pcie_gen_low_under_load"])}
    fine = [looked(f"CT{n}") for n in range(1, 40)]
    silent = summarise("2026-11-30", [looked("CT0", found=[GEN1]), *fine], known)
    assert headline(silent) == "39 of 40 hosts are fine; 1 is acknowledged."
    gone = looked("CT41", state="unreachable", why="no answer")
    summary = summarise("2026-11-30", [looked("CT0", found=[GEN1]), *fine, gone], known)
    assert headline(summary) == "1 of 41 needs attention: CT41. 1 more is acknowledged."


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("blind", "Its GPUs cannot be seen: nvidia-smi: command not found."),
        ("no_server", "No model server runs."),
    ],
)
def test_what_could_not_be_seen_costs_nobody_knows_what(state, why):
    ill = [looked("CT1", state=state, why=why), looked("CT2", state=state, why=why)]
    summary = summarise("2026-11-30", ill, {one.host: past([looked(one.host)]) for one in ill})
    rows = next(part for part in message(summary) if isinstance(part, Table)).rows
    assert rows[0] == ("CT1", "", f"New: {why}")


def test_another_cause_beside_an_acknowledged_one_is_told():
    other = GEN1.model_copy(update={"cause": "prefix_cache_off"})
    summary = of(looked(found=[GEN1, other]), [looked(found=[GEN1])], ["pcie_gen_low_under_load"])
    assert summary.items[0].course == "new"


def test_a_finding_that_comes_and_goes_is_called_so_and_not_new_each_time():
    well, ill = looked(), looked(found=[GEN1])
    summary = of(ill, [well, ill, well, ill, well])
    assert summary.items[0].course == "flapping"
    assert "1 of them new" not in headline(summary)


def test_a_finding_that_is_gone_is_told_once():
    assert of(looked(), [looked(found=[GEN1])]).better == (
        "CT129: no longer PCIe Gen low under load",
    )
    assert of(looked(), [looked(found=[GEN1]), looked()]).better == ()


def test_a_decline_is_told_with_its_days_its_interval_and_the_normal_value():
    days = [looked(decode=55 + n % 3 / 10) for n in range(25)]
    days += [looked(decode=55 * 0.98**n) for n in (1, 2, 3)]
    summary = of(looked(decode=55 * 0.98**4), days)
    [item] = summary.items
    assert item.course == "known"  # it was told on its third day
    assert item.drifts[0].figure == "decode"
    assert item.drifts[0].shift.kind == "decline"
    assert item.text.startswith(
        "Decode rate has fallen by 2.0 % a day since 2026-11-26: 50.7 tok/s, normally 55.1 tok/s, so −7.9 % (−"
    )


def test_a_drift_is_new_on_its_first_day_and_known_after_it():
    days = [looked(decode=55.0)] * 20
    worse = looked(decode=44.0, version="0.5.12")
    assert of(worse, days).items[0].course == "new"
    assert of(worse, [*days, worse]).items[0].course == "known"


def test_a_step_names_what_changed_that_day():
    summary = of(looked(decode=48.0, version="0.5.12"), [looked(decode=55.0)] * 20)
    text = summary.items[0].text
    assert text.startswith("Decode rate −13 % (−")
    assert ") since 2026-11-30: 48.0 tok/s, normally 55.0 tok/s. That day: version" in text
    assert text.endswith("version 0.5.11 → 0.5.12.")


def test_a_figure_that_got_better_needs_nobody():
    assert of(looked(decode=70.0, version="0.5.12"), [looked(decode=55.0)] * 20).items == ()


def test_the_trend_of_a_group_is_against_its_own_days():
    summary = of(looked(decode=44.0, found=[GEN1]), [looked(decode=55.0)] * 3)
    lines = [part.text for part in message(summary) if isinstance(part, Line)]
    assert lines[-1] == "Today: decode rate 44.0 tok/s (-20 %)."


def test_of_a_figure_that_is_as_it_was_nothing_is_told_but_how_fast_the_group_is():
    def of_today(decode, ttft):
        figures = {"decode": Reading(value=decode), "ttft": Reading(value=ttft)}
        return looked(found=[GEN1]).model_copy(update={"vitals": Vitals(figures=figures)})

    def trends(today):
        return [part.text for part in message(of(today, [of_today(55.0, 400.0)] * 3))][-1]

    assert trends(of_today(55.2, 404.0)) == "Today: decode rate 55.2 tok/s."
    assert trends(of_today(55.2, 600.0)).endswith("; time to first token 600 ms (+50 %).")


def test_a_thousand_hosts_are_told_by_kind():
    gone = [looked(f"A{n:02}", state="unreachable", why="no answer") for n in range(30)]
    ill = [looked(f"B{n:02}", found=[GEN1]) for n in range(20)]
    before = {one.host: past([looked(one.host)]) for one in [*gone[:10], *ill]}
    summary = summarise("2026-11-30", [*gone, *ill, *(looked(f"C{n}") for n in range(950))], before)
    assert headline(summary) == (
        "50 of 1,000 need attention: PCIe Gen low under load (20), no answer (30)."
    )
    table = next(part for part in message(summary) if isinstance(part, Table))
    assert [row[:3] for row in table.rows] == [
        ("PCIe Gen low under load", "20, all new", "47 %"),
        ("no answer", "30, 10 new", ""),
    ]
    assert table.rows[0][3].startswith("B00, B01, ")
    assert table.rows[0][3].endswith(" more")


def test_of_what_there_is_much_of_some_stands_for_the_rest():
    gone = [looked(f"A{n:02}", state="unreachable", why="no answer") for n in range(30)]
    ill = [looked(f"B{n:02}", found=[GEN1]) for n in range(2)]
    items = summarise("2026-11-30", [*gone, *ill], {}).items
    assert [item.host[0] for item in some_of_each(items, 6)] == [*"AAAABB"]


def test_one_host_is_named_and_what_is_known_of_it_is_not_called_news():
    assert headline(of(looked(found=[GEN1]))) == "CT129 needs attention."
    known = of(looked(found=[GEN1]), [looked(found=[GEN1])])
    assert headline(known) == "CT129 still needs attention."
