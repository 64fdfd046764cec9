"""What perfsleuth doctor says of Slack: variables, tokens, scopes, the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from bot.narrator import Line
from bot.settings import Service
from bot.slack.api.introduce import asked, can_connect, client_of, of_bot
from bot.slack.api.scopes import APP_SCOPE, SCOPES, missing
from bot.slack.api.troubles import Refused
from tools.errors import ToolsError

WITHIN_S = 15.0
_WHERE = {
    "SLACK_BOT_TOKEN": "the Bot User OAuth Token (xoxb-) of the app's page OAuth & Permissions",
    "SLACK_APP_TOKEN": f"an App-Level Token (xapp-) with {APP_SCOPE}, of its first page",
    "SLACK_SIGNING_SECRET": "the Signing Secret of the app's first page",
}


def missing_sentence(service: Service, *, http: bool) -> str | None:
    """Say which variables must be set before the bot can run, and where they are found."""
    names = service.missing(http=http)
    if not names:
        return None
    told = "; ".join(f"{name} is {_WHERE[name]}" for name in names)
    return f"{' and '.join(names)} must be set. {told}. docs/slack.md shows each step."


def check(service: Service) -> tuple[Line, ...]:
    """Ask Slack and the database, and say what is there and what is missing; raises nothing."""
    return (*asyncio.run(_slack(service)), *_database(service))


async def _slack(service: Service) -> tuple[Line, ...]:
    http = service.app_token is None and service.signing_secret is not None
    lines: list[Line] = []
    if sentence := missing_sentence(service, http=http):
        lines.append(Line("trouble", f"Slack: {sentence}"))
    try:
        async with asyncio.timeout(WITHIN_S):
            if service.bot_token is not None:
                lines += await _bot(service)
            if service.app_token is not None:
                trouble = await can_connect(service)
                lines.append(
                    Line("trouble", f"Socket Mode: {trouble}")
                    if trouble
                    else Line("look", "Socket Mode: a connection can be opened")
                )
    except TimeoutError:
        lines.append(Line("trouble", f"Slack does not answer at {service.slack_api}"))
    return tuple(lines)


async def _bot(service: Service) -> tuple[Line, ...]:
    try:
        us = await asked(client_of(service))
    except Refused as why:
        return (Line("trouble", of_bot(why)),)
    return (Line("look", f"Slack: @{us.name} in {us.workspace or us.team}"), *_scopes(us.scopes))


def _scopes(granted: frozenset[str]) -> Iterator[Line]:
    if not granted:
        yield Line("said", "Slack does not say which scopes were granted.")
    elif lacking := missing(granted):
        for scope in lacking:
            yield Line("trouble", f"scope {scope} is missing: needed to {SCOPES[scope]}")
        yield Line(
            "said",
            "Paste slack-manifest.yaml into the app's page App Manifest, then install the app again.",
        )
    else:
        yield Line("look", f"all {len(SCOPES)} scopes are granted")


def _database(service: Service) -> tuple[Line, ...]:
    from bot.store import Store

    try:
        store = Store.open(service.database_url)
    except ToolsError as why:
        return (Line("trouble", f"database: {why}"),)
    store.close()
    return (Line("look", "database: it opens"),)
