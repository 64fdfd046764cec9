"""A morning: each host is looked at once, the message stands in the channel, and the rest below it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from bot.access import Access
from bot.health.order import Order
from bot.letter import Letter
from bot.settings import HostSettings, Settings
from bot.settings.schedule import Schedule
from bot.store import Run, sweeps
from bot.work.due import Summaries
from bot.work.mornings import Mornings
from tests.work.room import Everybody, Room, text_of

DAY_S = 86_400.0


def order(room: Room, *hosts: str, date: str = "2026-11-30", **more: Any) -> Run:
    told = Order(date=date, hosts=hosts, daily=True, **more)
    run = room.store.runs.add(
        f"summary:C1:all:{date}", "sweep", channel="CGPU", thread="", user="USAM", message=told.model_dump_json()
    )  # fmt: skip
    assert run
    room.queue.append(run)
    return run


def of_run(room: Room, run: Run) -> list[Letter]:
    return [one for one in room.letters() if one.run == run.id]


def deliver(room: Room, run: Run, ts: str = "1800000000.000001") -> str:
    """Be the postman: the message has arrived, and its thread is where the run is talked about."""
    for letter in of_run(room, run):
        room.store.letters.sent(letter.key, ts if not letter.under else None)
    assert room.store.runs.place(run.id, ts)
    return ts


def test_the_message_comes_first_and_the_details_stand_below_it(room: Room) -> None:
    run = order(room, "CT129", "CT130")
    room.work()
    message, *below = of_run(room, run)
    assert (message.key, message.thread, message.buttons) == (
        f"run:{run.id}:summary",
        None,
        ("know",),
    )
    assert text_of(message).startswith("1 of 2 needs attention: CT129.")
    assert message.choices == ("CT129",)
    assert {one.under for one in below} == {message.key}
    assert "The prefix cache is off" in text_of(message)
    assert text_of(below[0]).startswith("Ask on here: “why CT129?”")
    ended = room.store.runs.get(run.id)
    assert ended
    assert (ended.state, ended.headline) == ("done", "1 of 2 needs attention: CT129.")
    assert [date for date, _ in room.store.days.before(["CT129"], "2026-12-01", 9)["CT129"]] == [
        "2026-11-30"
    ]


def test_a_sweep_that_was_killed_goes_on_and_looks_at_nobody_twice(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = order(room, "CT129", "CT130")
    room.store.sweeps.open(run.id, "2026-11-30", ["CT129", "CT130"], daily=True)
    assert room.store.sweeps.claim(run.id, 1) == ["CT129"]
    again, room.queue = room.queue, []
    help_others, _ = room.worker.helping._chores
    assert help_others(lambda: False) == 1  # who is idle takes the other one
    assert [one.host for one in room.store.sweeps.looks(run.id)[1]] == ["CT130"]
    monkeypatch.setattr(sweeps, "LEASE_S", 0.0)  # who had claimed the first one is dead
    room.queue = again
    room.work()
    assert room.store.sweeps.takes(run.id) == {"CT129": 2, "CT130": 1}
    assert len(of_run(room, run)) >= 2


def test_a_silent_morning_is_one_line_without_chart_or_thread(room: Room) -> None:
    run = order(room, "CT130")
    room.work()
    (letter,) = of_run(room, run)
    assert text_of(letter) == "CT130 is fine."
    assert letter.buttons == ()


def test_a_host_that_is_being_changed_is_left_alone(room: Room) -> None:
    room.store.runs.add("x", "experiment", host="CT129", channel="CGPU", thread="1.0", user="USAM")
    run = order(room, "CT129", "CT130")
    room.work()
    assert [host.name for host in room.hosts] == ["CT130"]
    assert text_of(of_run(room, run)[0]) == "All 2 hosts are fine."


def test_no_host_to_look_at_is_said_and_not_that_all_is_well(room: Room) -> None:
    run = order(room, whom="a6000")
    room.work()
    (letter,) = of_run(room, run)
    assert text_of(letter).startswith("There is no host in a6000 that I may look at")


def test_an_unreachable_group_is_a_result(room: Room) -> None:
    room.unreachable = "the host does not answer"
    run = order(room, "CT129", "CT130")
    room.work()
    assert text_of(of_run(room, run)[0]).startswith("2 of 2 need attention: CT129, CT130.")


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def test_what_is_due_is_accepted_once_by_whoever_is_first(room: Room) -> None:
    clock = Clock()
    settings = Settings(
        hosts={name: HostSettings(local=True, groups=("a6000",)) for name in ("CT129", "CT130")},
        summaries=(Schedule(channel="CGPU", at="08:30", zone="Europe/Berlin"),),
    )
    room.store.schedules.put(Schedule(channel="CGPU", at="08:30", groups=("a6000",)), "USAM")
    accepted: list[Run] = []
    replicas = [
        Summaries(room.store, settings, Access(settings, Everybody()), accepted.append, clock)
        for _ in range(3)
    ]
    begin = clock.now - clock.now % DAY_S
    for minute in range(3 * 24 * 60):
        clock.now = begin + 60.0 * minute
        if minute % 7 == 0:  # each ticks when it wants to, and some are late
            replicas[minute % 3].accept()
    clock.now += 300
    threads = [threading.Thread(target=one.accept) for one in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [run.key for run in accepted]
    assert len(keys) == len(set(keys)) == 6
    assert {key.split(":")[2] for key in keys} == {"all", "a6000"}


def test_who_set_a_summary_gets_the_hosts_that_they_may_see(room: Room) -> None:
    settings = Settings(
        hosts={"CT129": HostSettings(local=True, ask=("UANA",)), "CT130": HostSettings(local=True)}
    )
    room.store.schedules.put(Schedule(channel="CGPU"), "USAM")
    accepted: list[Run] = []
    clock = Clock()
    clock.now += 8.6 * 3600 - clock.now % DAY_S
    Summaries(room.store, settings, Access(settings, Everybody()), accepted.append, clock).accept()
    assert Order.model_validate_json(accepted[0].message).hosts == ("CT130",)


def test_somebody_who_knows_of_it_hears_of_it_no_more(room: Room) -> None:
    run = order(room, "CT129", "CT130")
    room.work()
    thread = deliver(room, run)
    room.press("know", run.id, thread, host="CT129")
    assert room.said(thread)[-1].startswith("Noted: you know of CT129 (prefix cache off)")
    later = order(room, "CT129", "CT130", date="2026-12-01")
    room.work()
    assert [one.faulty for one in Mornings(room.store).summary(later.id)[1]] == [0, 0]
    assert text_of(of_run(room, later)[0]) == "1 of 2 hosts is fine; 1 is acknowledged."


def test_below_a_summary_people_ask_on_without_naming_us(room: Room) -> None:
    run = order(room, "CT129", "CT130")
    room.work()
    thread = deliver(room, run)
    room.say("i think that is fine", thread=thread, addressed=False)
    assert room.said(thread) == []
    room.say("why CT129?", thread=thread, addressed=False)
    room.work()
    said = room.said(thread)
    assert said[0].startswith("Looking at CT129")
    assert "Gen1" in said[1]
    room.say("check CT130", thread=thread, addressed=False)
    assert any(one.startswith("Looking at CT130") for one in room.said(thread))
    room.say("what changed on CT130?", thread=thread, addressed=False)
    assert room.said(thread)[-1].startswith("Of CT130 I keep one day so far")


def test_what_changed_is_told_from_the_days(room: Room) -> None:
    for date in ("2026-11-28", "2026-11-29"):
        order(room, "CT129", "CT130", date=date)
        room.work()
    (_, was), (date, now) = room.store.days.before(["CT129"], "9999", 9)["CT129"]
    setting = was.vitals.setting.model_copy(update={"version": "0.5.9"})
    older = was.model_copy(
        update={"found": (), "vitals": was.vitals.model_copy(update={"setting": setting})}
    )
    room.store.days.put("2026-11-28", older)
    run = order(room, "CT129", date="2026-11-30")
    room.work()
    thread = deliver(room, run)
    room.say("what changed on ct129?", thread=thread, addressed=False)
    said = room.said(thread)[-1]
    assert f"{date}: version 0.5.9 → {now.vitals.setting.version}; new: prefix cache off" in said
    assert "2026-11-30:" not in said  # that day was like the one before
    room.say("what changed on CT130?", thread=thread)
    assert room.said(thread)[-1].startswith("Nothing changed on CT130 since 2026-11-28")


def test_a_watch_tells_once_when_it_comes_back_after_it_was_gone(room: Room) -> None:
    run = order(room, "CT129", "CT130")
    room.work()
    thread = deliver(room, run)
    room.say("tell me if it happens again on CT129", thread=thread, addressed=False)
    assert room.said(thread)[-1].startswith("I watch CT129 for this: The prefix cache is off")

    look = room.worker.helping._chores[1]
    (watch,) = room.store.watches.of_thread("CGPU", thread)

    def due(*, case: str) -> int:
        room.store.watches._open(watch.id, next_at=0.0)
        room.cases = {"CT129": case}
        return look(lambda: False)

    assert look(lambda: False) == 0  # it is not time yet
    count = len(room.hosts)
    assert due(case="ct129") == 0  # it is still there, which is no news
    assert due(case="ct130") == 0  # now it is gone
    room.unreachable = "no route"
    assert due(case="ct129") == 0
    room.unreachable = ""
    assert len(room.hosts) == count + 2
    assert due(case="ct129") == 1
    assert room.said(thread)[-1].startswith("It happens again on CT129: ")
    assert "I stop watching now" in room.said(thread)[-1]
    assert due(case="ct129") == 0


def test_what_a_verdict_found_is_watched_listed_and_stopped_by_words(room: Room) -> None:
    thread = room.say("why is CT129 slow?")
    room.work()
    room.say("tell me if it happens again on CT129", thread=thread, addressed=False)
    said = room.said(thread)[-1]
    assert said.startswith("I watch CT129 for this: ")
    assert "every 15 minutes" in said
    room.say("tell me if it happens again", thread=thread, addressed=False)
    assert room.said(thread)[-1] == "I watch that on CT129 for this thread already."
    room.say("what do you watch?", thread=thread)
    assert "CT129: PCIe Gen low under load" in room.said(thread)[-1]
    room.say("stop watching", thread=thread, addressed=False)
    assert room.said(thread)[-1] == "I stop watching CT129 now."
    assert room.store.watches.of_thread("CGPU", thread) == []
    room.say("stop watching", thread=thread)
    assert room.said(thread)[-1] == "I watch nothing for this thread."


def test_there_is_a_course_after_some_days(room: Room) -> None:
    for day in range(27, 31):
        run = order(room, "CT129", "CT130", date=f"2026-11-{day}")
        room.work()
    summary, course = Mornings(room.store).summary(run.id)
    assert [(one.date, one.faulty, one.hosts) for one in course] == [
        (f"2026-11-{day}", 1, 2) for day in range(27, 31)
    ]
    assert summary.items[0].course == "known"
    chart = next(one for one in of_run(room, run) if one.attached and one.attached.kind == "chart")
    assert chart.attached
    assert chart.attached.title == "1 of 2 hosts has a fault, as on a usual day"
    data = room.worker.content(chart.attached)
    assert data
    assert data.startswith(b"\x89PNG")
