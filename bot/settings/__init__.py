"""settings is the one reader of the environment and of hosts.toml."""

from bot.settings.errors import SettingsError
from bot.settings.hosts import HostSettings
from bot.settings.inventory import Settings, load
from bot.settings.people import Access, Limits
from bot.settings.service import Service

__all__ = ["Access", "HostSettings", "Limits", "Service", "Settings", "SettingsError", "load"]
