"""Files that people gave us: fetched from Slack alone, capped, under a harmless name."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from bot.message import GivenFile, Message
from bot.slack.api.troubles import ANY, NO_RIGHT, Refused, SlackTrouble
from bot.slack.api.wire import Wire
from bot.slack.reception.shelf import Shelf
from bot.work.fetched import Fetch, Fetched
from tools.errors import ToolsError
from tools.harmless import harmless

FILES, FILE_BYTES, ALL_BYTES = 20, 64 << 20, 200 << 20
_PIECE = 1 << 20
_TIMEOUT = aiohttp.ClientTimeout(total=300, sock_read=30)
_TRIES = 6  # some 15 s in all: a person waits
_ALL_S = 900.0  # after which a worker no longer waits for the loop, which may have ended
_STRANGE = re.compile(r"[^\w.+@ -]+")
_LONG = 100  # characters
_LONG_BYTES = 200  # a file system takes 255, of which a script may spend 4 for each character
_HOST = re.compile(r"[a-z0-9.-]+")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NotFetched(ToolsError):
    """A file was not fetched: a sentence that says why."""


class _Passing(ToolsError):
    """Slack cannot give it now; it may soon."""


@dataclass
class _Room:
    """How many bytes may still come, of one file and of all."""

    left: int = ALL_BYTES
    taken: list[Path] = field(default_factory=list)


def fetcher(wire: Wire, loop: asyncio.AbstractEventLoop, shelf: Shelf) -> Fetch:
    """Return what a worker thread calls to have the files of a message; it waits for the loop."""
    files = Files(wire, shelf)

    def fetch(message: Message) -> Fetched:
        fetching = asyncio.run_coroutine_threadsafe(files.fetch(message.files), loop)
        try:
            return fetching.result(_ALL_S)
        except TimeoutError:
            fetching.cancel()
            return Fetched(troubles=("Slack is too slow to give me these files: send them again.",))

    return fetch


class Files:
    """Fetches files of a message into a folder of the shelf."""

    def __init__(
        self, wire: Wire, shelf: Shelf, *, file_bytes: int = FILE_BYTES, all_bytes: int = ALL_BYTES
    ) -> None:
        self._wire = wire
        self._shelf = shelf
        self._file_bytes = file_bytes
        self._all_bytes = all_bytes

    async def fetch(self, files: Sequence[GivenFile]) -> Fetched:
        """Fetch what can be fetched; what cannot be is a sentence, never an exception."""
        folder = await asyncio.to_thread(self._shelf.folder)
        try:
            return await self._into(folder, files)
        except BaseException:  # cut off: nobody will read what came, nor remove it
            shutil.rmtree(folder, ignore_errors=True)
            raise

    async def _into(self, folder: Path, files: Sequence[GivenFile]) -> Fetched:
        room, troubles = _Room(self._all_bytes), []
        for number, file in enumerate(files[:FILES], start=1):
            place = folder / str(number)  # two files may have one name
            try:
                await self._one(file, place, room)
            except NotFetched as why:
                troubles.append(str(why))
        if left := len(files) - FILES:
            troubles += (
                [f"I read {FILES} files at once: {left} more were left out."] if left > 0 else []
            )
        return Fetched(tuple(room.taken), tuple(troubles), folder)

    async def _one(self, file: GivenFile, place: Path, room: _Room) -> None:
        name = shown(file.name)
        if file.size > self._file_bytes:
            raise NotFetched(self._too_large(name))
        url = file.url or await self._address(file, name)
        if not self.trusts(url):
            raise NotFetched(f"{name} does not lie at Slack: upload it here, and I read it.")
        await asyncio.to_thread(place.mkdir, 0o700)
        path = place / safe_name(file.name)
        try:
            await self._patiently(url, path, name, room)
        except NotFetched:
            await asyncio.to_thread(path.unlink, missing_ok=True)
            raise
        room.taken.append(path)

    async def _patiently(self, url: str, path: Path, name: str, room: _Room) -> None:
        for failures in range(1, _TRIES + 1):
            try:
                await self._read(url, path, name, room)
                return
            except (_Passing, *ANY):
                if failures < _TRIES:
                    await asyncio.sleep(self._wire.outage.back_off_s(failures))
        raise NotFetched(_not_now(name))

    def trusts(self, url: str) -> bool:
        """Say whether our token may go to this address: Slack's own hosts, and a fake on loopback."""
        try:
            asked, ours = urlsplit(url), urlsplit(self._wire.base_url)
            port = asked.port
        except ValueError:
            return False
        if asked.username or asked.password or not asked.hostname:
            return False
        if ours.hostname in _LOOPBACK:
            return (asked.scheme, asked.netloc) == (ours.scheme, ours.netloc)
        host = asked.hostname
        if not _HOST.fullmatch(host):
            return False  # what reads addresses otherwise than we do could be led elsewhere
        slack = host in ("slack.com", "slack-files.com") or host.endswith(
            (".slack.com", ".slack-files.com")
        )
        return asked.scheme == "https" and port in (None, 443) and slack

    async def _address(self, file: GivenFile, name: str) -> str:
        """Ask for what the event left out, as it does for files of other workspaces."""
        try:
            answer = await self._wire.call("files.info", file=file.id)
        except Refused as why:
            raise NotFetched(_NO_SCOPE if why.error in NO_RIGHT else _gone(name)) from None
        except SlackTrouble:
            raise NotFetched(_not_now(name)) from None
        found = answer.get("file") or {}
        return str(found.get("url_private_download") or found.get("url_private") or "")

    async def _read(self, url: str, path: Path, name: str, room: _Room) -> None:
        most = min(self._file_bytes, room.left)
        headers = {"Authorization": f"Bearer {self._wire.token}"}
        asking = self._wire.session.get(
            url, headers=headers, allow_redirects=False, timeout=_TIMEOUT, proxy=self._wire.proxy
        )
        async with asking as answer:
            _check(answer, name)
            count = 0
            with path.open("wb") as file:
                async for piece in answer.content.iter_chunked(_PIECE):
                    count += len(piece)
                    if count > most:
                        raise NotFetched(self._too_large(name))
                    await asyncio.to_thread(file.write, piece)
        room.left -= count

    def _too_large(self, name: str) -> str:
        one, all_of_it = self._file_bytes >> 20, self._all_bytes >> 20
        return f"{name} is too large: I read up to {one} MB of a file and {all_of_it} MB at once. Cut it to its end."


_NO_SCOPE = (
    "I may not read files here: the app needs the scope files:read, and must be installed anew."
)


def _check(answer: aiohttp.ClientResponse, name: str) -> None:
    """Raise NotFetched unless this is the file: without the scope Slack shows a page to log in."""
    page = answer.content_type == "text/html" and not name.lower().endswith((".html", ".htm"))
    if answer.status in (301, 302, 303, 307, 308, 401, 403) or (answer.status == 200 and page):
        raise NotFetched(_NO_SCOPE)
    if answer.status in (404, 410):
        raise NotFetched(_gone(name))
    if answer.status != 200:
        raise _Passing


def _gone(name: str) -> str:
    return f"{name} is not there any more: send it once more."


def _not_now(name: str) -> str:
    return f"{name} could not be fetched from Slack: send it once more."


def shown(name: str) -> str:
    """Return a file's name fit for a sentence."""
    return harmless(name)[:_LONG] or "A file"


def safe_name(name: str) -> str:
    """Return a file's name that stays in its folder, and keeps its ending."""
    base = _STRANGE.sub("_", harmless(name).replace("\\", "/").rsplit("/", 1)[-1]).strip(". ")
    if len(base) > _LONG or len(base.encode()) > _LONG_BYTES:
        stem, dot, end = base.rpartition(".")
        end = _cut(end, 30)[:19] if dot else ""
        base = f"{_cut(stem if dot else base, _LONG_BYTES - 40)[: _LONG - 20]}{dot}{end}"
    return base or "file"


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
