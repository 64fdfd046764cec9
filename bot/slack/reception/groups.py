"""Who is in a user group, and who is a guest or from elsewhere; asked of Slack, kept five minutes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import Any

from bot.slack.api.patience import ask_slack
from bot.slack.api.troubles import Away, Refused, SlackTrouble, Throttled
from bot.slack.api.us import Us
from bot.slack.api.wire import Wire
from bot.slack.reception.everybody import Everybody
from tools.errors import ToolsError
from tools.harmless import harmless

KEPT_S = 300.0
WITHIN_S = 8.0
_MOST = 5000  # answers kept
_What = tuple[str, str]  # kind and id


class Unknown(ToolsError):
    """Slack refuses to say who somebody is; asking again does not help."""


class SlackGroups:
    """bot.access.Groups over Slack. Called from threads; `learn` alone is for the event loop.

    An answer that is older than five minutes still serves while Slack does not give a new one; where
    there is none, SlackTrouble or Unknown is raised: nobody is let in by a silence. What several ask
    at the same time is asked once.
    """

    def __init__(self, wire: Wire, us: Us, loop: asyncio.AbstractEventLoop) -> None:
        self._wire = wire
        self._us = us
        self._loop = loop
        self._everybody = Everybody(wire)
        self._known: dict[_What, tuple[float, dict[str, Any]]] = {}
        self._asking: dict[_What, asyncio.Task[dict[str, Any]]] = {}

    def members(self, group_id: str, /) -> frozenset[str]:
        """Return the ids of the users in a user group; nobody where there is no such group."""
        told = self._told(("group", group_id))
        return frozenset(map(str, told.get("users") or ()))

    def stranger(self, user: str, /) -> bool:
        """Say whether a user is a guest, or belongs to another workspace and to none of our company.

        In a shared channel people of another company are told as users like ours, but for their
        team; where that company has an Enterprise Grid, `enterprise_user` names its organisation
        (https://docs.slack.dev/reference/objects/user-object).
        """
        told = self._told(("user", user))
        if not told:
            return True
        grid = (told.get("enterprise_user") or {}).get("enterprise_id")
        ours = told.get("team_id") in (None, "", self._us.team) or (
            bool(self._us.enterprise) and grid == self._us.enterprise
        )
        return bool(
            told.get("is_stranger")
            or told.get("is_restricted")
            or told.get("is_ultra_restricted")
            or told.get("deleted")
            or not ours
        )

    def name(self, user: str, /) -> str:
        """Return what people call a user, if that is known already; it waits for nobody."""
        _, told = self._known.get(("user", user), (0.0, {}))
        profile = told.get("profile") or {}
        name = profile.get("display_name") or told.get("name") or told.get("real_name") or ""
        return harmless(str(name))[:80]

    def foresee(self, user: str, /) -> None:
        """Begin to ask who a user is, in the event loop; whoever needs it will wait for the same answer."""
        if user and not self._fresh(("user", user)):
            self._begin(("user", user))

    async def learn(self, user: str, /) -> None:
        """Ask who a user is, so that no thread has to wait for it; what fails is asked again there."""
        if user and not self._fresh(("user", user)):
            with suppress(SlackTrouble, Unknown):
                await self._ask(("user", user))

    def _told(self, what: _What) -> dict[str, Any]:
        if self._fresh(what):
            return self._known[what][1]
        try:
            return asyncio.run_coroutine_threadsafe(self._ask(what), self._loop).result()
        except SlackTrouble:
            if what in self._known:
                return self._known[what][1]
            raise

    def _fresh(self, what: _What) -> bool:
        known = self._known.get(what)
        return known is not None and monotonic() - known[0] < KEPT_S

    async def _ask(self, what: _What) -> dict[str, Any]:
        """Ask once, whoever waits; runs in the event loop alone."""
        return await asyncio.shield(self._begin(what))

    def _begin(self, what: _What) -> asyncio.Task[dict[str, Any]]:
        def ended(task: asyncio.Task[dict[str, Any]]) -> None:
            self._asking.pop(what, None)
            if not task.cancelled():
                task.exception()  # who waits for it is told; often nobody does

        task = self._asking.get(what)
        if task is None:
            task = self._asking[what] = asyncio.create_task(self._asked(what))
            task.add_done_callback(ended)
        return task

    async def _asked(self, what: _What) -> dict[str, Any]:
        kind, id = what
        field = _QUESTIONS[kind][2]
        try:
            answer = await self._answer(kind, id)
        except Refused as why:
            if why.error not in _NO_SUCH:
                raise _unknown(kind, why) from None
            answer = {}
        told = answer.get(field) or {}
        if len(self._known) >= _MOST:
            self._known.clear()
        kept = dict(told) if isinstance(told, dict) else {field: told}
        self._known[what] = (monotonic(), kept)
        return kept

    async def _answer(self, kind: str, id: str) -> dict[str, Any]:
        method, argument, field, _, _ = _QUESTIONS[kind]
        if kind == "user":
            if self._wire.pace.wait_s(method) == 0:
                with suppress(Throttled, Away):
                    return await self._wire.call(method, user=id)
            if member := await self._everybody.find(id):
                return {field: member}
        return await ask_slack(self._wire, method, within_s=WITHIN_S, **{argument: id})


# Of each kind: the method, its argument, where the answer is, the scope, and what it is about.
_QUESTIONS = {
    "group": (
        "usergroups.users.list",
        "usergroup",
        "users",
        "usergroups:read",
        "who is in the user group",
    ),
    "user": ("users.info", "user", "user", "users:read", "who you are"),
}
_NO_SUCH = ("no_such_subteam", "subteam_not_found", "user_not_found", "user_not_visible")


def _unknown(kind: str, why: Refused) -> Unknown:
    *_, scope, what = _QUESTIONS[kind]
    return Unknown(
        f"I cannot look up {what}, because Slack refuses it ({why.error}). "
        f"Whoever runs me: the scope {scope} is needed; perfsleuth doctor says what is missing."
    )
