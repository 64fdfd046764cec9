"""The manifest, the table of scopes and what doctor says are one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bot.settings import Service
from bot.slack.api.check import check, missing_sentence
from bot.slack.api.introduce import of_app
from bot.slack.api.scopes import EVENTS, SCOPES, missing
from bot.slack.api.troubles import Refused
from bot.slack.reception.payload import COMMAND, SHORTCUT
from tests.fakes import FakeSlack
from tools.secrets import scrub

ROOT = Path(__file__).parents[2]


def _manifest() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "slack-manifest.yaml").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_manifest_asks_for_exactly_the_scopes_we_check() -> None:
    assert _manifest()["oauth_config"]["scopes"] == {"bot": sorted(SCOPES)}


def test_the_manifest_subscribes_to_exactly_the_events_we_hear() -> None:
    settings = _manifest()["settings"]
    assert settings["event_subscriptions"] == {"bot_events": sorted(EVENTS)}
    assert settings["socket_mode_enabled"] is True
    assert settings["interactivity"] == {"is_enabled": True}


def test_the_manifest_names_the_command_and_the_shortcut_that_we_answer() -> None:
    features = _manifest()["features"]
    assert [one["command"] for one in features["slash_commands"]] == [COMMAND]
    assert [one["callback_id"] for one in features["shortcuts"]] == [SHORTCUT]


def test_what_is_missing_is_said_in_words_that_no_redaction_eats() -> None:
    for http in (False, True):
        sentence = missing_sentence(Service.load({}), http=http)
        assert sentence
        assert scrub(sentence) == sentence
    told = of_app(Refused("apps.connections.open", "invalid_auth"))
    assert scrub(told) == told


def test_the_manifest_keeps_slacks_limits() -> None:
    # https://docs.slack.dev/reference/app-manifest
    manifest = _manifest()
    about = manifest["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert 174 <= len(about["long_description"]) <= 4000
    assert len(manifest["features"]["shortcuts"][0]["name"]) <= 24
    assert len(manifest["features"]["shortcuts"][0]["description"]) <= 150


def test_each_missing_scope_is_named() -> None:
    assert missing(set(SCOPES)) == ()
    assert missing(set(SCOPES) - {"files:read"}) == ("files:read",)


def test_missing_variables_are_named_with_where_they_are_found() -> None:
    nothing = Service.load({})
    told = missing_sentence(nothing, http=False)
    assert told
    assert "SLACK_BOT_TOKEN and SLACK_APP_TOKEN must be set." in told
    assert "OAuth & Permissions" in told
    http = missing_sentence(nothing, http=True)
    assert http
    assert "SLACK_SIGNING_SECRET" in http
    assert "SLACK_APP_TOKEN" not in http
    full = Service.load({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"})
    assert missing_sentence(full, http=False) is None


def _told(slack: FakeSlack, folder: Path, **more: str) -> str:
    environ = {
        **slack.environment(),
        "PERFSLEUTH_DATABASE_URL": f"sqlite:///{folder / 'bot.sqlite'}",
        **more,
    }
    return "\n".join(f"{line.kind}: {line.text}" for line in check(Service.load(environ)))


def test_doctor_says_that_all_is_well(tmp_path: Path) -> None:
    with FakeSlack() as slack:
        told = _told(slack, tmp_path)
    assert "look: Slack: @perfsleuth in Lab" in told
    assert f"look: all {len(SCOPES)} scopes are granted" in told
    assert "look: Socket Mode: a connection can be opened" in told
    assert "look: database: it opens" in told
    assert "trouble" not in told


def test_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    with FakeSlack() as slack:
        slack.settings.scopes.discard("files:read")
        told = _told(slack, tmp_path, SLACK_APP_TOKEN="xapp-wrong")
        assert "trouble: scope files:read is missing: needed to read logs" in told
        assert "trouble: Socket Mode: Slack does not take SLACK_APP_TOKEN" in told
        assert "xapp-wrong" not in told
        told = _told(slack, tmp_path, SLACK_BOT_TOKEN="xoxb-wrong")
        assert "trouble: Slack does not take SLACK_BOT_TOKEN (invalid_auth)" in told
        assert "xoxb-wrong" not in told
        told = _told(slack, tmp_path, SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET="")
        assert "SLACK_APP_TOKEN must be set" in told
        told = _told(slack, tmp_path, PERFSLEUTH_DATABASE_URL="sqlite:////proc/no/bot.sqlite")
        assert "trouble: database: " in told
        slack.faults.outage(60)
        assert "does not answer" in _told(slack, tmp_path)
