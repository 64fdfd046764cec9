"""What Slack sends becomes what a person wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.reception.words import EVIDENCE_CHARS, EVIDENCE_LINES, LONGEST, read
from tests.hostile_texts import MESSAGES

US = "U0PERFSLTH"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (f"<@{US}> why is CT129 slow?", "why is CT129 slow?"),
        (f"<@{US}|perfsleuth> why is CT129 slow?", "why is CT129 slow?"),
        (f"hey <@{US}>, why?", "hey , why?"),
        ("decode &lt; 60 &amp;&amp; prefill &gt; 1000", "decode < 60 && prefill > 1000"),
        ("&amp;lt;", "&lt;"),
        ("is <http://ct129.lab|ct129.lab> slow", "is ct129.lab slow"),
        ("see <https://example.org/a?b=1>", "see https://example.org/a?b=1"),
        ("<mailto:sam@ct129.lab|sam@ct129.lab>", "sam@ct129.lab"),
        ("in <#C0GPU00001|gpu>", "in #gpu"),
        ("<!here> look", "@here look"),
        ("<!subteam^S0SERVING1|@serving> look", "@serving look"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("is *CT129* _really_ ~fast~ slow?", "is CT129 really fast slow?"),
        ("`CT129` with `--tp 2`", "CT129 with --tp 2"),
        (
            "set kv_cache_dtype and max_running_requests",
            "set kv_cache_dtype and max_running_requests",
        ),
        ("2*3*4 tok/s", "2*3*4 tok/s"),
        ("_kv_cache_dtype_ and *_both_* and _*both*_", "kv_cache_dtype and both and both"),
        ("a _ b _ c * d *", "a _ b _ c * d *"),
        ("“it’s slow”", '"it\'s slow"'),
        ("a\u00a0b\u200bc", "a bc"),
        ("&gt; quoted\nline", "quoted\nline"),
        ("```CT129```", "CT129"),
        ("```grep &lt;x&gt; &amp;```", "grep <x> &"),
        ("", ""),
        (f"<@{US}>", ""),
    ],
)
def test_a_message_reads_as_it_was_typed(raw: str, text: str) -> None:
    assert read(raw, US).text == text


def test_our_own_mention_is_told_apart_from_others() -> None:
    both = read(f"<@{US}> and <@U0SAM00001>, look", US)
    assert (both.to_us, both.others) == (True, True)
    assert both.text == "and @U0SAM00001, look"
    only = read(f"<@{US}> look", US)
    assert (only.to_us, only.others) == (True, False)
    for mark in ("<!here>", "<!channel>", "<!everyone>", "<!subteam^S0SERVING1>"):
        told = read(f"{mark} look", US)
        assert (told.to_us, told.others) == (False, True)
    assert not read("<#C0GPU00001|gpu> <https://example.org>", US).others


def test_a_mention_inside_code_is_nobodys() -> None:
    assert not read(f"```<@{US}>```", US).to_us


def test_a_long_code_block_is_evidence_and_no_part_of_the_question() -> None:
    log = "\n".join(f"[2025-01-01] Decode batch. #running-req: {n}, a &lt; b" for n in range(9))
    told = read(f"<@{US}> what is wrong with this log?\n```\n{log}\n```\nthanks", US)
    assert told.text == "what is wrong with this log?\nthanks"
    assert told.pasted == (log.replace("&lt;", "<"),)


def test_two_blocks_are_two_pieces_of_evidence_and_an_open_fence_still_holds_one() -> None:
    block = "x = 1\n" * EVIDENCE_LINES
    told = read(f"a ```{block}``` b ```{block}", US)
    assert len(told.pasted) == 2
    assert told.text == "a\nb"


@pytest.mark.parametrize(
    ("block", "is_evidence"),
    [
        ("a" * (EVIDENCE_CHARS - 1), False),
        ("a" * EVIDENCE_CHARS, True),
        ("a\n" * (EVIDENCE_LINES - 2) + "a", False),
        ("a\n" * (EVIDENCE_LINES - 1) + "a", True),
        ("[2026-05-13 10:33:12 TP0] Decode batch, #running-req: 1", True),
        ("since 2026-05-13 10:33:12", False),
    ],
)
def test_a_block_is_evidence_from_a_length_on(block: str, *, is_evidence: bool) -> None:
    assert bool(read(f"look ```{block}```", US).pasted) is is_evidence


def test_lines_of_a_log_are_evidence_without_a_code_block_too() -> None:
    words = read(f"<@{US}> what is this?\n[2026-05-13 10:33:12 TP0] Decode batch", US)
    assert (words.text, words.pasted) == (
        "what is this?",
        ("[2026-05-13 10:33:12 TP0] Decode batch",),
    )


def test_a_wall_of_text_without_a_code_block_is_evidence_below_its_first_line() -> None:
    wall = "\n".join(
        f"[gpu {n}] Decode batch. #running-req: {n}, token usage: 0.42, cuda graph: True"
        for n in range(40)
    )
    told = read(f"what is wrong here?\n{wall}", US)
    assert told.text == "what is wrong here?"
    assert told.pasted == (wall,)


def test_secrets_leave_the_text_and_what_is_pasted() -> None:
    block = "--api-key sk-abcdefghijklmnopqrstuv\n" * 6
    told = read(f"my token is xoxb-1234567890-abcdefghij ```{block}```", US)
    assert "xoxb" not in told.text
    assert "sk-abc" not in told.pasted[0]


def test_an_endless_message_is_cut() -> None:
    assert len(read("why " * 10_000, US).text) <= LONGEST


@given(st.text(max_size=400))
def test_any_text_is_read(raw: str) -> None:
    told = read(raw, US)
    assert f"<@{US}>" not in told.text


@pytest.mark.parametrize("piece", MESSAGES)
def test_a_message_of_pieces_that_repeat_is_read_and_cut(piece: str) -> None:
    assert len(read(MESSAGES[piece].text(), US).text) <= LONGEST
