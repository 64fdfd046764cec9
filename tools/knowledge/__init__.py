"""knowledge is data with sources: causes, Xids, reason bits, GPUs."""

from __future__ import annotations

from tools.knowledge.catalogue import CAUSES, REASON_BITS, XIDS, Category, Cause, Xid, in_words

__all__ = ["CAUSES", "REASON_BITS", "XIDS", "Category", "Cause", "Xid", "in_words"]
