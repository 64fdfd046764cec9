"""What the person who asks says in figures; believed by nobody, explained where it can be."""

from __future__ import annotations

from tools.probe import Facts


class Claim(Facts):
    """Rates as a person told them, in tokens per second, and how many requests are sent at once.

    How they were counted is not known.
    """

    now_tok_s: float | None = None
    before_tok_s: float | None = None  # what it was, or what is promised
    in_parallel: int | None = None
    for_each: bool = False  # the rate is said to be that of each request or user
