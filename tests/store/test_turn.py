"""Writers take turns: one at a time, in the order of asking, the urgent before the others."""

from __future__ import annotations

import threading
import time

from bot.store.turn import Turn


def test_writers_go_in_the_order_of_asking_and_the_urgent_go_first() -> None:
    turn, order = Turn(), list[str]()

    def write(name: str, urgent: bool) -> None:
        with turn.taken(urgent=urgent):
            order.append(name)

    threads = []
    with turn.taken():
        for name, urgent in (
            ("a", False),
            ("b", False),
            ("ack 1", True),
            ("c", False),
            ("ack 2", True),
        ):
            thread = threading.Thread(target=write, args=(name, urgent))
            thread.start()
            threads.append(thread)
            while len(turn._urgent) + len(turn._others) < len(threads):
                time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    assert order == ["ack 1", "ack 2", "a", "b", "c"]


def test_only_one_is_inside_and_a_fault_gives_the_turn_on() -> None:
    turn, inside, most = Turn(), [0], [0]

    def write() -> None:
        for number in range(50):
            try:
                with turn.taken(urgent=number % 2 == 0):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    time.sleep(0)
                    inside[0] -= 1
                    raise ValueError
            except ValueError:
                pass

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert most == [1]
