"""The modal behind "was this right?": whoever says no may say why."""

from __future__ import annotations

import json

from bot.slack.api.troubles import SlackTrouble
from bot.slack.api.wire import Wire
from bot.slack.blocks import reason_view
from bot.slack.reception.bodies import Press
from bot.store import Incoming


class Reasons:
    """Opens the modal while the click's trigger id lives; the no itself counts without it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def ask(self, incoming: Incoming, trigger_id: str) -> bool:
        """Open it for a no; return whether it opened."""
        if incoming.kind != "press" or not trigger_id:
            return False
        press = Press.model_validate(incoming.body)
        if press.right is not False:
            return False
        place = {"run": press.run, "channel": press.channel, "thread": press.thread}
        view = reason_view(json.dumps(place))
        try:
            await self._wire.call("views.open", trigger_id=trigger_id, view=view)
        except SlackTrouble:
            return False
        return True
