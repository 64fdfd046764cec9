"""What the bot reads of its environment: wrong values end in a sentence, and no token is ever shown."""

from __future__ import annotations

import pytest

from bot.settings import Service, SettingsError

TOKENS = {
    "SLACK_BOT_TOKEN": "xoxb-hunter2",
    "SLACK_APP_TOKEN": "xapp-hunter2",
    "SLACK_SIGNING_SECRET": "hunter2",
}


def test_what_is_set_is_read_and_no_token_shows() -> None:
    service = Service.load({**TOKENS, "PERFSLEUTH_EXECUTOR": "replica-7"})
    assert service.executor == "replica-7"
    assert service.bot_token is not None
    assert service.bot_token.get_secret_value() == "xoxb-hunter2"
    assert "hunter2" not in f"{service!r} {service} {service.model_dump_json()}"
    assert not service.missing(http=True) + service.missing(http=False)


def test_each_mode_needs_its_own_tokens() -> None:
    nothing = Service.load({})
    assert nothing.missing(http=False) == ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
    assert nothing.missing(http=True) == ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET")


def test_where_nothing_is_said_the_database_is_of_the_user_and_slack_is_slack() -> None:
    service = Service.load({"XDG_STATE_HOME": "/state"})
    assert service.database_url == "sqlite:////state/perfsleuth/perfsleuth.sqlite"
    assert service.slack_api == "https://slack.com/api/"


@pytest.mark.parametrize("api", ["https://slack.example/api/", "http://127.0.0.1:8000/api/"])
def test_another_slack_may_be_asked_with_tls_or_on_this_machine(api: str) -> None:
    assert Service.load({"PERFSLEUTH_SLACK_API_URL": api}).slack_api == api


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PERFSLEUTH_SLACK_API_URL", "http://slack.example/api/"),  # the token would go in clear
        ("PERFSLEUTH_SLACK_API_URL", "http://127.0.0.1.slack.example/api/"),
        ("PERFSLEUTH_SLACK_API_URL", "http://127.0.0.1@slack.example/api/"),
        ("PERFSLEUTH_SLACK_API_URL", "http://127.0.0.1:80@slack.example/api/"),
        ("PERFSLEUTH_SLACK_API_URL", "https://slack.example/api"),  # the SDK needs the last slash
        ("PERFSLEUTH_EXECUTOR", "two words"),
        ("SLACK_BOT_TOKEN", "xapp-hunter2"),  # the tokens are easily mixed up
        ("SLACK_APP_TOKEN", "xoxb-hunter2"),
    ],
)
def test_what_cannot_be_used_is_named_and_not_repeated(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Service.load({name: value})
    assert name in str(caught.value)
    assert "hunter2" not in str(caught.value)
