"""What the bot needs of the environment: tokens of Slack, its database, its own name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, SecretStr

from bot.settings.errors import SettingsError

AUTO = "auto"  # PERFSLEUTH_EXECUTOR: the first of perfsleuth-0, perfsleuth-1 … that is free
LEAST_DAYS = 7  # an event that Slack brings once more must still be known
SLACK_API = "https://slack.com/api/"
_EXECUTOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_PORTS = 65535
_LONGEST_DAYS = 3650
_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/")


class Service(BaseModel):
    """Tokens never show in a repr or a log. `missing` says what stands between it and Slack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bot_token: SecretStr | None = None  # SLACK_BOT_TOKEN, xoxb-
    app_token: SecretStr | None = None  # SLACK_APP_TOKEN, xapp-, for Socket Mode
    signing_secret: SecretStr | None = None  # SLACK_SIGNING_SECRET, for HTTP mode
    slack_api: str = SLACK_API  # PERFSLEUTH_SLACK_API_URL
    database_url: str = ""  # PERFSLEUTH_DATABASE_URL, an SQLAlchemy URL
    executor: str = "perfsleuth-0"  # PERFSLEUTH_EXECUTOR, one of its own for each replica
    metrics: tuple[str, int] | None = None  # PERFSLEUTH_METRICS, HOST:PORT of /healthz and /metrics
    keep_days: int = (
        90  # PERFSLEUTH_KEEP_DAYS, of sent letters, cases, handled events and the days of hosts
    )
    json_log: bool = False  # PERFSLEUTH_LOG=json

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the environment; raise SettingsError for what cannot be used."""
        api = environ.get("PERFSLEUTH_SLACK_API_URL") or SLACK_API
        if not (api.startswith("https://") or _LOOPBACK.match(api)) or not api.endswith("/"):
            raise SettingsError(
                "PERFSLEUTH_SLACK_API_URL must begin with https:// (http:// on loopback alone) and end with /."
            )
        executor = environ.get("PERFSLEUTH_EXECUTOR") or "perfsleuth-0"
        if not _EXECUTOR.fullmatch(executor):
            raise SettingsError("PERFSLEUTH_EXECUTOR must be letters, digits, dots and dashes.")
        return cls(
            bot_token=_secret(environ, "SLACK_BOT_TOKEN", "xoxb-", "a bot token"),
            app_token=_secret(environ, "SLACK_APP_TOKEN", "xapp-", "an app-level token"),
            signing_secret=_secret(environ, "SLACK_SIGNING_SECRET", "", ""),
            slack_api=api,
            database_url=environ.get("PERFSLEUTH_DATABASE_URL") or _sqlite(environ),
            executor=executor,
            metrics=_address(environ.get("PERFSLEUTH_METRICS", "")),
            keep_days=_days(environ.get("PERFSLEUTH_KEEP_DAYS", "")),
            json_log=_json(environ.get("PERFSLEUTH_LOG", "")),
        )

    def missing(self, *, http: bool) -> tuple[str, ...]:
        """Return the variables that must be set before it can run, for Socket Mode or for HTTP."""
        needed = {
            "SLACK_BOT_TOKEN": self.bot_token,
            **(
                {"SLACK_SIGNING_SECRET": self.signing_secret}
                if http
                else {"SLACK_APP_TOKEN": self.app_token}
            ),
        }
        return tuple(name for name, value in needed.items() if value is None)


def _secret(environ: Mapping[str, str], name: str, begins: str, kind: str) -> SecretStr | None:
    value = environ.get(name, "").strip()
    if not value:
        return None
    if not value.startswith(begins):
        raise SettingsError(f"{name} must be {kind}, which begins with {begins}.")
    return SecretStr(value)


def _sqlite(environ: Mapping[str, str]) -> str:
    state = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return f"sqlite:///{Path(state).expanduser() / 'perfsleuth' / 'perfsleuth.sqlite'}"


def _address(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > _PORTS:
        raise SettingsError("PERFSLEUTH_METRICS must be HOST:PORT, as 127.0.0.1:9464.")
    return host.strip("[]"), int(port)


def _days(text: str) -> int:
    if not text:
        return 90
    if not text.isdigit() or not LEAST_DAYS <= int(text) <= _LONGEST_DAYS:
        raise SettingsError(
            f"PERFSLEUTH_KEEP_DAYS must be a number of days from {LEAST_DAYS} to {_LONGEST_DAYS}."
        )
    return int(text)


def _json(text: str) -> bool:
    if text not in ("", "text", "json"):
        raise SettingsError("PERFSLEUTH_LOG must be json or text.")
    return text == "json"
