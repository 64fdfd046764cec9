"""The Home of the bot, its modal, what it suggests, and its words in a mere text."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.demo.workspace.limits import faults_of
from bot.desk.itself import prompts
from bot.slack.blocks import home, reason_view
from bot.slack.blocks.safe import capped, fitted, markdown, mrkdwn, shown, size
from bot.store.run import Run, RunState

AT = 1_760_000_000.0  # 2025-10-09 08:53:20 UTC


def run(
    host: str | None, state: RunState = "done", headline: str | None = "Hardware: Gen1."
) -> Run:
    return Run(
        1, "k", "host", state, host, None, "C1", "1.2", "U1", "why", "{}", AT, AT, AT, headline=headline
    )  # fmt: skip


def texts(view: dict[str, object]) -> str:
    return json.dumps(view, ensure_ascii=False)


def test_the_home_shows_hosts_with_their_last_verdict_and_what_runs() -> None:
    view = home(
        ["CT129", "CT130"], {"CT129": run("CT129")}, [run("CT130", "running"), run(None, "waiting")]
    )
    assert faults_of(view["blocks"], "home") == []
    said = texts(view)
    assert "Hardware: Gen1 · 2025-10-09 08:53 UTC" in said
    assert "never looked at" in said
    assert "runs since 2025-10-09 08:53 UTC" in said
    assert "files" in said


@pytest.mark.parametrize("many", [0, 1, 500])
def test_any_home_is_within_limits_and_mentions_nobody(many: int) -> None:
    hosts = [f"<!channel> {n} {'🔥' * 300}" for n in range(many)]
    view = home(hosts, {host: run(host, headline="<@U1> https://evil.example " * 99) for host in hosts}, [
        run(host, "running") for host in hosts
    ])  # fmt: skip
    assert faults_of(view["blocks"], "home") == []
    assert not re.search(r'"type": "(?:mrkdwn|user|link|broadcast)"', json.dumps(view))
    assert len(json.dumps(view)) < 250_000  # https://docs.slack.dev/reference/views: 250 kB


def test_who_says_no_is_asked_why() -> None:
    view = reason_view("7")
    assert faults_of(view["blocks"], "modal") == []
    assert len(view["title"]["text"]) <= 24
    assert view["private_metadata"] == "7"


def test_at_most_four_prompts_are_suggested_and_each_can_be_asked() -> None:
    for hosts in ([], ["A"], ["A", "B", "C"]):
        made = prompts(hosts)
        assert 2 <= len(made) <= 4
        assert all(one["title"] and one["message"] for one in made)
    assert made[0] == {"title": "Why is A slow?", "message": "Why is A slow?"}


@given(st.text(max_size=500), st.integers(1, 200))
def test_a_cut_text_is_never_longer_than_allowed(text: str, most: int) -> None:
    assert size(capped(text, most)) <= most
    assert size(shown(text, most)) <= most
    assert shown(text, most).isprintable()


@given(st.text(alphabet="<>&@#!|.:/[]()w`*_ \\\u202ea🔥", max_size=300), st.integers(12, 80))
def test_an_escaped_text_fits_and_is_quiet(text: str, most: int) -> None:
    for escape in (mrkdwn, markdown):
        made = fitted(text, most, escape)
        assert len(made.encode()) <= most
        assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)|://|[@#]\w|\]\(", made)


def test_plain_words_stay_as_they_are() -> None:
    for text in ("0.5.11 at 81 % (E3)", "decode −3.3 %", "--tp 2", "sglang::scheduler"):
        assert mrkdwn(text) == text
    assert markdown("a_b 2x3 (so)") == "a_b 2x3 (so)"
