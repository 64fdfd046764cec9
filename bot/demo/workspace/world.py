"""Who and what is in the workspace: people, channels, user groups, and the app itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

TEAM = "T0LAB00001"
APP = "A0PERFSLTH"
BOT_USER = "U0PERFSLTH"
BOT = "B0PERFSLTH"


@dataclass
class User:
    """A member: a person, a guest, or a bot."""

    id: str
    name: str
    real_name: str = ""
    is_bot: bool = False
    guest: bool = False
    deleted: bool = False
    team: str = TEAM  # another team's: a stranger in a shared channel

    def wire(self) -> dict[str, Any]:
        """As `users.info` shows it."""
        real = self.real_name or self.name
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "real_name": real,
            "deleted": self.deleted,
            "is_bot": self.is_bot,
            "is_restricted": self.guest,
            "is_ultra_restricted": False,
            "is_stranger": self.team != TEAM,
            "tz": "Europe/Berlin",
            "profile": {"real_name": real, "display_name": self.name},
        }


@dataclass
class Channel:
    """A channel, a private channel or a direct message (`im`, of the app with `user`)."""

    id: str
    name: str = ""
    kind: Literal["public", "private", "im"] = "public"
    members: set[str] = field(default_factory=set)
    archived: bool = False
    user: str = ""

    def wire(self) -> dict[str, Any]:
        """As `conversations.info` shows it."""
        seen: dict[str, Any] = {
            "id": self.id,
            "is_channel": self.kind == "public",
            "is_group": self.kind == "private",
            "is_im": self.kind == "im",
            "is_private": self.kind != "public",
            "is_archived": self.archived,
            "is_member": BOT_USER in self.members,
        }
        return {**seen, "user": self.user} if self.kind == "im" else {**seen, "name": self.name}


@dataclass
class Group:
    """A user group, as @serving-team."""

    id: str
    handle: str
    users: list[str] = field(default_factory=list)


class World:
    """Two people and a bot, two channels, a direct message each, one user group; add what a test needs."""

    def __init__(self) -> None:
        self.users = {
            u.id: u
            for u in (
                User("U0SAM00001", "sam", "Sam Ito"),
                User("U0ANA00001", "ana", "Ana Diaz"),
                User(BOT_USER, "perfsleuth", "perfsleuth", is_bot=True),
            )
        }
        both = {"U0SAM00001", "U0ANA00001", BOT_USER}
        self.channels = {
            c.id: c
            for c in (
                Channel("C0GPU00001", "gpu", members=set(both)),
                Channel("C0GENERAL1", "general", members=both - {BOT_USER}),
                Channel(
                    "D0SAM00001", kind="im", members={"U0SAM00001", BOT_USER}, user="U0SAM00001"
                ),
                Channel(
                    "D0ANA00001", kind="im", members={"U0ANA00001", BOT_USER}, user="U0ANA00001"
                ),
            )
        }
        self.groups = {"S0SERVING1": Group("S0SERVING1", "serving", ["U0SAM00001"])}

    def user(self, who: str) -> User:
        """By id or name; LookupError when there is none."""
        for user in self.users.values():
            if who.lstrip("@") in (user.id, user.name):
                return user
        raise LookupError(f"no user {who!r}")

    def channel(self, which: str) -> Channel:
        """By id, name or `#name`; for a person (`@sam`, `U…`) the direct message; LookupError if none."""
        for channel in self.channels.values():
            if which == channel.id or (channel.name and which.lstrip("#") == channel.name):
                return channel
        if which.startswith(("@", "U")):
            return self.direct(self.user(which).id)
        raise LookupError(f"no channel {which!r}")

    def direct(self, user: str) -> Channel:
        """The direct message of the app with this user; it is opened if need be."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.user == user:
                return channel
        channel = Channel("D" + user[1:], kind="im", members={user, BOT_USER}, user=user)
        self.channels[channel.id] = channel
        return channel

    def add_user(self, name: str, **more: Any) -> User:
        """A new member, in no channel yet."""
        user = User(f"U0{name.upper():0<8.8}", name, **more)
        return self.users.setdefault(user.id, user)

    def add_channel(self, name: str, members: set[str] | None = None, **more: Any) -> Channel:
        """A new channel; without `members` everybody and the bot are in it."""
        channel = Channel(f"C{len(self.channels):03d}{name.upper():0<6.6}", name, **more)
        channel.members = set(self.users) if members is None else members
        return self.channels.setdefault(channel.id, channel)
