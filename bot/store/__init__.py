"""store is SQLAlchemy's only door: what must outlive the process."""

from bot.store.audit import Act
from bot.store.errors import StoreError
from bot.store.inbox import Incoming
from bot.store.letters import Due
from bot.store.opinions import Opinion
from bot.store.proposals import Offer
from bot.store.run import Run
from bot.store.store import Store

__all__ = [
    "Act",
    "Due",
    "Incoming",
    "Offer",
    "Opinion",
    "Run",
    "Store",
    "StoreError",
]
