"""The one reader of the environment and of hosts.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tools.errors import ToolsError

_PLACES = ("hosts.toml", "~/.config/perfsleuth/hosts.toml")


class SettingsError(ToolsError):
    """hosts.toml or the environment says something that cannot be used."""


class HostSettings(BaseModel):
    """What is known of one host. Nothing is required: what is missing is discovered.

    `ssh` is an alias or an address as `ssh` takes it; `local = true` asks this machine itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ssh: str | None = None
    ssh_config: Path | None = None  # another file than ~/.ssh/config
    local: bool = False
    python: str = "python3"
    port: int | None = None  # of the server to look at, if there are several
    log: str | None = None
    source: str | None = None
    groups: tuple[str, ...] = ()
    notes: str = ""

    def scope(self) -> dict[str, str | int | None]:
        """Return what probes may want to know."""
        return {"port": self.port, "log_path": self.log, "source_path": self.source}


class Settings(BaseModel):
    """All hosts by name, and where they were read from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: dict[str, HostSettings] = {}
    read_from: Path | None = None

    def host(self, name: str) -> HostSettings:
        """Return what is known of a host; a name that is not listed is an ssh alias or address."""
        by_name = {known.lower(): settings for known, settings in self.hosts.items()}
        return by_name.get(name.lower(), HostSettings())


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
        return Settings(
            hosts=tomllib.loads(path.read_text(encoding="utf-8")).get("hosts", {}), read_from=path
        )
    except tomllib.TOMLDecodeError as why:
        raise SettingsError(f"{path} is no valid TOML: {why}.") from None
    except (OSError, UnicodeDecodeError) as why:
        raise SettingsError(f"{path} cannot be read: {why}.") from None
    except ValidationError as why:
        first = why.errors()[0]
        raise SettingsError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}."
        ) from None
