"""Bolt's app: the intake before the ack, thin listeners after it."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.settings import Service
from bot.slack.api.scopes import EVENTS
from bot.slack.api.us import Us
from bot.slack.blocks.reason import CALLBACK
from bot.slack.reception.front import Front
from bot.slack.reception.intake import INCOMING, Intake
from bot.slack.reception.payload import COMMAND, SHORTCUT
from bot.slack.reception.perf import Perf
from bot.slack.reception.reason import Reasons

_LOG = logging.getLogger("perfsleuth.slack")
_BOLT = logging.getLogger("perfsleuth.slack.bolt")
Ack = Callable[..., Awaitable[Any]]
Body = dict[str, Any]


def build(
    service: Service, us: Us, intake: Intake, front: Front, perf: Perf, reasons: Reasons
) -> AsyncApp:
    """Return the app for both modes; who we are is known, so that no event waits for auth.test.

    Bolt's own authorization asks Slack at the first event and, where that fails, acknowledges the
    event and drops it (slack-bolt 1.30, read in its source).
    """
    token = service.bot_token.get_secret_value() if service.bot_token else None

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=us.team, bot_id=us.bot, bot_user_id=us.user, bot_token=token
        )

    secret = service.signing_secret
    _BOLT.setLevel(logging.ERROR)
    app = AsyncApp(
        name="bolt",  # Bolt sets the level of the logger of this name, so it must not be ours
        logger=_BOLT,
        signing_secret=secret.get_secret_value() if secret else "",
        client=AsyncWebClient(base_url=service.slack_api),
        authorize=authorize,
        attaching_conversation_kwargs_enabled=False,
    )
    app.middleware(intake.take)
    app.error(_Faults(front).tell)
    listeners = _Listeners(front, perf, reasons)
    for name in sorted({event.partition(".")[0] for event in EVENTS}):
        app.event(name)(listeners.heard)
    app.action(re.compile(".*"))(listeners.pressed)
    app.view(CALLBACK)(listeners.acknowledged)
    app.shortcut(SHORTCUT)(listeners.acknowledged)
    app.command(COMMAND)(listeners.commanded)
    return app


class _Listeners:
    """Called when Slack has its ack, or has it as their first act."""

    def __init__(self, front: Front, perf: Perf, reasons: Reasons) -> None:
        self._front = front
        self._perf = perf
        self._reasons = reasons

    async def heard(self, context: AsyncBoltContext) -> None:
        await self._front.handle(context[INCOMING])

    async def acknowledged(self, context: AsyncBoltContext, ack: Ack) -> None:
        await ack()
        await self._front.handle(context[INCOMING])

    async def pressed(self, context: AsyncBoltContext, body: Body, ack: Ack) -> None:
        await ack()
        # a trigger id lives for 3 s, so the modal comes before all else
        await self._reasons.ask(context[INCOMING], str(body.get("trigger_id") or ""))
        await self._front.handle(context[INCOMING])

    async def commanded(
        self, context: AsyncBoltContext, body: Body, ack: Ack, respond: Ack
    ) -> None:
        if INCOMING not in context:
            await ack(**await self._perf.answer(body))
            return
        await ack()
        if said := await self._front.handle(context[INCOMING]):
            await respond(text=said, response_type="ephemeral")


class _Faults:
    """What no listener foresaw: one sentence in the thread, the fault's type in the log."""

    def __init__(self, front: Front) -> None:
        self._front = front

    async def tell(self, error: Exception, context: AsyncBoltContext) -> None:
        if incoming := context.get(INCOMING):
            await self._front.failed(incoming, error)
        else:
            _LOG.error("a fault in Slack's front: %s", type(error).__name__)
