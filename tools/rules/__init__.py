"""rules are all the hypotheses there are, one file per family; RULES is the table of contents."""

from __future__ import annotations

from tools.rule import Rule

RULES: tuple[Rule, ...] = ()
