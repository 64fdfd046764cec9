"""Letters, trails and views as Block Kit: pure, within Slack's limits, and deaf to what a host says."""

from bot.slack.blocks.chunks import task_chunks
from bot.slack.blocks.home import home
from bot.slack.blocks.message import render
from bot.slack.blocks.plainer import plainer
from bot.slack.blocks.reason import reason_view
from bot.slack.blocks.rendered import MARK, Block, Rendered, mark, marked
from bot.slack.blocks.trail import Item, TrailState
from bot.slack.blocks.trail_shown import trail_blocks

__all__ = [
    "MARK",
    "Block",
    "Item",
    "Rendered",
    "TrailState",
    "home",
    "mark",
    "marked",
    "plainer",
    "reason_view",
    "render",
    "task_chunks",
    "trail_blocks",
]
