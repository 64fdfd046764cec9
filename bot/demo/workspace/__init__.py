"""A Slack workspace on loopback: Web API and Socket Mode with Slack's own names, limits and errors."""

from bot.demo.workspace.limits import LIMITS, faults_of
from bot.demo.workspace.messages import Message
from bot.demo.workspace.record import Call, Delivery
from bot.demo.workspace.server import Workspace
from bot.demo.workspace.state import View
from bot.demo.workspace.world import BOT_USER, TEAM

__all__ = [
    "BOT_USER",
    "LIMITS",
    "TEAM",
    "Call",
    "Delivery",
    "Message",
    "View",
    "Workspace",
    "faults_of",
]
