"""A message that is being written: markdown, tasks and blocks, in the order they came."""

from __future__ import annotations

import time
from typing import Any

from bot.demo.workspace.limits import LIMITS, faults_of
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.stream_kinds import STATUSES


class Stream:
    """Pieces in order; a task that is told again keeps its place, and its details and output grow.

    https://docs.slack.dev/reference/methods/chat.appendStream
    """

    def __init__(self, mode: str, life_s: float) -> None:
        self.mode = mode
        self.ends_at = time.monotonic() + life_s
        self.stopped = False
        self.title = ""
        self.tasks: dict[str, dict[str, Any]] = {}
        self.pieces: list[tuple[str, Any]] = []
        self.chunks: list[dict[str, Any]] = []
        self._given_blocks = 0
        self._bytes = 0

    @property
    def state(self) -> str:
        """As the message shows it: `in_progress` or `completed`."""
        return "in_progress" if self.is_open else "completed"

    @property
    def is_open(self) -> bool:
        """Can it be appended to? Not after it was stopped, nor after its life."""
        return not self.stopped and time.monotonic() < self.ends_at

    def text(self) -> str:
        """All markdown of it."""
        return "".join(piece for kind, piece in self.pieces if kind == "text")

    def append(self, chunks: list[dict[str, Any]]) -> None:
        """Add all of them or none; Refused when one is not as documented."""
        if not isinstance(chunks, list):
            raise Refused("invalid_chunks")
        for chunk in chunks:
            self._check(chunk)
        if self._bytes + sum(_weight(c) for c in chunks) > LIMITS.stream_bytes:
            raise Refused("msg_too_long")
        for chunk in chunks:
            self._bytes += _weight(chunk)
            self.chunks.append(chunk)
            _TAKE[chunk["type"]](self, chunk)

    def _check(self, chunk: dict[str, Any]) -> None:
        wrong = chunk_fault(chunk)
        if wrong == "msg_too_long":
            raise Refused(wrong)
        if wrong:
            raise Refused("invalid_chunks", response_metadata={"messages": [f"[ERROR] {wrong}"]})
        if chunk["type"] == "blocks":
            self._given_blocks += len(chunk["blocks"])
            if self._given_blocks > LIMITS.blocks_in_message:
                raise Refused("invalid_blocks", errors=["no more than 50 items allowed"])
            if wrong_blocks := faults_of(chunk["blocks"]):
                raise Refused("invalid_blocks", errors=wrong_blocks)

    def _take_text(self, chunk: dict[str, Any]) -> None:
        self.pieces.append(("text", chunk["text"]))

    def _take_plan(self, chunk: dict[str, Any]) -> None:
        self.title = chunk["title"]

    def _take_blocks(self, chunk: dict[str, Any]) -> None:
        self.pieces.append(("blocks", chunk["blocks"]))

    def _take_task(self, chunk: dict[str, Any]) -> None:
        known = self.tasks.get(chunk["id"])
        if known is None:
            self.tasks[chunk["id"]] = {"details": "", "output": "", "sources": [], **chunk}
            self.pieces.append(("task", chunk["id"]))
            return
        known |= {"title": chunk["title"], "status": chunk["status"]}
        for grows in ("details", "output"):
            known[grows] += chunk.get(grows) or ""
        known["sources"] = [*known["sources"], *(chunk.get("sources") or [])]

    def blocks(self) -> list[dict[str, Any]]:
        """As a client draws it: in mode `plan` all tasks stand together where the first one came."""
        drawn: list[dict[str, Any]] = []
        plan: dict[str, Any] | None = None
        for kind, piece in self.pieces:
            if kind == "blocks":
                drawn += piece
            elif kind == "text":
                _grow_markdown(drawn, piece)
            elif self.mode == "plan":
                if plan is None:
                    plan = {"type": "plan", "title": self.title or "Thinking", "tasks": []}
                    drawn.append(plan)
                plan["tasks"].append(_card(self.tasks[piece]))
            else:
                drawn.append(_card(self.tasks[piece]))
        return drawn


_TAKE = {
    "markdown_text": Stream._take_text,
    "plan_update": Stream._take_plan,
    "blocks": Stream._take_blocks,
    "task_update": Stream._take_task,
}
_NEEDED = {
    "markdown_text": ("text",),
    "plan_update": ("title",),
    "blocks": ("blocks",),
    "task_update": ("id", "title", "status"),
}


def chunk_fault(chunk: Any) -> str | None:
    """What is wrong with a chunk, in one line; None when nothing is."""
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind not in _NEEDED:
        return f"unknown chunk type: {kind}"
    if kind == "blocks":
        return None if isinstance(chunk.get("blocks"), list) else "missing field: blocks"
    texts = {
        key: chunk[key] for key in ("text", "title", "id", "details", "output") if key in chunk
    }
    for key in _NEEDED[kind]:
        if not isinstance(chunk.get(key), str):
            return f"missing field: {key}"
    if any(value is not None and not isinstance(value, str) for value in texts.values()):
        return "not a string"
    if kind == "markdown_text" and len(chunk["text"]) > LIMITS.markdown:
        return "msg_too_long"
    return _task_fault(chunk) if kind == "task_update" else None


def _task_fault(chunk: dict[str, Any]) -> str | None:
    if chunk["status"] not in STATUSES:
        return "invalid status"
    for key in ("title", "details", "output"):
        if len(chunk.get(key) or "") > LIMITS.task_text:
            return f"{key}: must be no more than {LIMITS.task_text} characters"
    return None


def _weight(chunk: dict[str, Any]) -> int:
    """Bytes that count against the whole: details and output count twice (measured by others)."""
    once = sum(len(str(chunk.get(key) or "").encode()) for key in ("text", "title"))
    return once + 2 * sum(len(str(chunk.get(key) or "").encode()) for key in ("details", "output"))


def _grow_markdown(drawn: list[dict[str, Any]], text: str) -> None:
    if drawn and drawn[-1].get("type") == "markdown" and drawn[-1].get("streamed"):
        drawn[-1]["text"] += text
    else:
        drawn.append({"type": "markdown", "text": text, "streamed": True})


def _card(task: dict[str, Any]) -> dict[str, Any]:
    card = {
        "type": "task_card",
        "task_id": task["id"],
        "title": task["title"],
        "status": task["status"],
    }
    for key in ("details", "output"):
        if task[key]:
            section = {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": task[key]}],
            }
            card[key] = {"type": "rich_text", "elements": [section]}
    return {**card, "sources": task["sources"]} if task["sources"] else card
