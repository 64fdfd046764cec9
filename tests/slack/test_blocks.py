"""A verdict in Slack: the cause first, within the limits, deaf to what a host says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import narrator
from bot.demo import shipped
from bot.demo.workspace.limits import LIMITS, faults_of, visible_text
from bot.demo.workspace.rendered import rendered as slack_makes_of
from bot.desk.itself import greeting, help_parts
from bot.investigate import conclude
from bot.letter import Attached, Letter
from bot.narrator import Line, Part, Table
from bot.question import Question
from bot.slack.blocks import Rendered, plainer, render
from tools.probes import PROBES

LINKS = {f"E{n}": f"https://lab.slack.com/archives/C1/p17000000000001{n:02}" for n in range(1, 30)}
BUTTONS = ("check_again", "show_evidence", "ask_why", "propose", "right")
HOSTILE = (
    "<!channel>",
    "<!here|all>",
    "@here",
    "@channel @everyone",
    "<@U123>",
    "<#C123|secret>",
    "<!subteam^S1>",
    "<https://evil.example|x>",
    "https://evil.example/?q=1",
    "www.evil.com",
    "evil.com",
    "[click](https://evil.example)",
    "![i](http://evil.example/x.png)",
    "<javascript:alert(1)>",
    "javascript:alert(1)",
    "mailto:a@evil.com",
    "a@evil.com",
    "```code``` `x` *b* _i_ ~s~",
    "& < > &amp; &lt;!channel&gt;",
    "🔥👩‍👩‍👧‍👦🇩🇪",
    "שלום عالم",
    "\u202edesrever\u202c \u2066x\u2069",
    "\x1b[31mred\x00\r\n\tline",
    "\ud800",
    ":smile:",
    "> quoted",
    "# heading",
    "",
    " ",
)
MENTIONS = {"user", "usergroup", "channel", "broadcast", "team"}


TRAIL = dict.fromkeys(
    LINKS, "https://lab.slack.com/archives/C1/p1700000000000199?thread_ts=1.2&cid=C1"
)


def letter(parts: Any, kind: Any = "verdict", buttons: Any = BUTTONS) -> Letter:
    return Letter(
        key="run:7:verdict", kind=kind, channel="C1", run=7, parts=tuple(parts), buttons=buttons
    )


def told() -> list[Part]:
    case = shipped()
    question = Question.of(case.question)
    end = conclude(question, case.evidence(PROBES))
    deployed = narrator.deployed("CT129", str(end.deployment))
    return [*deployed, *narrator.verdict(end.verdict, question.interest)]


def walk(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from walk(value)
    elif isinstance(part, list):
        for value in part:
            yield from walk(value)


def texts(rendered: Rendered) -> str:
    return "\n".join(e["text"] for e in walk(rendered.blocks) if isinstance(e.get("text"), str))


def speaks_to_nobody(rendered: Rendered, links: dict[str, str]) -> None:
    for element in walk(rendered.blocks):
        kind = element.get("type")
        assert kind not in MENTIONS, element
        assert kind not in ("mrkdwn", "markdown"), "Slack would parse it"
        if kind == "link":
            assert element["url"] in links.values()
            assert re.fullmatch(r"E\d+(?: E\d+)*", element["text"])
    quiet_mrkdwn(rendered.text)
    made = slack_makes_of({"text": rendered.text, "blocks": rendered.blocks})
    assert made.mentions == []
    assert set(made.links) <= set(links.values())
    assert made.images == []


def quiet_mrkdwn(text: str) -> None:
    assert "<" not in text
    assert ">" not in text
    assert not re.search(r"&(?!amp;|lt;|gt;)", text)
    assert not re.search(r"[@#]\w", text), text
    assert "://" not in text
    assert not re.search(r"\w\.[a-z]{2}", text, re.IGNORECASE), text


def within_limits(rendered: Rendered) -> None:
    assert faults_of(rendered.blocks) == []
    assert len(rendered.blocks) <= 48
    assert visible_text(rendered.blocks) <= 9100
    assert len(json.dumps(rendered.blocks, ensure_ascii=False)) < 40_000
    assert 0 < len(rendered.text) <= 3000
    assert rendered.blocks[0]["block_id"] == "psl:run:7:verdict"
    json.dumps(rendered.blocks).encode()


def test_the_headline_stands_first_and_its_cost_and_confidence_below() -> None:
    blocks = render(letter(told()), LINKS).blocks
    assert blocks[0]["type"] == "header"
    assert blocks[0]["text"]["text"].startswith(
        "Hardware: The PCIe links of GPU 0 and GPU 1 run at Gen1"
    )
    below = texts(Rendered("", blocks[1:2]))
    assert below.startswith("It costs prefill about 51 % and decode about 3 %. Confidence high.")
    assert "CT129: 2x RTX A6000" in below


@pytest.mark.parametrize(("length", "kind"), [(150, "header"), (151, "rich_text")])
def test_a_headline_is_a_header_or_told_whole_but_never_cut(length: int, kind: str) -> None:
    cause = "Hardware: ".ljust(length - 1, "x") + "."
    line = Line("verdict", f"{cause} It costs decode about 3 %. Confidence high.")
    rendered = render(letter([line]), {})
    within_limits(rendered)
    assert rendered.blocks[0]["type"] == kind
    assert cause in texts(rendered)
    assert "It costs decode about 3 %. Confidence high." in texts(rendered)


def test_the_whole_shipped_verdict_fits_and_says_everything_that_the_terminal_says() -> None:
    rendered = render(letter(told()), TRAIL)
    within_limits(rendered)
    said = texts(rendered)
    for part in told():
        if isinstance(part, Line) and "--json" not in part.text and part.kind not in ("verdict",):
            first = re.sub(r"^\d+\. ", "", part.text)[:40]
            assert first.split("(")[0] in said, part
    assert "did not fit" not in said
    assert "--json" not in said + rendered.text
    assert "ask “why not …?” about any of them." in said
    assert "Paste what they print here." in said


def test_an_evidence_id_links_to_the_look_that_shows_it() -> None:
    rendered = render(letter(told()), LINKS)
    linked = {e["text"]: e["url"] for e in walk(rendered.blocks) if e.get("type") == "link"}
    assert linked["E14"] == LINKS["E14"]
    assert linked["E6"] == LINKS["E6"]  # which stands in the sentence, "(E6)"
    bare = render(letter(told()), {})
    assert not [e for e in walk(bare.blocks) if e.get("type") == "link"]
    assert "E14" in texts(bare)


def test_what_to_do_is_a_numbered_list_and_the_figures_are_a_table() -> None:
    blocks = render(letter(told()), LINKS).blocks
    lists = [e for e in walk(blocks) if e.get("type") == "rich_text_list"]
    assert lists[0]["style"] == "ordered"
    assert len(lists[0]["elements"]) == 5
    tables = [b for b in blocks if b["type"] == "table"]
    assert len(tables) == 1
    assert [cell["text"] for cell in tables[0]["rows"][2]][:2] == ["decode step (ms)", "58.2"]


def test_a_list_that_is_interrupted_goes_on_with_its_number() -> None:
    steps = [Line("item", "1. One."), Line("text", "between"), Line("item", "2. Two.")]
    lists = [e for e in walk(render(letter(steps), {}).blocks) if e.get("type") == "rich_text_list"]
    assert [one.get("offset", 0) for one in lists] == [0, 1]


def test_a_command_is_there_to_be_copied_whole() -> None:
    command = "python3 -m sglang.bench_serving --backend sglang " + "--flag value " * 60
    rendered = render(
        letter([Line("heading", "The one test that decides"), Line("test", command)]), {}
    )
    code = [e for e in walk(rendered.blocks) if e.get("type") == "rich_text_preformatted"]
    assert code[0]["elements"][0]["text"] == command.strip()


def test_the_buttons_carry_the_run() -> None:
    blocks = render(letter(told()), LINKS).blocks
    row, asked, thumbs = blocks[-3:]
    assert asked["elements"][0]["text"] == "Was this right?"
    assert [e["action_id"] for e in row["elements"]] == list(BUTTONS[:-1])
    assert {e["value"] for e in row["elements"]} == {"7"}
    assert thumbs["elements"][0]["positive_button"]["value"] == "yes:7"
    assert thumbs["elements"][0]["negative_button"]["value"] == "no:7"


def test_forty_findings_do_not_push_out_what_could_not_be_checked() -> None:
    many = [Line("item", f"Finding {n}: {'it is so ' * 20}", (f"E{n}",)) for n in range(1, 41)]
    parts = [
        Line("verdict", "Hardware: A. It costs decode about 3 %. Confidence high.", ("E1",)),
        Line("heading", "Also found"),
        *many,
        Line("heading", "Could not check"),
        Line("item", "The kernel log."),
    ]
    rendered = render(letter(parts), LINKS)
    within_limits(rendered)
    said = texts(rendered)
    assert "The kernel log." in said
    shown = sum(f"Finding {n}: " in said for n in range(1, 41))
    assert 8 <= shown <= 10
    assert f"{40 - shown} more lines did not fit here: “Show evidence” has everything" in said


def test_a_verdict_of_forty_findings_and_hostile_text_mentions_nobody_and_links_nowhere() -> None:
    excerpt = " ".join(HOSTILE) * 500  # more than 100 kB
    assert len(excerpt.encode("utf-8", "replace")) > 100_000
    parts: list[Part] = [
        Line("heading", f"CT129: {' '.join(HOSTILE)}"),
        Line("verdict", f"Hardware: {' '.join(HOSTILE)}. Confidence high.", ("E1", "<!here>")),
        Line("said", excerpt),
        Table(("", *HOSTILE), tuple((*HOSTILE, "x") for _ in range(200))),
        Table(("", "second"), (("a", "b"),)),
        Line("heading", "Also found"),
        *(Line("item", text, ("E2",)) for text in HOSTILE),
        *(Line("item", f"{n} {text}", ("E2",)) for n, text in enumerate(HOSTILE * 2)),
        Line("heading", excerpt),
        Line("test", excerpt),
    ]
    rendered = render(letter(parts), LINKS)
    within_limits(rendered)
    speaks_to_nobody(rendered, LINKS)
    for level in (1, 2):
        speaks_to_nobody(plainer(rendered, level), LINKS)
    assert "\u202e" not in texts(rendered) + rendered.text
    assert "\x1b" not in texts(rendered) + rendered.text


def test_an_address_that_is_no_page_of_slack_is_no_link() -> None:
    rendered = render(
        letter([Line("item", "So (E1).", ("E2",))]), {"E1": "javascript:alert(1)", "E2": ""}
    )
    assert not [e for e in walk(rendered.blocks) if e.get("type") == "link"]
    assert "E1" in texts(rendered)


KINDS = st.sampled_from(
    ["lead", "look", "trouble", "said", "verdict", "heading", "item", "test", "text"]
)
TEXTS = st.one_of(
    st.text(max_size=300), st.sampled_from(HOSTILE), st.just("🔥" * 700), st.just("x" * 5000)
)
CITES = st.lists(st.sampled_from(["E1", "E14", "E999", "<@U1>", ""]), max_size=40).map(tuple)
LINE = st.builds(Line, kind=KINDS, text=TEXTS, cites=CITES, took_s=st.none() | st.floats(0, 1e6))
ROW = st.lists(st.text(max_size=200), max_size=25).map(tuple)
TABLE = st.builds(Table, head=ROW, rows=st.lists(ROW, max_size=120).map(tuple))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(LINE, LINE, LINE, TABLE), max_size=120), st.lists(st.sampled_from(BUTTONS))
)
def test_any_story_is_within_all_limits(parts: list[Part], buttons: list[Any]) -> None:
    rendered = render(letter(parts, buttons=tuple(buttons)), LINKS)
    within_limits(rendered)
    speaks_to_nobody(rendered, LINKS)
    older = plainer(rendered, 1)
    within_limits(older)
    speaks_to_nobody(older, LINKS)


def test_every_line_is_shown_or_counted() -> None:
    parts = [Line("text", f"line number {n} {'and more ' * 30}") for n in range(200)]
    rendered = render(letter(parts, buttons=()), {})
    said = texts(rendered)
    shown = sum(f"line number {n} " in said for n in range(200))
    assert f"{200 - shown} more lines did not fit here." in said


def test_the_densest_story_keeps_away_from_what_slack_refuses_as_a_whole() -> None:
    parts: list[Part] = []
    for n in range(30):
        parts += [Line("heading", f"Chapter {n}"), *(Line("text", "w" * 2000) for _ in range(20))]
    rendered = render(letter(parts), {})
    within_limits(rendered)
    assert visible_text(rendered.blocks) > 8000


def test_a_workspace_that_knows_only_old_blocks_gets_the_same_story() -> None:
    older = plainer(render(letter(told()), LINKS), 1)
    kinds = {block["type"] for block in older.blocks}
    assert kinds <= {"section", "rich_text", "header", "actions", "context", "divider"}
    assert faults_of(older.blocks) == []
    assert "decode step (ms)" in texts(older)
    values = [e["value"] for e in walk(older.blocks) if e.get("action_id") == "right"]
    assert values == ["yes:7", "no:7"]
    assert older.blocks[0]["block_id"] == "psl:run:7:verdict"


def test_the_mark_stays_where_the_first_block_is_a_table() -> None:
    rendered = render(letter([Table(("", "a"), (("b", "c"),))]), {})
    assert plainer(rendered, 1).blocks[0]["block_id"] == "psl:run:7:verdict"


def test_the_text_stands_alone() -> None:
    text = render(letter(told()), LINKS).text
    assert text.startswith("Hardware: The PCIe links of GPU 0 and GPU 1 run at Gen1")
    assert "It will not be 70." in text
    assert "decode step (ms): measured 58.2, link repaired 56.3" in text
    assert "1. Nothing of this can be done in this guest" in text
    assert plainer(render(letter(told()), LINKS), 2) == Rendered(text, [])


def test_a_file_has_a_title_and_no_blocks() -> None:
    attached = Attached(kind="chart", run=7, name="ct129-7.png", title="Where <the> step goes")
    sent = Letter(key="run:7:chart", kind="file", channel="C1", run=7, attached=attached)
    assert render(sent, {}) == Rendered("Where &lt;the&gt; step goes", [])


def test_an_empty_letter_is_still_a_message() -> None:
    rendered = render(letter([], buttons=()), {})
    within_limits(rendered)


@pytest.mark.parametrize("hosts", [[], ["CT129"], [f"gpu-{n}" for n in range(60)], ["<!channel>"]])
def test_help_and_greeting_are_messages(hosts: list[str]) -> None:
    for parts in (greeting(hosts), help_parts(hosts)):
        rendered = render(letter(parts, kind="word", buttons=()), {})
        within_limits(rendered)
        speaks_to_nobody(rendered, {})
        assert "did not fit" not in texts(rendered)


def test_limits_are_checked_by_somebody_else() -> None:
    too_long = [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]
    assert faults_of(too_long)
    assert LIMITS.blocks_in_message == 50
