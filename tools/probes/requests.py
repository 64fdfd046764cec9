"""Requests to the server and its answers, as a file holds them or a person pastes them."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.engine import Requests
from tools.engine.exchange import holds_any, read, slimmed
from tools.host import Command, script
from tools.probe import Probe, told

_STARTS = ('{"absent": ', '{"failed": ')  # what our script says instead
_SENTENCE = 1000  # characters
_MARK = r'"(?:messages|prompt|usage)"\s*:'


class ReadRequests(Probe[Requests]):
    """Read a request and its answer: what was asked (a grammar, how many tokens) and what was counted.

    For a file of JSON requests or answers; figures are kept, prompts are dropped. A person would
    type `cat request.json`.
    """

    routine: ClassVar[bool] = False  # a file of the user, not of the server

    path: str = Field("request.json", pattern=r"^[^-]", max_length=400)

    def command(self) -> Command:
        """Print the file, if there is a request or an answer in it."""
        return script("print_file", self.path, _MARK)

    def recognises(self, text: str, /) -> bool:
        """A request has messages or a prompt, an answer has its usage."""
        return holds_any(text)

    def clean(self, text: str, /) -> str:
        """Keep figures alone: what users wrote is dropped before anything is stored."""
        return text if text.startswith(_STARTS) and len(text) < _SENTENCE else slimmed(text)

    def parse(self, stdout: str, /) -> Requests:
        """Count requests with and without a grammar; take the figures of the last answer."""
        if stdout.startswith(_STARTS):
            told(stdout)
        return read(stdout)
