"""The wire to a model's server: no redirect is followed, and no answer is longer or slower than one may be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

LONGEST = 8 << 20  # bytes of an answer; one of 32,000 tokens has some hundred thousand
_PLAIN = "identity"  # not packed: a few bytes that unpack to gigabytes would be read before they are counted


def bounded(chat: Any, within_s: float) -> None:
    """Bound what LangChain's object for a model reads over HTTP, where its library has a client as httpx has.

    A redirect would lead the question to a server that nobody named. A body without end would fill the
    memory, and one that drips keeps a thread for ever, since a time-out of a socket never sees it.
    """
    for name in ("root_client", "_client"):  # of langchain-openai, and of langchain-anthropic
        http: Any = getattr(getattr(chat, name, None), "_client", None)
        if hasattr(http, "follow_redirects") and hasattr(http, "event_hooks"):
            http.follow_redirects = False
            http.headers["Accept-Encoding"] = _PLAIN
            http.event_hooks = {**http.event_hooks, "response": [_Bound(within_s)]}


class _Bound:
    """Called for each response before its body is read. What it raises, the library takes for a broken connection."""

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s

    def __call__(self, response: Any) -> None:
        if response.headers.get("Content-Encoding", _PLAIN).lower() != _PLAIN:
            raise ValueError("the answer is packed, although it was asked for as it is")
        response.stream = _stream(response.stream, time.monotonic() + self._within_s)


def _stream(stream: Any, ends: float) -> Any:
    """Return a stream that gives the same, within the bounds."""
    base = next(one for one in type(stream).__mro__ if one.__name__ == "SyncByteStream")

    def read(_: Any) -> Iterator[bytes]:
        size = 0
        for chunk in stream:
            size += len(chunk)
            if size > LONGEST:
                raise ValueError("the answer is too long")
            if time.monotonic() > ends:
                raise TimeoutError
            yield chunk

    def close(_: Any) -> None:
        stream.close()

    return type("Bounded", (base,), {"__iter__": read, "close": close})()
