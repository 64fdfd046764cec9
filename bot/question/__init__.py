"""A text becomes a question: which hosts, which port, what was noticed, claimed and suspected."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from bot.question.names import hosts
from bot.question.rates import claimed
from bot.question.topics import interest
from tools.verdict import Interest


@dataclass(frozen=True)
class Question:
    """What a person asked. Rates in tokens per second; `text` is kept as it was written."""

    text: str
    hosts: tuple[str, ...] = ()
    port: int | None = None
    now_tok_s: float | None = None
    before_tok_s: float | None = None
    interest: Interest = field(default_factory=Interest)

    @classmethod
    def of(cls, text: str, known_hosts: Collection[str] = ()) -> Question:
        """Read a text; hosts are those that are known by name, else what is named like one."""
        names, port = hosts(text, known_hosts)
        now, before = claimed(text)
        return cls(text, names, port, now, before, interest(text))
