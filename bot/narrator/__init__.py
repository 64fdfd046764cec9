"""narrator turns events and verdict into a story; pure, and in no medium yet."""

from bot.narrator.explained import Explanation
from bot.narrator.line import Kind, Line, Part, Table
from bot.narrator.looks import asked, deployed, look, title, understood
from bot.narrator.under_load import of_burst
from bot.narrator.verdict import CATEGORIES, verdict

__all__ = [
    "CATEGORIES",
    "Explanation",
    "Kind",
    "Line",
    "Part",
    "Table",
    "asked",
    "deployed",
    "look",
    "of_burst",
    "title",
    "understood",
    "verdict",
]
