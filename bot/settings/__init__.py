"""settings is the one reader of the environment and of hosts.toml."""

from bot.settings.errors import SettingsError
from bot.settings.hosts import HostSettings
from bot.settings.inventory import Settings, load
from bot.settings.models import Budgets, ModelSettings
from bot.settings.people import Access, Limits
from bot.settings.service import Service

__all__ = [
    "Access",
    "Budgets",
    "HostSettings",
    "Limits",
    "ModelSettings",
    "Service",
    "Settings",
    "SettingsError",
    "load",
]
