"""Files of people come onto our disk: from Slack alone, capped, under harmless names."""

from __future__ import annotations

import asyncio
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.message import GivenFile, Message
from bot.slack.api.wire import Wire
from bot.slack.reception.files import Files, fetcher, safe_name
from bot.slack.reception.shelf import Shelf
from bot.work.fetched import Fetched
from tests.slack.delivering import Delivering, delivering


def given(lab: Delivering, *files: tuple[str, bytes]) -> tuple[GivenFile, ...]:
    """Files as an event tells of them."""
    message = lab.slack.say("gpu", "sam", "see these", files=files)
    return tuple(
        GivenFile(id=f["id"], name=f["name"], size=f["size"], url=f["url_private_download"])
        for f in message.files
    )


@asynccontextmanager
async def fetched(lab: Delivering, *files: GivenFile, **caps: int) -> AsyncIterator[Fetched]:
    yield await Files(lab.wire, Shelf(), **caps).fetch(files)


def test_files_of_people_come_under_their_names_for_us_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            *files, odd = given(lab, ("a.log", b"one"), ("a.log", b"two"), ("c.log", b"3"))
            odd = odd.model_copy(update={"name": "../../etc/pass wd"})
            async with fetched(lab, *files, odd) as got:
                assert [path.read_bytes() for path in got.paths] == [b"one", b"two", b"3"]
                assert [path.name for path in got.paths] == ["a.log", "a.log", "pass wd"]
                assert got.folder is not None
                assert all(path.is_relative_to(got.folder) for path in got.paths)
                assert stat.S_IMODE(got.folder.stat().st_mode) == 0o700
                assert got.troubles == ()

    asyncio.run(story())


def test_a_worker_thread_gets_them_as_well(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            fetch = fetcher(lab.wire, asyncio.get_running_loop(), Shelf())
            files = given(lab, ("serve.log", b"one"))
            message = Message(channel="C", ts="1", thread="1", user="U", files=files)
            got = await asyncio.to_thread(fetch, message)
            assert [path.read_bytes() for path in got.paths] == [b"one"]

    asyncio.run(story())


def test_a_file_without_an_address_is_asked_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            (file,) = given(lab, ("serve.log", b"one"))
            async with fetched(lab, file.model_copy(update={"url": ""})) as got:
                assert [path.read_bytes() for path in got.paths] == [b"one"]
            async with fetched(lab, GivenFile(id="F0NONE", name="gone.log")) as got:
                assert got.paths == ()
                assert "gone.log is not there any more" in got.troubles[0]

    asyncio.run(story())


def test_what_is_too_large_is_left_out_though_its_size_was_a_lie(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            big, small = given(lab, ("big.log", b"x" * 3_000_000), ("small.log", b"x"))
            async with fetched(lab, big, small, file_bytes=1 << 20) as got:
                assert [path.name for path in got.paths] == ["small.log"]
                assert "big.log is too large: I read up to 1 MB" in got.troubles[0]
            assert len(lab.slack.calls("download")) <= 1
            lie = big.model_copy(update={"size": 10})
            async with fetched(lab, lie, small, file_bytes=1 << 20) as got:
                assert [path.name for path in got.paths] == ["small.log"]
                assert [p.name for p in got.folder.rglob("*") if p.is_file()] == ["small.log"]  # type: ignore[union-attr]
            async with fetched(lab, small, big, all_bytes=2 << 20) as got:
                assert len(got.troubles) == 1

    asyncio.run(story())


def test_more_than_twenty_files_are_counted(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            files = given(lab, *((f"{n}.log", b"x") for n in range(23)))
            async with fetched(lab, *files) as got:
                assert len(got.paths) == 20
                assert got.troubles == ("I read 20 files at once: 3 more were left out.",)

    asyncio.run(story())


def test_without_the_scope_a_page_to_log_in_is_no_log(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            files = given(lab, ("serve.log", b"one"))
            lab.slack.settings.scopes.discard("files:read")
            async with fetched(lab, *files) as got:
                assert got.paths == ()
                assert "files:read" in got.troubles[0]

    asyncio.run(story())


@pytest.mark.parametrize("how", ["drop_before", "hang", "status", "ratelimited"])
def test_a_download_that_breaks_off_is_tried_again_and_in_the_end_a_sentence(
    tmp_path: Path, how: Any
) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            files = given(lab, ("serve.log", b"one"))
            lab.slack.faults.next("download", how, seconds=0.1)
            async with fetched(lab, *files) as got:
                assert [path.read_bytes() for path in got.paths] == [b"one"]
            lab.slack.faults.next("download", how, seconds=0.1, times=20)
            async with fetched(lab, *files) as got:
                assert got.paths == ()
                assert "send it once more" in got.troubles[0]

    asyncio.run(story())


def test_the_token_goes_to_slack_and_nowhere_else() -> None:
    async def trusted(base: str, *urls: str) -> list[bool]:
        wire = Wire(AsyncWebClient(token="xoxb-1", base_url=base))
        try:
            return [Files(wire, Shelf()).trusts(url) for url in urls]
        finally:
            await wire.close()

    good = (
        "https://files.slack.com/files-pri/T-F/x",
        "https://lab.slack.com/x",
        "https://slack-files.com/x",
    )
    bad = (
        "http://files.slack.com/x",
        "https://files.slack.com.evil.example/x",
        "https://evilslack.com/x",
        "https://slack.com@evil.example/x",
        "https://u:p@files.slack.com/x",
        "https://files.slack.com:8443/x",
        "http://127.0.0.1:1234/x",
        "file:///etc/passwd",
        "https://[::1/x",
        "https://evil.example\\.slack.com/x",
        "https://evil.example%2f.slack.com/x",
        "https://evil.example%09.slack.com/x",
        "https://evil.example;.slack.com/x",
        "",
    )
    real = asyncio.run(trusted("https://slack.com/api/", *good, *bad))
    assert real == [True] * len(good) + [False] * len(bad)
    loopback = ("http://127.0.0.1:9/x", "http://127.0.0.1:8/x", "https://files.slack.com/x")
    assert asyncio.run(trusted("http://127.0.0.1:9/api/", *loopback)) == [True, False, False]


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    seen: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response(text="caught")

    async def story() -> None:
        other = web.Application()
        other.router.add_get("/x", elsewhere)
        target = web.AppRunner(other)
        await target.setup()
        await web.TCPSite(target, "127.0.0.1", 0).start()
        away = f"http://127.0.0.1:{target.addresses[0][1]}/x"

        async def redirect(_request: web.Request) -> web.Response:
            raise web.HTTPFound(away)

        first = web.Application()
        first.router.add_get("/f", redirect)
        runner = web.AppRunner(first)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        wire = Wire(AsyncWebClient(token="xoxb-1", base_url=base))
        try:
            got = await Files(wire, Shelf()).fetch(
                (GivenFile(id="F1", name="a.log", url=f"{base}f"),)
            )
            assert got.paths == ()
            assert seen == []
        finally:
            await wire.close()
            await runner.cleanup()
            await target.cleanup()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("serve.log", "serve.log"),
        ("../../etc/passwd", "passwd"),
        ("C:\\logs\\a.log", "a.log"),
        (".bashrc", "bashrc"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\n\u202egol.exe", "ab gol.exe"),
        ("x" * 300 + ".log", "x" * 80 + ".log"),
        ("$(rm -rf ~);.log", "_rm -rf _.log"),
        ("的" * 100, "的" * 53),  # 255 bytes are as many as a file system takes
        ("的" * 100 + ".log", "的" * 53 + ".log"),
    ],
)
def test_names_stay_in_their_folder(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_what_is_cut_off_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()

    async def story() -> None:
        async with delivering(tmp_path) as lab:
            first, second = given(lab, ("a.log", b"one"), ("b.log", b"two"))
            files = Files(lab.wire, Shelf())
            async with fetched(lab, first) as got:
                assert got.folder
            lab.slack.faults.next("download", "hang", seconds=30, times=20)
            fetching = asyncio.create_task(files.fetch((second,)))
            await lab.slack.until(lambda: len(lab.slack.calls("download")) == 2)
            assert len(list((tmp_path / "temp").glob("*/*"))) == 2
            fetching.cancel()
            await asyncio.wait({fetching})
            assert list((tmp_path / "temp").glob("*/*")) == [got.folder]

    asyncio.run(story())
