"""What is said to a model, and what it said: plain data, whatever the provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Finish = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]


@dataclass(frozen=True)
class Call:
    """A tool call whose arguments are one whole JSON object; nothing else of it is checked here."""

    name: str
    args: dict[str, Any]
    id: str


@dataclass(frozen=True)
class Said:
    """One message of the conversation. A tool's answer names the call it answers.

    A call of which the model was told why it was refused (`Reply.bad`) is answered by what a user
    says, since it stands in no message.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Reply:
    """One answer. `bad` holds a sentence, as the model is to be told it, for each call refused.

    `text` may be empty: whoever shows it looks first. Tokens are the server's count, or ours where
    the server gives none.
    """

    text: str
    calls: tuple[Call, ...] = ()
    bad: tuple[str, ...] = ()
    finish: Finish = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    model: str = ""

    @property
    def empty(self) -> bool:
        """Whether it says nothing and asks for nothing."""
        return not (self.text.strip() or self.calls or self.bad)
