"""What the person who asks says in figures; believed by nobody, explained where it can be."""

from __future__ import annotations

from tools.probe import Facts


class Claim(Facts):
    """Rates as a person told them, in tokens per second; how they were counted is not known."""

    now_tok_s: float | None = None
    before_tok_s: float | None = None  # what it was, or what is promised
