"""proposal turns a wish into what a person can approve: the exact change, what it does, how it is undone."""

from bot.proposal.propose import propose
from bot.proposal.wanted import NotPossible, Wanted

__all__ = ["NotPossible", "Wanted", "propose"]
