"""followup answers what people ask after a verdict, from the looks that are there; pure, without a model."""

from bot.followup.answer import Answer, answer
from bot.followup.intent import Intent, intent
from bot.followup.wanted import wanted

__all__ = ["Answer", "Intent", "answer", "intent", "wanted"]
