"""evaluation is how well cases with a known answer are judged, with a model and without one."""

from bot.evaluation.bundle import Bundle, Expected, bundles
from bot.evaluation.judged import Prose, Speaker, alone, together
from bot.evaluation.outside import Outside
from bot.evaluation.row import Row, Spent
from bot.evaluation.summary import Summary

__all__ = [
    "Bundle",
    "Expected",
    "Outside",
    "Prose",
    "Row",
    "Speaker",
    "Spent",
    "Summary",
    "alone",
    "bundles",
    "together",
]
