"""A model that is waited for in nobody's way: a stop ends the waiting, and others may think meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.trouble import ModelTrouble

_BEAT_S = 0.2  # a stop must be felt within 5 s


class Asked(Protocol):
    """What can be asked as a model is. Raises ModelTrouble, and nothing else."""

    def ask(
        self,
        system: str,
        messages: Sequence[Said],
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Return one answer."""


class Stopped(ModelTrouble):
    """Somebody asked for a stop while the model was waited for."""


def never() -> bool:
    """Nobody stops it."""
    return False


class Patient:
    """Asks in a thread of its own. What a model answers after a stop or too late is dropped.

    `stopped` is looked at while waiting; `meanwhile` is entered by who waits, for whoever else
    could work.
    """

    def __init__(
        self,
        models: Asked,
        *,
        stopped: Callable[[], bool] = never,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._models, self._stopped, self._meanwhile = models, stopped, meanwhile

    def ask(
        self,
        system: str,
        messages: Sequence[Said],
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_output_tokens: int | None = None,
        within_s: float | None = None,
    ) -> Reply:
        """Return one answer; raise ModelTrouble where there is none, or none `within_s` seconds."""
        asking = _Asking(
            lambda: self._models.ask(system, messages, tools, max_output_tokens=max_output_tokens)
        )
        left_s = float("inf") if within_s is None else within_s
        with self._meanwhile():
            while not asking.done(min(_BEAT_S, max(left_s, 0.0))):
                left_s -= _BEAT_S
                if self._stopped():
                    raise Stopped("It was stopped while the model was asked.")
                if left_s <= 0:
                    raise ModelTrouble("It took too long.")
        return asking.reply()


class _Asking:
    """One ask under way."""

    def __init__(self, ask: Callable[[], Reply]) -> None:
        self._ask = ask
        self._over = threading.Event()
        self._reply: Reply | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="model", daemon=True).start()

    def done(self, within_s: float) -> bool:
        """Wait so long; say whether it is over."""
        return self._over.wait(within_s)

    def reply(self) -> Reply:
        """Return what came, or raise what was raised."""
        if self._error is not None:
            raise self._error
        if self._reply is None:
            raise AssertionError("an ask that is over has a reply or an error")
        return self._reply

    def _run(self) -> None:
        try:
            self._reply = self._ask()
        except BaseException as why:  # noqa: BLE001 - it is raised again where it is waited for
            self._error = why
        finally:
            self._over.set()
