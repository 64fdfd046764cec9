"""Words that may stand in hosts.toml: one line of text, a whole path, an id of Slack."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_LOCAL = re.compile(r"local:[A-Za-z_][A-Za-z0-9_.-]{0,31}")
_SLACK_ID = re.compile(r"[UWSCGD][A-Z0-9]{2,20}")


def _plain(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("must be one line of text, and not empty")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("must be a whole path on the host, from / on")
    return _plain(text)


def _slack_id(text: str) -> str:
    if not _SLACK_ID.fullmatch(text):
        raise ValueError(
            f"{text!r} is no id of Slack: a user is U..., a user group S..., a channel C... "
            "(in Slack: View full profile or Channel details, then Copy ID)"
        )
    return text


def _approver(text: str) -> str:
    return text if _LOCAL.fullmatch(text) else _slack_id(text)


Plain = Annotated[str, AfterValidator(_plain), Field(max_length=500)]
Absolute = Annotated[str, AfterValidator(_absolute), Field(max_length=500)]
SlackId = Annotated[str, AfterValidator(_slack_id)]
Approver = Annotated[str, AfterValidator(_approver)]  # or a user of this machine, "local:sam"
