"""What strangers, guests and forged payloads get of the bot's front: nothing, politely, and written down."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from bot.demo.slack import tokens
from bot.slack.api.us import Us
from bot.slack.blocks.safe import label
from bot.slack.reception.clicks import pressed, private
from bot.slack.reception.groups import SlackGroups
from bot.slack.reception.http import PATH
from bot.slack.reception.payload import files_of
from tests.fakes import Workspace
from tests.fakes.reception import Reception, play

OURS = Us(team="T1", user="UBOT", enterprise="E1")


@pytest.mark.parametrize(
    ("user", "us", "stranger"),
    [
        ({"team_id": "T1"}, OURS, False),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E1"}}, OURS, False),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E2"}}, OURS, True),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": ""}}, Us("T1", "UBOT"), True),
        ({"team_id": "T2"}, OURS, True),
        ({"team_id": "T1", "is_restricted": True}, OURS, True),
        ({"team_id": "T1", "is_ultra_restricted": True}, OURS, True),
        ({"team_id": "T1", "deleted": True}, OURS, True),
        ({"team_id": "T1", "is_stranger": True}, OURS, True),
        ({}, OURS, True),
    ],
)
def test_guests_and_people_of_another_company_are_strangers(
    user: dict[str, Any], us: Us, stranger: bool
) -> None:
    async def story() -> None:
        async def call(method: str, **_said: Any) -> dict[str, Any]:
            assert method == "users.info"
            return {"ok": True, "user": user}

        pace = SimpleNamespace(wait_s=lambda _method: 0.0)
        wire: Any = SimpleNamespace(call=call, pace=pace)
        groups = SlackGroups(wire, us, asyncio.get_running_loop())
        assert await asyncio.to_thread(groups.stranger, "U1") is stranger

    asyncio.run(story())


@pytest.mark.parametrize("typed", ["help", "hosts", "health", "nonsense"])
def test_a_guest_learns_no_host_by_a_command_and_the_refusal_is_written_down(
    tmp_path: Path, typed: str
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.world.add_user("guest", guest=True)
        command = slack.command(f"/perf {typed}", "gpu", "guest")
        await slack.until(lambda: command.acked)
        told = json.dumps(command.answer)
        assert "CT129" not in told
        assert "Guests and people of other workspaces must be named first" in told
        noted = bot.store.audit.newest(1)[0]
        assert noted.act == f"/perf {'help' if typed == 'nonsense' else typed}"
        assert noted.outcome == "refused"

    play(tmp_path, scene, ack_s=60.0)


def test_a_guest_is_greeted_with_the_refusal(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        guest = slack.world.add_user("guest", guest=True)
        slack.open_assistant(guest.id)
        await slack.until(lambda: bot.store.letters.due())
        told = bot.store.letters.due()[0].letter.model_dump_json()
        assert "CT129" not in told
        assert "must be named first" in told
        assert not slack.calls("assistant.threads.setSuggestedPrompts")

    play(tmp_path, scene)


@pytest.mark.parametrize("value", ["²", "١", "-1", "1" * 40, "", "1 ", "x", "yes:", "1.0"])
def test_a_value_that_is_no_number_of_a_run_is_no_press(value: str) -> None:
    body = {
        "user": {"id": "U1"},
        "container": {"channel_id": "C1", "message_ts": "1.1"},
        "actions": [{"action_id": "stop", "value": value, "action_ts": "2.1"}],
    }
    assert pressed(body) is None
    assert private(json.dumps({"run": value, "channel": "C1", "thread": "1.1"})) is None


def test_a_title_mentions_nobody_whatever_slack_parses_there(tmp_path: Path) -> None:
    assert label("<!channel> <@U1> \u202eabc", 200) == "‹!channel› ‹@U1› abc"

    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.say("@sam", "sam", "why is CT129 slow? &lt;!channel&gt;")
        await slack.until(lambda: bot.desk.heard and slack.calls("assistant.threads.setTitle"))
        title = slack.calls("assistant.threads.setTitle")[0].args["title"]
        assert title == "why is CT129 slow? ‹!channel›"

    play(tmp_path, scene)


def test_the_secrets_of_the_pretend_slack_are_new_at_each_start() -> None:
    first, second = tokens(), tokens()
    assert all(first[name] != second[name] for name in first)


def test_a_secret_in_the_name_of_a_file_is_dropped() -> None:
    (file,) = files_of({"files": [{"id": "F1", "name": f"hf_{'a' * 30}.log"}]})
    assert file.name == "<dropped>.log"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("[" * 100_000, "application/json"),
        ('{"a":' * 100_000, "application/json"),
        ("[1, 2]", "application/json"),
        ("7", "application/json"),
        ('{"authorizations": 5, "event": []}', "application/json"),
        ('"x"', "application/json"),
        ("payload=[1]", "application/x-www-form-urlencoded"),
        ("payload=%5B" + "%5B" * 100_000, "application/x-www-form-urlencoded"),
        ("ssl_check=1&command=/perf&text=ask+x", "application/x-www-form-urlencoded"),
        (
            '{"ssl_check": "1", "type": "event_callback", "event_id": "E1", "event": {"type": "app_mention",'
            ' "user": "U1", "channel": "C1", "ts": "1.1", "text": "x"}}',
            "application/json",
        ),
    ],
)
def test_what_nobody_signed_is_heard_by_nobody_and_is_no_fault(
    tmp_path: Path, body: str, kind: str
) -> None:
    async def scene(_slack: Workspace, bot: Reception) -> None:
        url = f"http://127.0.0.1:{bot.door.port}{PATH}"  # type: ignore[union-attr]
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers={"Content-Type": kind}) as answer,
        ):
            assert answer.status in (400, 401)
        await asyncio.sleep(0.05)
        assert not bot.desk.heard
        assert not bot.store.inbox.unhandled()

    play(tmp_path, scene, http=True)


def test_a_request_that_drips_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.slack.reception.http.WITHIN_S", 0.2)

    async def scene(_slack: Workspace, bot: Reception) -> None:
        port = bot.door.port  # type: ignore[union-attr]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nab".encode())
        answer = await asyncio.wait_for(reader.readline(), 60)
        writer.close()
        assert b" 408 " in answer

    play(tmp_path, scene, http=True)
