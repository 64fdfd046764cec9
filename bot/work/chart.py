"""The chart of a step, where it can be drawn."""

from __future__ import annotations

from tools.physics.headroom import Headroom


def alt_of(room: Headroom | None) -> str:
    """Describe the chart to who cannot see it; empty where there is nothing to draw."""
    if room is None:
        return ""
    from bot.charts import waterfall_alt

    return waterfall_alt(room)


def png_of(room: Headroom | None) -> bytes | None:
    """Draw it; None where there is nothing to draw, or nothing to draw with."""
    if room is None:
        return None
    from bot.charts import waterfall_png

    return waterfall_png(room)
