"""hosts.toml: all hosts by name, who may ask and approve, which models help, how much at once."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from bot.settings.errors import SettingsError, told
from bot.settings.hosts import HostSettings
from bot.settings.models import Budgets, ModelSettings
from bot.settings.people import Access, Limits
from bot.settings.schedule import Schedule

_PLACES = ("hosts.toml", "~/.config/perfsleuth/hosts.toml")
_TABLES = ("hosts", "access", "limits", "models", "budget", "summaries")


class Settings(BaseModel):
    """All hosts by name, and where they were read from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: dict[str, HostSettings] = {}
    access: Access = Access()
    limits: Limits = Limits()
    models: tuple[ModelSettings, ...] = ()
    budget: Budgets = Budgets()
    summaries: tuple[Schedule, ...] = ()
    read_from: Path | None = None

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        lower = [name.lower() for name in self.hosts]
        twice = [name for name in self.hosts if lower.count(name.lower()) > 1]
        if twice:
            raise ValueError(f"{' and '.join(twice)} are one name: case makes no difference")
        return self

    @model_validator(mode="after")
    def _money_can_be_counted(self) -> Self:
        if name := self.budget.unpriced(self.models):
            raise ValueError(
                f"[budget] bounds money, so {name} needs usd_per_m_in and usd_per_m_out (0 where it costs nothing)"
            )
        return self

    @model_validator(mode="after")
    def _summaries_differ(self) -> Self:
        known = {group.lower() for one in self.hosts.values() for group in one.groups}
        seen: set[tuple[str, str]] = set()
        for one in self.summaries:
            if (place := (one.channel, one.name)) in seen:
                raise ValueError(
                    f"[[summaries]] tells {one.name} twice in {one.channel}: once a day is enough"
                )
            seen.add(place)
            if strange := [group for group in one.groups if group.lower() not in known]:
                raise ValueError(
                    f"[[summaries]] names the group {strange[0]}, and no host is in it"
                )
        return self

    def host(self, name: str) -> HostSettings:
        """Return what is known of a host; a name that is not listed is an ssh alias or address."""
        by_name = {known.lower(): settings for known, settings in self.hosts.items()}
        return by_name.get(name.lower(), HostSettings())

    def of_groups(self, groups: Sequence[str]) -> tuple[str, ...]:
        """Return the hosts of some groups, as they are listed; of none, all."""
        wanted = {group.lower() for group in groups}
        return tuple(
            name
            for name, one in self.hosts.items()
            if not wanted or wanted & {group.lower() for group in one.groups}
        )


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read hosts.toml from PERFSLEUTH_HOSTS, the working directory or ~/.config/perfsleuth.

    Raises SettingsError with the place and what is wrong there.
    """
    named = environ.get("PERFSLEUTH_HOSTS")
    places = [Path(named)] if named else [Path(place).expanduser() for place in _PLACES]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        if named:
            raise SettingsError(f"PERFSLEUTH_HOSTS names {named}, which is no file.")
        return Settings()
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        return _checked(raw, path)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise SettingsError(f"{path} is no valid TOML: {why}.") from None
    except (OSError, UnicodeDecodeError) as why:
        raise SettingsError(f"{path} cannot be read: {why}.") from None
    except ValidationError as why:
        raise SettingsError(f"{path}: {told(why.errors()[0])}.") from None


def _checked(raw: Mapping[str, Any], path: Path) -> Settings:
    strange = [name for name in raw if name not in _TABLES]
    if strange:
        raise SettingsError(
            f"{path}: {strange[0]} is unknown here: a host is [hosts.NAME]. "
            "[access], [limits], [[models]], [budget] and [[summaries]] are the other tables."
        )
    return Settings.model_validate({**raw, "read_from": path})
