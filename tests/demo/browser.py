"""A real Chromium, driven over its DevTools protocol: what a person sees, clicks, types and drops in."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any, Self

import aiohttp

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
MISSING = "needs Chromium (apt-get install chromium)"
_STARTS_S = 60.0
_SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-port=0",
)  # fmt: skip

_AIMS = 100
# Whether the next click falls on what was meant: told when it falls, for the button may be drawn anew by it.
_WATCH = """selector => {
    window.hit = false; window.meant = selector;
    window.watched ??= document.addEventListener(
        'click', event => { window.hit = event.target.closest(window.meant) !== null }, true) ?? true;
}"""


class Browser:
    """One page. `faults` are what its console complained of, and what it wanted from elsewhere."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.faults: list[str] = []
        self.reached: set[str] = set()

    async def __aenter__(self) -> Self:
        assert CHROMIUM, MISSING
        self._process = await asyncio.create_subprocess_exec(
            CHROMIUM, *_SWITCHES, f"--user-data-dir={self._home}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self._home)}, start_new_session=True,
        )  # fmt: skip
        self._session = aiohttp.ClientSession()
        port = await self._port()
        self._socket = await self._session.ws_connect(await self._page(port), max_msg_size=64 << 20)
        self._reading = asyncio.create_task(self._read())
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            await self.call(f"{domain}.enable")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await self._socket.close()
        await self._session.close()
        os.killpg(self._process.pid, 9)
        await self._process.wait()

    async def _page(self, port: int) -> str:
        """Return where the page is spoken to; the port may be told before there is one."""
        for _ in range(int(_STARTS_S / 0.1)):
            async with self._session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                for one in await answer.json():
                    if one["type"] == "page":
                        return str(one["webSocketDebuggerUrl"])
            await asyncio.sleep(0.1)
        raise AssertionError("the browser opens no page")

    async def _port(self) -> int:
        told = self._home / "DevToolsActivePort"
        for _ in range(int(_STARTS_S / 0.1)):
            if told.exists() and len(lines := told.read_text().splitlines()) >= 2:
                return int(lines[0])
            await asyncio.sleep(0.1)
        raise AssertionError("Chromium did not start")

    async def _read(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
            elif told["method"] == "Runtime.exceptionThrown":
                details = told["params"]["exceptionDetails"]
                self.faults.append(
                    str(details.get("exception", {}).get("description") or details["text"])
                )
            elif told["method"] == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                self.faults.append(told["params"]["entry"]["text"])
            elif told["method"] == "Network.requestWillBeSent":
                self.reached.add(told["params"]["request"]["url"])

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": arguments})
        told = await asyncio.wait_for(self._answers[number], 60)
        assert "error" not in told, (method, told["error"])
        return dict(told["result"])

    async def open(self, url: str) -> None:
        await self.call("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def looks(self, width: int, height: int, *, dark: bool = False) -> None:
        """Give the window a size, and the person a taste."""
        mobile = width < 500
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = "dark" if dark else "light"
        await self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    async def value(self, script: str) -> Any:
        told = await self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in told, (script, told["exceptionDetails"])
        return told["result"].get("value")

    async def until(self, script: str, within_s: float = 60.0) -> None:
        """Wait until a script gives something true."""
        for _ in range(int(within_s / 0.1)):
            if await self.value(f"Boolean({script})"):
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"never came true: {script}\n{await self.text()}\n{self.faults}")

    async def text(self, selector: str = "body") -> str:
        return str(
            await self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
        )

    async def spot(self, selector: str) -> tuple[float, float]:
        """Bring something into sight, and say where its middle is."""
        name = json.dumps(selector)
        await self.until(f"document.querySelector({name})?.checkVisibility()")
        x, y = await self.value(
            f"(() => {{ const e = document.querySelector({name});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        return x, y

    async def mouse(self, kind: str, spot: tuple[float, float]) -> None:
        await self.call(
            "Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1
        )

    async def click(self, selector: str) -> None:
        """Click into the middle of what is shown there, with the mouse.

        A thread that grows moves its buttons: whoever aims and misses aims once more.
        """
        name = json.dumps(selector)
        for _ in range(_AIMS):
            x, y = await self.spot(selector)
            if await self.value(f"Boolean(document.elementFromPoint({x}, {y})?.closest({name}))"):
                await self.value(f"({_WATCH})({name})")
                await self.mouse("mousePressed", (x, y))
                await self.mouse("mouseReleased", (x, y))
                if await self.value("window.hit"):
                    return
            await asyncio.sleep(0.1)
        raise AssertionError(f"it could not be clicked: {selector}\n{await self.text()}")

    async def type(self, selector: str, text: str) -> None:
        await self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        await self.call("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        text = {"text": "\r"} if key == "Enter" else {}
        await self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key=key,
            code=key,
            windowsVirtualKeyCode=codes[key],
            **text,
        )
        await self.call(
            "Input.dispatchKeyEvent",
            type="keyUp",
            key=key,
            code=key,
            windowsVirtualKeyCode=codes[key],
        )

    async def choose_files(self, selector: str, *paths: Path) -> None:
        root = await self.call("DOM.getDocument")
        node = await self.call(
            "DOM.querySelector", nodeId=root["root"]["nodeId"], selector=selector
        )
        await self.call(
            "DOM.setFileInputFiles", nodeId=node["nodeId"], files=[str(path) for path in paths]
        )

    async def screenshot(self, path: Path) -> None:
        shot = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))
