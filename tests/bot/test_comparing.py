"""Which texts ask to compare two hosts with each other."""

from __future__ import annotations

import pytest

from bot.question.comparing import comparing

HOSTS = ("CT129", "CT130", "gpu-07")


@pytest.mark.parametrize(
    "text",
    [
        "compare CT129 with CT130", "why is CT129 slower than CT130?", "CT129 vs. CT130", "CT129 versus ct 130, decode",
        "what's the difference between CT129 and CT130", "CT129 is slow but CT130 is fine", "is CT129 as fast as CT130?",
        "CT129 does 55 tok/s while CT130 does 70, why?", "which is faster, CT129 or CT130", "ct129 = 0.8x of ct130",
        "为什么 CT129 比 CT130 快", "对比一下CT129和CT130", "CT129跟CT130有什么区别?", "CT129 没有 CT130 快", "CT129和CT130哪个更快",
    ],
)  # fmt: skip
def test_two_hosts_and_a_word_that_compares(text: str) -> None:
    assert comparing(text, HOSTS) == ("CT129", "CT130")


@pytest.mark.parametrize(
    "text",
    [
        "check CT129 and CT130", "why are CT129 and CT130 slow compared to last week?", "check CT129 but not CT130",
        "are CT129 and CT130 slower since the upgrade?", "compare CT129, CT130 and gpu-07", "compare with CT130",
        "CT129 is slower than yesterday", "CT129和CT130比较慢", "compare notes with Alice", "", "vs",
    ],
)  # fmt: skip
def test_what_compares_no_two_hosts_is_none(text: str) -> None:
    assert comparing(text, HOSTS) is None


def test_without_an_inventory_what_is_named_like_a_host_counts() -> None:
    assert comparing("compare ct129 and ct130") == ("ct129", "ct130")


@pytest.mark.parametrize("text", ["CT129 faster " * 900, "比" * 4000, "CT129 but CT130 " * 400])
def test_a_long_text_is_read(text: str) -> None:
    comparing(text, HOSTS)
