"""LangChain's only door: the configured models, asked in their order until one answers."""

from __future__ import annotations

import itertools
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bot.agent.asking.endpoint import Endpoint, same_server
from bot.agent.asking.heard import heard, misheard
from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble, OverBudget, none_answers, told, unmade
from bot.agent.asking.wire import bounded
from bot.settings import ModelSettings

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

GENTLE_TOKENS = 800  # of an answer, where the server under diagnosis gives it
RETRIES = 2  # of the transport, by the provider's library; nothing else repeats a request
LEAST_TOKENS = 64  # of an answer; a shorter one is of no use
_HOME = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_LOG = logging.getLogger("perfsleuth.agent")


@dataclass(frozen=True)
class _Asked:
    system: str
    messages: tuple[Said, ...]
    tools: tuple[dict[str, Any], ...]
    most: int | None

    @property
    def size(self) -> int:
        """Count its tokens, rather too many than too few: a tokenizer makes 3 to 4 bytes of text one."""
        said = [
            self.system,
            *(m.text + "".join(str(c.args) for c in m.calls) for m in self.messages),
        ]
        text = "".join(said) + json.dumps(self.tools, ensure_ascii=False)
        return len(text.encode("utf-8", "replace")) // 3 + 8 * len(said)


class Models:
    """Asks for one investigation. Thread-safe.

    `diagnosed` is the server that it is about: its host by every name known, and its port (None: not
    known yet). `endpoints` may be shared by all investigations of a process, so that connections stay
    open and a model that is away is left alone by all of them for a while.
    """

    def __init__(
        self,
        settings: Sequence[ModelSettings],
        spending: Spending,
        environ: Mapping[str, str] = os.environ,
        *,
        diagnosed: tuple[Sequence[str], int | None] | None = None,
        endpoints: Sequence[Endpoint] | None = None,
    ) -> None:
        self.spending = spending
        self._ids = itertools.count(1)
        self._endpoints = endpoints or [Endpoint(one, environ) for one in settings]
        names, port = diagnosed or ((), None)
        self._gentle = [
            one for one in self._endpoints if any(_leads(one, name, port) for name in names)
        ]

    @property
    def notice(self) -> str:
        """A sentence for the thread where the server under diagnosis gives the model itself, or ""."""
        if not self._gentle:
            return ""
        return (
            "The model that helps here runs on the server under diagnosis: it is asked one thing at a time, "
            f"for at most {GENTLE_TOKENS} tokens each."
        )

    def ask(
        self,
        system: str,
        messages: Sequence[Said],
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Return the answer of the first model that gives one; raise ModelTrouble where none does.

        `tools` are OpenAI's: {"type": "function", "function": {"name", "description", "parameters"}}.
        OverBudget and TooLong are the troubles that a caller may want to tell apart.
        """
        asked = _Asked(system, tuple(messages), tuple(tools), max_output_tokens)
        troubles: list[ModelTrouble] = []
        for endpoint in self._endpoints:
            try:
                return self._answer(endpoint, asked)
            except OverBudget:
                raise
            except ModelTrouble as why:
                _LOG.info("%s gives no answer: %s", endpoint.settings.name, type(why).__name__)
                troubles.append(why)
                if why.away:
                    endpoint.rest(why)
        raise none_answers(troubles)

    def _answer(self, endpoint: Endpoint, asked: _Asked) -> Reply:
        endpoint.ready()
        settings, gentle, size = endpoint.settings, endpoint in self._gentle, asked.size
        most = min(asked.most or settings.max_output_tokens, settings.max_output_tokens)
        most = min(most, GENTLE_TOKENS) if gentle else most
        most = max(LEAST_TOKENS, min(most, self.spending.left_tokens - size))
        chat = _chat(endpoint)
        hold = self.spending.hold(size + most, settings.usd(size, most))
        took = size, 0
        try:
            message = _within_time(
                endpoint, chat, asked, _bounds(settings, most, gentle=gentle), alone=gentle
            )
            reply = (
                heard(message, settings.name, size, self._ids)
                if message is not None
                else misheard(settings.name, size)
            )
            took = reply.tokens_in, reply.tokens_out
        except ModelTrouble as why:
            took = took if why.charged else (0, 0)
            raise
        finally:
            hold.settle(sum(took), settings.usd(*took))
        return reply


def _leads(endpoint: Endpoint, host: str, port: int | None) -> bool:
    return same_server(endpoint.settings.base_url, host, port)


def _within_time(
    endpoint: Endpoint, chat: Any, asked: _Asked, bounds: dict[str, Any], *, alone: bool
) -> Any:
    settings = endpoint.settings
    try:
        message = endpoint.within_time(lambda: _invoke(chat, asked, bounds), alone=alone)
        return message if message.type == "ai" else None  # a server may answer in another role
    except ValidationError as why:
        if why.title == "AIMessage":
            return None
        raise told(why, settings.name, endpoint.key_name, settings.timeout_s) from None
    except Exception as why:  # noqa: BLE001 - each provider's library raises its own, and text that may echo a key
        raise told(why, settings.name, endpoint.key_name, settings.timeout_s) from None


def _invoke(chat: Any, asked: _Asked, bounds: dict[str, Any]) -> Any:
    from langsmith import tracing_context

    # Tracing is switched on by a variable of the environment, and would send all of it elsewhere.
    with tracing_context(enabled=False):
        bound = chat.bind_tools(list(asked.tools)) if asked.tools else chat
        return bound.invoke(_messages(asked), **bounds)


def _chat(endpoint: Endpoint) -> Any:
    """Return LangChain's object for a model; the first time, import its provider's library alone."""
    with endpoint.making:
        if endpoint.chat is None:
            settings, key = endpoint.settings, endpoint.key()
            try:
                from langchain.chat_models import init_chat_model

                chat = init_chat_model(settings.name, **_set_up(settings, key))
                bounded(chat, settings.timeout_s)
                endpoint.chat = chat
            except Exception as why:  # noqa: BLE001 - the same: a key that a library does not like stands in its text
                raise unmade(why, settings.name) from None
        return endpoint.chat


def _set_up(settings: ModelSettings, key: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {
        "timeout": settings.timeout_s,
        "max_retries": RETRIES,
        # An answer is checked as a whole before anybody sees it, and a cut stream's arguments are repaired.
        "disable_streaming": True,
    }
    if key is not None:
        given["api_key"] = key
    # Always said, because the libraries would else take an address from the environment.
    if address := settings.base_url or _HOME.get(settings.provider):
        given["base_url"] = address
    if settings.provider == "openai":
        given["stream_usage"] = True
    if settings.provider == "openai" and settings.base_url:
        given["use_responses_api"] = False  # SGLang before 0.5.2 and older vLLM answer 404 there
    return given


def _bounds(settings: ModelSettings, most: int, *, gentle: bool) -> dict[str, Any]:
    own_server = settings.provider == "openai" and settings.base_url is not None
    # Each server of one's own knows max_tokens; OpenAI's, which the library speaks, they learned late.
    bounds: dict[str, Any] = (
        {"extra_body": {**settings.extra, "max_tokens": most}}
        if own_server
        else {"max_tokens": most}
    )
    if settings.extra and not own_server:
        bounds["extra_body"] = settings.extra
    temperature = (
        0.0 if gentle or (own_server and settings.temperature is None) else settings.temperature
    )
    return bounds if temperature is None else {**bounds, "temperature": temperature}


def _messages(asked: _Asked) -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    messages: list[BaseMessage] = [SystemMessage(_sendable(asked.system))]
    for said in asked.messages:
        text = _sendable(said.text)
        if said.role == "user":
            messages.append(HumanMessage(text))
        elif said.role == "tool":
            messages.append(ToolMessage(text, tool_call_id=said.call_id))
        else:
            calls = [
                {"name": c.name, "args": c.args, "id": c.id, "type": "tool_call"}
                for c in said.calls
            ]
            messages.append(AIMessage("" if calls and not said.text else text, tool_calls=calls))
    return messages


def _sendable(text: str) -> str:
    """Free a text of halves of surrogates, which no request can hold; servers refuse an empty one."""
    return text.encode("utf-8", "replace").decode("utf-8") or "(nothing)"
