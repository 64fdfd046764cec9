"""Who may ask about which host, and who may approve a change there; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.settings import Settings

_KINDS = (("UW", "some people"), ("S", "some user groups"), ("CGD", "some channels"))


class Groups(Protocol):
    """What the workspace knows of people; told anew for each question, for it changes."""

    def members(self, group_id: str, /) -> frozenset[str]:
        """Return the ids of the users in a user group; nobody where it is unknown."""

    def stranger(self, user: str, /) -> bool:
        """Say whether a user belongs to another workspace, or is a guest."""


@dataclass(frozen=True)
class Asker:
    """Who asks, and where: ids of the platform."""

    user: str
    channel: str


class Access:
    """Decides by the inventory: [access] grants, and what a host says narrows it.

    A user is named by the id of the user, of a user group or of the channel where they ask. A
    stranger must be named as a user or by a user group: a shared channel lets nobody in from
    outside.
    """

    def __init__(self, settings: Settings, groups: Groups) -> None:
        self._settings = settings
        self._groups = groups

    def refusal(self, asker: Asker, host: str | None = None) -> str | None:
        """Return why somebody may not ask, about a host where one is meant; None: they may."""
        general = self._settings.access.ask
        narrow = self._settings.host(host).ask if host else None
        lists = [ids for ids in (general, narrow) if ids is not None]
        if all(self._named(asker, ids) for ids in lists) and (
            lists or not self._groups.stranger(asker.user)
        ):
            return None
        of_host = narrow is not None and (general is None or self._named(asker, general))
        return (
            f"I am sorry, you may not ask me{f' about {host}' if of_host else ''} here. "
            f"{_open_to(narrow if of_host else general)} "
            "Whoever runs me can add you, your user group or this channel in hosts.toml."
        )

    def may_approve(self, asker: Asker, host: str) -> bool:
        """Say whether somebody may approve a change on a host: who is named, and may ask."""
        narrow = self._settings.host(host).approve
        lists = [self._settings.access.approve, *([] if narrow is None else [narrow])]
        return self.refusal(asker, host) is None and all(self._named(asker, ids) for ids in lists)

    def approvers(self, host: str) -> tuple[str, ...]:
        """Return the ids that are named to approve on a host, as the inventory has them."""
        narrow, general = self._settings.host(host).approve, self._settings.access.approve
        return narrow if narrow is not None and general else general

    def _named(self, asker: Asker, ids: Sequence[str]) -> bool:
        if asker.user in ids:
            return True
        groups = [name for name in ids if name.startswith("S")]
        if any(asker.user in self._groups.members(name) for name in groups):
            return True
        return asker.channel in ids and not self._groups.stranger(asker.user)


def refusal_here(settings: Settings, host: str, user: str) -> str | None:
    """Return why a user of this machine may not approve a change from its terminal; None: they may.

    Where nobody is named to approve, who can log in to the host may: they could do it by hand. Where
    people are named, `local:NAME` must be among them.
    """
    narrow, general = settings.host(host).approve, settings.access.approve
    lists = [ids for ids in (general, narrow) if ids]
    if not lists and narrow is None:
        return None
    name = f"local:{user}"
    if lists and all(name in ids for ids in lists) and narrow != ():
        return None
    where = settings.read_from or "hosts.toml"
    return (
        f"{user} may not approve changes on {host}: {where} names who may, and {name} is not among them. "
        "Nothing was done."
    )


def _open_to(ids: Sequence[str] | None) -> str:
    if ids is None:
        return "Guests and people of other workspaces must be named first."
    ways = [name for kinds, name in _KINDS if any(one[0] in kinds for one in ids)]
    return f"That is open to {' and '.join(ways) or 'nobody'} only."
