"""Changes a host: a server is restarted with other flags, and the old one comes back when it should."""

from tools.change.bounds import Bounds
from tools.change.change import Change, Edit
from tools.change.held_by import HeldBy
from tools.change.identity import Identity
from tools.change.keep_rule import KeepRule
from tools.change.plan import Plan
from tools.change.proposal import Predicted, Proposal
from tools.change.status import ENDED, Server, State, Status, Trouble

__all__ = [
    "ENDED",
    "Bounds",
    "Change",
    "Edit",
    "HeldBy",
    "Identity",
    "KeepRule",
    "Plan",
    "Predicted",
    "Proposal",
    "Server",
    "State",
    "Status",
    "Trouble",
]
