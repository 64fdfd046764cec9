"""views.*: modals and Home."""

from __future__ import annotations

import time
from typing import Any

from bot.demo.workspace.bounds import LIMITS, Faults, plain_faults
from bot.demo.workspace.limits import faults_of
from bot.demo.workspace.method import Answer, Args, Method, invalid, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State, View
from bot.demo.workspace.world import APP, BOT, TEAM


def checked_view(view: Any, kind: str) -> dict[str, Any]:
    """A view that Slack would show; Refused with invalid_arguments and the reasons."""
    if not isinstance(view, dict) or view.get("type") != kind:
        raise invalid(f"unsupported view type, {kind} wanted [json-pointer:/view/type]")
    wrong = faults_of(view.get("blocks"), kind)
    if kind == "modal":
        wrong += _modal_faults(view)
    for name, most in (
        ("private_metadata", LIMITS.private_metadata),
        ("callback_id", LIMITS.action_id),
    ):
        if len(str(view.get(name) or "")) > most:
            wrong.append(f"must be less than {most + 1} characters [json-pointer:/view/{name}]")
    if wrong:
        raise invalid(*wrong)
    return dict(view)


def _modal_faults(view: dict[str, Any]) -> Faults:
    wrong = plain_faults(view.get("title"), LIMITS.view_title, "/view/title")
    for name in ("submit", "close"):
        if view.get(name) is not None:
            wrong += plain_faults(view[name], LIMITS.view_title, f"/view/{name}")
    blocks = [b for b in view.get("blocks") or () if isinstance(b, dict)]
    if any(b.get("type") == "input" for b in blocks) and not view.get("submit"):
        wrong.append("a view with inputs needs submit [json-pointer:/view/submit]")
    return wrong


def wire(view: View) -> dict[str, Any]:
    """As answers and interactions show it."""
    whole = {
        "callback_id": "",
        "private_metadata": "",
        "external_id": "",
        "state": {"values": {}},
        **view.view,
    }
    ids = {"id": view.id, "team_id": TEAM, "app_id": APP, "bot_id": BOT, "hash": view.hash}
    return {**whole, **ids, "root_view_id": view.root_id or view.id}


def open_view(state: State, args: Args) -> Answer:
    """Open a modal for the person whose click gave the trigger id, within three seconds and once."""
    (trigger,) = needed(args, "trigger_id")
    if trigger not in state.triggers:
        raise Refused("invalid_trigger_id")
    made_at, user = state.triggers[trigger]
    if time.monotonic() - made_at > state.settings.trigger_s:
        raise Refused("expired_trigger_id")
    view = View(
        state.ids.next("V"), user, checked_view(args.get("view"), "modal"), hash=state.ids.ts()
    )
    del state.triggers[trigger]
    state.triggers[trigger] = (-1e9, user)
    state.views[view.id] = view
    state.changed()
    return {"view": wire(view)}


def update(state: State, args: Args) -> Answer:
    """Change an open modal."""
    view = state.views.get(str(args.get("view_id") or ""))
    if view is None or not view.open:
        raise Refused("not_found")
    if args.get("hash") and args["hash"] != view.hash:
        raise Refused("hash_conflict")
    view.view, view.hash = checked_view(args.get("view"), "modal"), state.ids.ts()
    state.changed()
    return {"view": wire(view)}


def publish(state: State, args: Args) -> Answer:
    """Show somebody's Home."""
    (user,) = needed(args, "user_id")
    if user not in state.world.users:
        raise Refused("user_not_found")
    shown = checked_view(args.get("view"), "home")
    state.homes[user] = shown
    state.changed()
    return {"view": wire(View(f"V{user[1:]}", user, shown, hash=state.ids.ts()))}


METHODS = {
    "views.open": Method(open_view, tier=4),
    "views.push": Method(open_view, tier=4),
    "views.update": Method(update, tier=4),
    "views.publish": Method(publish, tier=4),
}
