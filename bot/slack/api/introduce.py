"""The first question to Slack: who are we there, and do the tokens hold?"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.web.async_client import AsyncWebClient

from bot.settings import Service
from bot.slack.api.scopes import APP_SCOPE, granted, missing
from bot.slack.api.troubles import ANY, NO_RIGHT, Refused, trouble_of
from bot.slack.api.us import Us
from tools.errors import ToolsError

_PAUSE_S, _LONGEST_S = 1.0, 30.0
_LOG = logging.getLogger("perfsleuth.slack")


class BadToken(ToolsError):
    """Slack does not take a token."""


def client_of(service: Service) -> AsyncWebClient:
    """Return a client with the bot token, which repeats nothing by itself."""
    token = service.bot_token.get_secret_value() if service.bot_token else None
    return AsyncWebClient(token=token, base_url=service.slack_api, timeout=15, retry_handlers=[])


async def introduce(service: Service) -> Us:
    """Ask Slack who we are, for as long as it does not answer; raise BadToken if it says no."""
    pause_s = _PAUSE_S
    while True:
        try:
            us = await asked(client_of(service))
        except Refused as why:
            raise BadToken(of_bot(why)) from None
        except ANY:
            _LOG.warning(
                "Slack does not answer yet at %s; I try again in %.0f s",
                urlsplit(service.slack_api).hostname,
                pause_s,
            )
        else:
            if us.scopes and (lacking := missing(us.scopes)):
                _LOG.warning("scopes are missing: %s; docs/slack.md says how", ", ".join(lacking))
            return us
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, _LONGEST_S)


async def asked(client: AsyncWebClient) -> Us:
    """Put auth.test once. Raises Refused, or what stands for Slack not answering (ANY)."""
    try:
        answer = await client.auth_test()
    except ANY as why:
        trouble = trouble_of(why)
        if isinstance(trouble, Refused):
            raise trouble from None
        raise TimeoutError from None
    data: Any = answer.data
    return Us(
        team=str(data.get("team_id") or ""),
        user=str(data.get("user_id") or ""),
        bot=str(data.get("bot_id") or ""),
        name=str(data.get("user") or "perfsleuth"),
        workspace=str(data.get("team") or ""),
        enterprise=str(data.get("enterprise_id") or ""),
        scopes=granted(answer.headers),
    )


async def can_connect(service: Service) -> str | None:
    """Say why Socket Mode cannot be opened with the app-level token; None: it can."""
    if service.app_token is None:
        return "SLACK_APP_TOKEN is not set."
    try:
        await client_of(service).apps_connections_open(
            app_token=service.app_token.get_secret_value()
        )
    except ANY as why:
        trouble = trouble_of(why)
        return of_app(trouble) if isinstance(trouble, Refused) else "Slack does not answer."
    return None


def of_bot(why: Refused) -> str:
    """Say what to do about a bot token that Slack does not take."""
    if why.error in NO_RIGHT:
        return (
            f"Slack does not take SLACK_BOT_TOKEN ({why.error}): copy the Bot User OAuth Token "
            "of the app's page OAuth & Permissions, after it was installed."
        )
    return f"Slack refuses auth.test ({why.error}); see the app's page at api.slack.com/apps."


def of_app(why: Refused) -> str:
    """Say what to do about an app-level token that Slack does not take."""
    return (
        f"Slack does not take SLACK_APP_TOKEN ({why.error}): make an App-Level Token with the "
        f"scope {APP_SCOPE} on the app's first page, and enable Socket Mode."
    )
