"""A scripted OpenAI-compatible server over real HTTP, with every way a model's server may misbehave.

    with FakeModel([calls(("ReadGpus", {})), "The link is slow [E3]."]) as model:
        ModelSettings(name="openai:fake", base_url=model.base_url)

A script is a list of answers, of which the last is given for ever, or a function of what was Asked.
An answer is a text, a body for `choices[0]` as `calls()` makes it, or an Answer.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

START_S = 30


@dataclass(frozen=True)
class Asked:
    """One request: `body` as it was sent, `number` from 0 on, transport retries counted too."""

    number: int
    body: dict[str, Any]
    headers: Mapping[str, str]  # by name, whatever its case
    path: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or [])

    @property
    def system(self) -> str:
        return "\n".join(_words(m) for m in self.messages if m.get("role") == "system") or str(
            self.body.get("system", "")
        )

    @property
    def tools(self) -> list[str]:
        return [_tool(tool)["name"] for tool in self.body.get("tools") or []]

    @property
    def text(self) -> str:
        """Everything that it holds, tools and all, as the model would see it."""
        return "\n".join(
            [
                self.system,
                *map(_words, self.messages),
                json.dumps(self.body.get("tools"), ensure_ascii=False),
            ]
        )

    @property
    def last(self) -> str:
        return _words(self.messages[-1])


@dataclass(frozen=True)
class Answer:
    """A whole HTTP answer. `cut` breaks the connection off; `hang_s` waits before anything is said."""

    body: Any = ""
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""  # "before" or "mid"
    hang_s: float = 0
    drip_s: float = 0  # between single bytes


Reply = str | dict[str, Any] | Answer


def call(name: str, args: Any = None, id: str | None = "call00001") -> dict[str, Any]:
    """One tool call; `args` that are a string stand there as they are."""
    text = args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def calls(
    *wanted: tuple[str, Any], text: str | None = None, finish: str | None = "tool_calls"
) -> dict[str, Any]:
    """Several calls in one turn, in parallel: calls(("ReadGpus", {}), ("ReadLinks", {}))."""
    made = [call(name, args, f"call{n:05d}") for n, (name, args) in enumerate(wanted)]
    return {
        "message": {"role": "assistant", "content": text, "tool_calls": made},
        "finish_reason": finish,
    }


def says(text: str | None, finish: str | None = "stop") -> dict[str, Any]:
    """A text with the reason why it ended."""
    return {"message": {"role": "assistant", "content": text}, "finish_reason": finish}


def fails(status: int, message: str = "it failed", **headers: str) -> Answer:
    """An error as OpenAI words it."""
    body = {"error": {"message": message, "type": "error", "code": None}}
    return Answer(body, status, headers={k.replace("_", "-"): v for k, v in headers.items()})


HTML = "<!doctype html><html><body><h1>Bad gateway</h1></body></html>"
BAD_JSON = calls(("ReadGpus", '{"lines": 10,, }'))
NO_OBJECT = calls(("ReadGpus", "[1, 2]"))
TRUNCATED = calls(("ReadGpus", '{"lines": "1'), finish="length")
CUT_BUT_WHOLE = calls(("ReadGpus", '{"lines": 1}'), finish="length")
UNKNOWN_TOOL = calls(("run_shell", {"command": "rm -rf /"}))
CALL_AS_TEXT = says('{"name": "ReadGpus", "arguments": {}}')
CALL_FENCED = says('```json\n{"name": "ReadGpus", "arguments": {}}\n```')
NULL_ID = {
    "message": {"role": "assistant", "content": None, "tool_calls": [call("ReadGpus", {}, None)]},
    "finish_reason": "tool_calls",
}
PARALLEL = calls(*((f"Read{n}", {}) for n in range(4)))
EMPTY = says("")
NOTHING = says(None)
FILTERED = says("", "content_filter")
TOO_SHORT = says("The link of GPU 0 is", "length")
BUSY = fails(429, "slow down", retry_after="1")
DOWN = fails(500)
GATEWAY = Answer(HTML, 502, "text/html")
PAGE = Answer(HTML, 200, "text/html")
NOT_JSON = Answer("{", 200)
NULL_CHOICES = Answer(
    {"id": "x", "object": "chat.completion", "model": "m", "created": 1, "choices": None}
)
NO_CHOICES = Answer(
    {"id": "x", "object": "chat.completion", "model": "m", "created": 1, "choices": []}
)
LONG_CONTEXT = fails(
    400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."
)
SGLANG_LONG = fails(
    400, "The input (40000 tokens) is longer than the model's context length (32768 tokens)."
)
BAD_UTF8 = Answer(b'{"choices": [{"message": {"role": "assistant", "content": "\xff\xfe"}}]}')
CUT_BEFORE = Answer(cut="before")
CUT_MID = Answer(cut="mid")
HANGS = Answer(hang_s=60)
DRIPS = Answer(drip_s=0.2)
HUGE = says("slow " * 200_000)


def refuses_key(key: str) -> Answer:
    """A 401 that echoes the key, as a provider's may."""
    return fails(401, f"Incorrect API key provided: {key}. You can find your key in your account.")


class FakeModel:
    """The server, in a thread of its own. `asked` holds all requests, in their order."""

    def __init__(
        self, script: Any = "Nothing to say.", *, usage: Any = True, anthropic: bool = False
    ) -> None:
        self.asked: list[Asked] = []
        self.at_once = 0  # the most requests that were open at the same time
        self._script = [script] if isinstance(script, (str, dict, Answer)) else script
        self._usage, self._anthropic = usage, anthropic
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fake-model", daemon=True
        )
        self._address = ""

    @property
    def base_url(self) -> str:
        return self._address if self._anthropic else f"{self._address}/v1"

    @property
    def port(self) -> int:
        return int(self._address.rpartition(":")[2])

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(START_S)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(START_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_S)
        self._loop.close()

    async def _start(self) -> None:
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _stop(self) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        asked = Asked(len(self.asked), body, request.headers.copy(), request.path)
        self.asked.append(asked)
        self._open += 1
        self.at_once = max(self.at_once, self._open)
        try:
            return await self._given(request, self._whole(asked))
        except ConnectionError:  # whoever asked has gone
            return web.Response()
        finally:
            self._open -= 1

    def _whole(self, asked: Asked) -> Answer:
        if callable(self._script):
            reply = self._script(asked)
        else:
            reply = self._script[min(asked.number, len(self._script) - 1)]
        if isinstance(reply, Answer):
            return (
                reply
                if reply.body or reply.cut
                else Answer(**{**vars(reply), "body": self._body(asked, says("late"))})
            )
        return Answer(self._body(asked, says(reply) if isinstance(reply, str) else reply))

    def _body(self, asked: Asked, choice: dict[str, Any]) -> dict[str, Any]:
        size = len(asked.text) // 4, max(1, len(json.dumps(choice)) // 4)
        if self._anthropic:
            return _as_anthropic(asked, choice, size)
        usage = {"prompt_tokens": size[0], "completion_tokens": size[1], "total_tokens": sum(size)}
        return {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": 1,
            "model": asked.body.get("model", "fake"),
            "choices": [{"index": 0, **choice}],
            **(
                {}
                if self._usage is False
                else {"usage": usage if self._usage is True else self._usage}
            ),
        }

    async def _given(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        if answer.hang_s:
            await self._wait(answer.hang_s)
        if answer.cut == "before":
            return self._broken(request)
        body = answer.body if isinstance(answer.body, (bytes, str)) else json.dumps(answer.body)
        data = body.encode() if isinstance(body, str) else body
        response = web.StreamResponse(
            status=answer.status, headers={"Content-Type": answer.kind, **answer.headers}
        )
        if answer.cut:
            response.content_length = 1000
            await response.prepare(request)
            await response.write(b'{"choices": [{"index": 0, "message": {"role": "assis')
            return self._broken(request)
        response.content_length = len(data)
        await response.prepare(request)
        if answer.drip_s:
            return await self._drip(response, data, answer.drip_s)
        await response.write(data)
        await response.write_eof()
        return response

    async def _drip(
        self, response: web.StreamResponse, data: bytes, pause_s: float
    ) -> web.StreamResponse:
        for n in range(len(data)):
            await response.write(data[n : n + 1])
            if await self._wait(pause_s):
                break
        return response

    async def _wait(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _broken(self, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


def _words(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or part.get("content") or "") for part in content)
    return content or ""


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    return dict(tool.get("function") or tool)


def _as_anthropic(asked: Asked, choice: dict[str, Any], size: tuple[int, int]) -> dict[str, Any]:
    message, ends = (
        choice["message"],
        {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
    )
    content: list[dict[str, Any]] = (
        [{"type": "text", "text": message["content"]}] if message.get("content") else []
    )
    content += [
        {
            "type": "tool_use",
            "id": made["id"],
            "name": made["function"]["name"],
            "input": json.loads(made["function"]["arguments"]),
        }
        for made in message.get("tool_calls") or []
    ]
    return {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", "fake"),
        "content": content,
        "stop_reason": ends.get(choice["finish_reason"], choice["finish_reason"]),
        "stop_sequence": None,
        "usage": {"input_tokens": size[0], "output_tokens": size[1]},
    }
