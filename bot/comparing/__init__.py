"""comparing asks two hosts at the same time, or takes what is there of them, and tells how they differ."""

from bot.comparing.command import run

__all__ = ["run"]
