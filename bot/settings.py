"""The one reader of the environment and of hosts.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tools.errors import ToolsError

_PLACES = ("hosts.toml", "~/.config/perfsleuth/hosts.toml")


class SettingsError(ToolsError):
    """hosts.toml or the environment says something that cannot be used."""


def _plain(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("must be one line of text, and not empty")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("must be a whole path on the host, from / on")
    return _plain(text)


Plain = Annotated[str, AfterValidator(_plain), Field(max_length=500)]
Absolute = Annotated[str, AfterValidator(_absolute), Field(max_length=500)]


class HostSettings(BaseModel):
    """What is known of one host. Nothing is required: what is missing is discovered.

    `ssh` is an alias or an address as `ssh` takes it; `local = true` asks this machine itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ssh: Plain | None = None
    ssh_config: Path | None = None  # another file than ~/.ssh/config
    local: bool = False
    python: Plain = "python3"
    port: Annotated[int, Field(ge=1, le=65535)] | None = None  # of the server, if there are several
    log: Absolute | None = None
    source: Absolute | None = None
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

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        lower = [name.lower() for name in self.hosts]
        twice = [name for name in self.hosts if lower.count(name.lower()) > 1]
        if twice:
            raise ValueError(f"{' and '.join(twice)} are one name: case makes no difference")
        return self

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
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        return _checked(raw, path)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise SettingsError(f"{path} is no valid TOML: {why}.") from None
    except (OSError, UnicodeDecodeError) as why:
        raise SettingsError(f"{path} cannot be read: {why}.") from None
    except ValidationError as why:
        first = why.errors()[0]
        place, what = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{path}: {place}{': ' if place else ''}{what}.") from None


def _checked(raw: Mapping[str, Any], path: Path) -> Settings:
    strange = [name for name in raw if name != "hosts"]
    if strange:
        raise SettingsError(f"{path}: {strange[0]} is unknown here: a host is [hosts.NAME].")
    return Settings(hosts=raw.get("hosts", {}), read_from=path)
