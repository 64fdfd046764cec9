"""What is wrong with the settings, in one sentence."""

from __future__ import annotations

from tools.errors import ToolsError


class SettingsError(ToolsError):
    """hosts.toml or the environment says something that cannot be used."""
