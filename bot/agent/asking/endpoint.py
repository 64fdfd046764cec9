"""One configured model from outside: its key, its address, its time limit, and its rest after trouble."""

from __future__ import annotations

import contextvars
import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import nullcontext
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bot.agent.asking.trouble import ModelTrouble
from bot.settings import ModelSettings

REST_S = 30  # a model that could not be reached is not tried again for so long
GRACE_S = (
    1  # the library's own time-out comes first, where it comes: its sentence is the better one
)
_RESOLVE_S = 2  # for the name of a server
_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

T = TypeVar("T")


class Endpoint:
    """What is shared by all who ask this model. `chat` is LangChain's object, once it was needed."""

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self.making = threading.Lock()  # of `chat`
        self.chat: Any = None
        self._environ = environ
        self._alone = threading.Lock()
        self._rests_until = 0.0
        self._why: ModelTrouble | None = None

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key; "" where the provider's usual one is unknown."""
        usual = "" if self.settings.base_url else _USUAL_KEYS.get(self.settings.provider, "")
        return self.settings.key or usual

    def key(self) -> str | None:
        """Return the key. None: the provider's library looks for it. A server of one's own needs none."""
        name = self.key_name
        if not name:
            return "none" if self.settings.base_url else None
        key = self._environ.get(name, "").strip()
        if not key:
            raise ModelTrouble(f"{self.settings.name} needs its key: set {name}.", away=True)
        if not (key.isascii() and key.isprintable()):
            raise ModelTrouble(
                f"{name} holds no key: it must be one word of plain ASCII.", away=True
            )
        return key

    def rest(self, why: ModelTrouble) -> None:
        """Leave it alone for a while: each ask meanwhile would wait for the same trouble."""
        self._why, self._rests_until = why, time.monotonic() + REST_S

    def ready(self) -> None:
        """Raise the trouble again that it rests from."""
        if self._why is not None and time.monotonic() < self._rests_until:
            raise ModelTrouble(str(self._why), away=True)

    def within_time(self, do: Callable[[], T], *, alone: bool) -> T:
        """Return what `do` returns, or raise what it raises; TimeoutError after the time for an answer.

        No time-out of a socket does that: a server that sends a byte now and then never falls silent.
        What runs late is left behind in its thread. `alone`: one after the other.
        """
        answer: Future[T] = Future()

        def work() -> None:
            with self._alone if alone else nullcontext():
                if not answer.set_running_or_notify_cancel():
                    return  # its asker waited for its turn in vain
                try:
                    answer.set_result(do())
                except Exception as why:  # noqa: BLE001 - whatever it is, it is raised where it is waited for
                    answer.set_exception(why)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name="model", daemon=True).start()
        try:
            return answer.result(self.settings.timeout_s + GRACE_S)
        except TooLate:
            if answer.done() and not answer.cancelled():
                raise  # by `do` itself
            answer.cancel()
            raise TimeoutError from None


def same_server(base_url: str | None, host: str, port: int | None) -> bool:
    """Whether an address leads to that host and port. None for the port: to any of that host."""
    if not base_url or not host:
        return False
    parts = urlsplit(base_url)
    if port is not None and port != (parts.port or (443 if parts.scheme == "https" else 80)):
        return False
    ours, theirs = (parts.hostname or "").lower(), _bare(host)
    return ours == theirs or bool(_addresses(ours) & _addresses(theirs))


def _bare(host: str) -> str:
    """Take user and brackets off what ssh takes."""
    return host.rpartition("@")[2].strip("[]").lower()


def _addresses(name: str) -> set[str]:
    try:
        return {str(ipaddress.ip_address(name))}
    except ValueError:
        pass
    found: Future[set[str]] = Future()

    def look_up() -> None:
        try:
            found.set_result({str(info[4][0]) for info in socket.getaddrinfo(name, None)})
        except (OSError, UnicodeError):
            found.set_result(set())

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        return found.result(_RESOLVE_S)
    except TooLate:
        return set()
