"""work carries out what was accepted: asks hosts, reads files, answers follow-ups, ends each in letters."""

from bot.work.fetched import Fetched
from bot.work.work import Work

__all__ = ["Fetched", "Work"]
