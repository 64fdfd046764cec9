"""What a method answers when it refuses: Slack's own error word."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """A call was refused: `error` is the word of Slack's documentation, `more` the fields beside it."""

    def __init__(self, error: str, status: int = 200, **more: Any) -> None:
        super().__init__(error)
        self.error, self.status, self.more = error, status, more
        self.retry_after_s: int | None = None

    def body(self) -> dict[str, Any]:
        """The JSON that the caller gets."""
        return {"ok": False, "error": self.error, **self.more}
