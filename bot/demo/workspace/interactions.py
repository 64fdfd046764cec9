"""What people press: buttons, feedback, commands, shortcuts, and modals that they send."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.messages import Message
from bot.demo.workspace.people import People
from bot.demo.workspace.record import Delivery
from bot.demo.workspace.state import View
from bot.demo.workspace.views import wire
from bot.demo.workspace.world import APP, TEAM


class Interactions(People):
    """Each gives the Delivery back: `acked`, and `answer`, the payload of the ack."""

    def press(
        self, channel: str, ts: str, action_id: str, user: str, value: str | None = None
    ) -> Delivery:
        """Press a button of a message; LookupError when it has none with this action id (and value)."""
        message = self.message(channel, ts)
        block, element = find_element(message.shown_blocks(), action_id, value)
        container = {
            "type": "message",
            "message_ts": ts,
            "channel_id": message.channel,
            "is_ephemeral": bool(message.only_for),
        }
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        where = self.state.world.channels[message.channel]
        return self._act(
            user,
            block,
            element,
            value,
            {
                "container": container,
                "channel": {"id": where.id, "name": where.name or "directmessage"},
                "message": message.wire(),
                "response_url": self._response_url(message.channel, message.thread_ts, user, ts),
            },
        )

    def press_in_view(
        self, view: View | None, action_id: str, user: str, value: str | None = None
    ) -> Delivery:
        """Press a button of a modal; of somebody's Home when `view` is None."""
        who = self.state.world.user(user)
        shown = view or View(f"V{who.id[1:]}", who.id, self.state.homes[who.id])
        block, element = find_element(shown.view["blocks"], action_id, value)
        more = {"container": {"type": "view", "view_id": shown.id}, "view": wire(shown)}
        return self._act(user, block, element, value, more)

    def _act(
        self,
        user: str,
        block: dict[str, Any],
        element: dict[str, Any],
        value: str | None,
        more: dict[str, Any],
    ) -> Delivery:
        action: dict[str, Any] = {
            "action_id": element.get("action_id", ""),
            "block_id": block.get("block_id", "b1"),
            "type": element["type"],
            "action_ts": self.state.ids.ts(),
        }
        pressed = element
        if element["type"] == "feedback_buttons":
            positive, negative = element["positive_button"], element["negative_button"]
            pressed = negative if value is not None and value == negative["value"] else positive
        if "text" in pressed:
            action["text"] = pressed["text"]
        if pressed.get("value") is not None:
            action["value"] = pressed["value"]
        if "options" in element:
            action["selected_option"] = next(
                o for o in element["options"] if value in (None, o["value"])
            )
        return self._interact(
            "block_actions", user, {**more, "actions": [action], "state": {"values": {}}}
        )

    def _interact(self, kind: str, user: str, more: dict[str, Any]) -> Delivery:
        who = self.state.world.user(user)
        trigger = self.state.trigger(who.id)
        payload = {
            "type": kind,
            "user": {"id": who.id, "username": who.name, "name": who.name, "team_id": who.team},
            "api_app_id": APP,
            "token": "verification",
            "trigger_id": trigger,
            "team": {"id": TEAM, "domain": "lab"},
            "enterprise": None,
            "is_enterprise_install": False,
            **more,
        }
        return self.post.send("interactive", payload, trigger)

    def command(self, text: str, channel: str, user: str) -> Delivery:
        """A slash command: "/perf hosts". The text of the ack becomes a message that only `user` sees."""
        where, who = self.state.world.channel(channel), self.state.world.user(user)
        name, _, rest = text.partition(" ")
        trigger = self.state.trigger(who.id)
        payload = {
            "token": "verification",
            "team_id": TEAM,
            "team_domain": "lab",
            "channel_id": where.id,
            "channel_name": where.name or "directmessage",
            "user_id": who.id,
            "user_name": who.name,
            "command": name,
            "text": rest,
            "api_app_id": APP,
            "is_enterprise_install": "false",
            "response_url": self._response_url(where.id, None, user, ""),
            "trigger_id": trigger,
        }
        return self.post.send("slash_commands", payload, trigger)

    def shortcut(self, callback_id: str, channel: str, ts: str, user: str) -> Delivery:
        """A message shortcut."""
        message = self.message(channel, ts)
        where = self.state.world.channels[message.channel]
        return self._interact(
            "message_action",
            user,
            {
                "callback_id": callback_id,
                "message_ts": ts,
                "action_ts": self.state.ids.ts(),
                "channel": {"id": where.id, "name": where.name or "directmessage"},
                "message": message.wire(),
                "response_url": self._response_url(where.id, message.thread_ts, user, ts),
            },
        )

    def submit(self, view: View, values: dict[str, str], user: str | None = None) -> Delivery:
        """Send a modal, `values` by action id; it closes unless the ack says otherwise."""
        states: dict[str, Any] = {}
        for number, block in enumerate(view.view["blocks"]):
            element = block.get("element")
            if block.get("type") != "input" or not element:
                continue
            action = element.get("action_id", "")
            given = values.get(action)
            chosen: dict[str, Any] = {"type": element["type"], "value": given}
            if "options" in element:
                option = next((o for o in element["options"] if o["value"] == given), None)
                chosen = {"type": element["type"], "selected_option": option}
            states.setdefault(block.get("block_id", f"b{number}"), {})[action] = chosen
        shown = {**wire(view), "state": {"values": states}}
        return self._interact(
            "view_submission", user or view.user, {"view": shown, "response_urls": []}
        )

    def _response_url(self, channel: str, thread_ts: str | None, user: str, ts: str) -> str:
        key = self.state.ids.next("R")
        self.state.response_urls[key] = (
            channel,
            thread_ts,
            self.state.world.user(user).id + "|" + ts,
            0,
        )
        return f"{self.state.url}/actions/{TEAM}/{key}"

    def buttons(self, message: Message) -> list[tuple[str, str]]:
        """Action id and label of each button that a message shows."""
        found = []
        for block in message.shown_blocks():
            for element in [*block.get("elements", ()), block.get("accessory")]:
                if isinstance(element, dict) and element.get("type") == "button":
                    found.append((element.get("action_id", ""), element["text"]["text"]))
        return found


def find_element(
    blocks: list[dict[str, Any]], action_id: str, value: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The block and its element with this action id; LookupError when nobody could press it."""
    for block in blocks:
        for element in [*block.get("elements", ()), block.get("accessory"), block.get("element")]:
            if (
                isinstance(element, dict)
                and element.get("action_id") == action_id
                and _has(element, value)
            ):
                return block, element
    raise LookupError(f"nothing to press: {action_id!r} {value or ''}")


def _has(element: dict[str, Any], value: str | None) -> bool:
    if value is None or "options" in element:
        return True
    if element["type"] == "feedback_buttons":
        return value in (element["positive_button"]["value"], element["negative_button"]["value"])
    return bool(element.get("value") == value)
