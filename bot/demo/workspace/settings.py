"""How this Slack behaves: tokens, scopes, subscriptions, times and rates; all may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

BOT_TOKEN = "xoxb-0-lab"  # noqa: S105 it opens nothing but this fake
APP_TOKEN = "xapp-1-lab"  # noqa: S105
SIGNING_SECRET = "lab-signing-secret"  # noqa: S105

SCOPES = (
    "app_mentions:read",
    "chat:write",
    "im:history",
    "channels:history",
    "groups:history",
    "files:read",
    "files:write",
    "commands",
    "assistant:write",
    "users:read",
    "usergroups:read",
)
SUBSCRIPTIONS = (
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "app_home_opened",
    "assistant_thread_started",
    "assistant_thread_context_changed",
    "agent_session_stopped",
)


@dataclass
class Settings:
    """The defaults are Slack's own, but for `retry_after_s` (really at once, 1 and 5 minutes)."""

    bot_token: str = BOT_TOKEN
    app_token: str = APP_TOKEN
    signing_secret: str = SIGNING_SECRET
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    subscriptions: set[str] = field(default_factory=lambda: set(SUBSCRIPTIONS))
    revoked: bool = False
    socket_mode: bool = True
    without: dict[str, str] = field(default_factory=dict)  # method -> the error it answers
    only_blocks: frozenset[str] | None = None  # a workspace that knows these kinds of block alone
    ack_s: float = 3.0
    answer_after_s: float = (
        0.0  # on its way: what a call does is done by then, and who called does not know
    )
    retry_after_s: tuple[float, ...] = (0.0, 2.0, 5.0)
    stream_s: float = 300.0  # about 5 minutes, not documented
    trigger_s: float = 3.0
    refresh_grace_s: float = 0.3
    rates: bool = True
    messages_per_s: float = 1.0  # of one channel
    message_burst: int = 4
    per_minute: dict[str, int] = field(
        default_factory=dict
    )  # method -> calls, in place of its tier
    echo: bool = True  # the app hears its own messages, as it does where message.* is subscribed
    history_page: int = 100
