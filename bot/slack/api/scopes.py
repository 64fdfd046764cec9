"""What the app may do in a workspace: the scopes that slack-manifest.yaml asks for, and what for."""

from __future__ import annotations

from collections.abc import Collection

# https://docs.slack.dev/reference/scopes; a test keeps the manifest equal to this
SCOPES: dict[str, str] = {
    "app_mentions:read": "hear when somebody mentions it",
    "assistant:write": "show its status, suggestions and titles",
    "channels:history": "hear replies in its threads, and find what it missed",
    "chat:write": "answer",
    "commands": "offer /perf and the shortcut",
    "files:read": "read logs that people upload",
    "files:write": "show evidence and charts",
    "groups:history": "do so in private channels it was invited to",
    "im:history": "hear direct messages",
    "usergroups:read": "know who is in a user group that may ask",
    "users:read": "tell guests from members",
}
APP_SCOPE = "connections:write"  # of the app-level token, for Socket Mode
EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "assistant_thread_context_changed",
    "assistant_thread_started",
    "message.channels",
    "message.groups",
    "message.im",
)


def missing(granted: Collection[str]) -> tuple[str, ...]:
    """Return the scopes that are needed and were not granted."""
    return tuple(scope for scope in SCOPES if scope not in granted)


def granted(headers: object) -> frozenset[str]:
    """Read the header x-oauth-scopes of any answer; empty where the answer does not say."""
    get = getattr(headers, "get", None)
    told = (get("x-oauth-scopes") or get("X-OAuth-Scopes") or "") if get else ""
    return frozenset(scope.strip() for scope in str(told).split(",") if scope.strip())
