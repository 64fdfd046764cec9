"""A text becomes a question: which hosts, which port, what was noticed, claimed and suspected."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from bot.question.names import hosts
from bot.question.plain import LONGEST
from bot.question.rates import claimed, for_each, in_parallel
from bot.question.topics import interest
from tools.secrets import scrub
from tools.verdict import Interest


@dataclass(frozen=True)
class Question:
    """What a person asked. Rates in tokens per second; `text` is as written, without secrets."""

    text: str
    hosts: tuple[str, ...] = ()
    port: int | None = None
    now_tok_s: float | None = None
    before_tok_s: float | None = None
    in_parallel: int | None = None
    for_each: bool = False
    interest: Interest = field(default_factory=Interest)

    @classmethod
    def of(cls, text: str, known_hosts: Collection[str] = ()) -> Question:
        """Read a text; hosts are those that are known by name, else what is named like one."""
        text = scrub(text[:LONGEST])
        names, port = hosts(text, known_hosts)
        now, before = claimed(text)
        return cls(
            text, names, port, now, before, in_parallel(text), for_each(text), interest(text)
        )
