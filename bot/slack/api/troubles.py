"""What can become of a call to Slack, drawn as a tree, and which of its errors mean what.

SlackTrouble
  Throttled    429: it did nothing, and may be tried again after so many seconds
  Away         no answer, or none that can be read; it may have been done (`uncertain`) or not
  Refused      Slack answered, and said no
"""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from tools.errors import ToolsError

# Errors by their names in the reference of chat.postMessage, chat.update and files.*
# (docs.slack.dev/reference/methods). TOO_MUCH: the same words in a plainer form may pass.
TOO_MUCH = frozenset({
    "invalid_blocks", "invalid_blocks_format", "invalid_attachments", "block_mismatch",
    "msg_blocks_too_long", "msg_too_long", "too_many_attachments", "no_text",
})  # fmt: skip
# NO_PLACE: nothing can be said there, by nobody's fault of the moment.
NO_PLACE = frozenset({
    "channel_not_found", "not_in_channel", "is_archived", "restricted_action", "user_not_in_channel",
    "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
    "restricted_action_non_threadable_channel", "restricted_action_thread_locked",
    "cannot_reply_to_message", "thread_not_found", "ekm_access_denied", "as_user_not_supported",
    "messages_tab_disabled", "cannot_dm_bot", "user_not_found", "team_access_not_granted",
})  # fmt: skip
# NO_RIGHT: who set up the app must act; what waits may still be delivered then.
NO_RIGHT = frozenset({
    "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive",
    "missing_scope", "no_permission", "access_denied", "not_allowed_token_type",
    "org_login_required", "accesslimited", "two_factor_setup_required",
})  # fmt: skip
# LATER: Slack's own trouble; fatal_error and internal_error may have done the thing.
LATER = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org", "temporarily_unavailable", "rollup_error",
})  # fmt: skip
# NO_SUCH: this workspace, or this app, has not got the method; asking again soon is of no use.
NO_SUCH = NO_RIGHT | {
    "unknown_method", "method_deprecated", "deprecated_endpoint", "feature_not_enabled",
    "feature_not_available", "method_not_supported_for_channel_type", "not_allowed",
    "app_not_eligible", "team_not_eligible",
}  # fmt: skip
# UNLIKE_STREAM: the message lives, but no stream runs in it (measured: about 5 minutes of life).
UNLIKE_STREAM = frozenset({"message_not_in_streaming_state", "message_not_owned_by_app"})

_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_AGAIN_S = 1.0  # where Slack says 429 and not when


class SlackTrouble(ToolsError):
    """A call to Slack did not do what it was for."""


class Throttled(SlackTrouble):
    """Too many calls; this one did nothing."""

    def __init__(self, after_s: float) -> None:
        super().__init__(f"Slack asks to wait {after_s:g} s.")
        self.after_s = after_s


class Away(SlackTrouble):
    """Slack cannot be reached, or its answer was lost; where `uncertain` it may have acted."""

    def __init__(self, *, uncertain: bool) -> None:
        super().__init__("Slack does not answer.")
        self.uncertain = uncertain


class Refused(SlackTrouble):
    """Slack said no: `error` is its word for it, `needed` the scope that is missing."""

    def __init__(self, error: str, needed: str = "") -> None:
        super().__init__(f"Slack refused: {error}.")
        self.error = error
        self.needed = needed


def trouble_of(why: Exception) -> SlackTrouble:
    """Say what an exception of the SDK or of aiohttp means; its text is never kept."""
    if isinstance(why, SlackApiError):
        return _of_answer(why.response)
    if isinstance(why, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)):
        return Away(uncertain=False)
    return Away(uncertain=True)


ANY = (SlackClientError, aiohttp.ClientError, asyncio.TimeoutError, OSError)
"""All that the SDK and aiohttp raise for a call that fails."""


def _of_answer(response: Any) -> SlackTrouble:
    status = getattr(response, "status_code", 0)
    data = getattr(response, "data", None)
    error = str(data.get("error") or "") if isinstance(data, dict) else ""
    if status == 429 or error in _LIMITED:
        return Throttled(_after_s(getattr(response, "headers", {})))
    if not error or error in LATER:
        return Away(uncertain=True)
    return Refused(error, str(data.get("needed") or "") if isinstance(data, dict) else "")


def _after_s(headers: Any) -> float:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        return max(float(said), 0.05)
    except ValueError:
        return _AGAIN_S
