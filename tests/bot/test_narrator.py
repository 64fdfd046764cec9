"""Events and verdict become a story that a tired engineer can read."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from bot.narrator import Line, Table, look, understood, verdict
from bot.narrator.briefs import brief
from bot.narrator.measured import percent
from bot.question import Question
from bot.terminal import Terminal
from tools.evidence import Evidence, learn
from tools.host import Command, Output
from tools.nvidia.gpus import Gpus, GpuSample
from tools.probe import Facts, Probe
from tools.probes import PROBES as TABLE
from tools.probes.kernel_log import ReadKernelLog
from tools.rule import Cleared, Effect, Finding, rule
from tools.rules import RULES
from tools.verdict import judge


class Heat(Facts):
    celsius: float


class ReadHeat(Probe[Heat]):
    """Read the heat of all cards.

    More about it.
    """

    def command(self) -> Command:
        return Command(argv=("heat",))

    def parse(self, stdout: str, /) -> Heat:
        return Heat(celsius=float(stdout))


@rule(cause="hw_thermal_slowdown")
def hot(heat: Heat) -> Finding:
    """It is hot."""
    loss = Effect(prefill_pct=(-57.0, -51.0, -45.0), source="a measurement")
    return Finding(
        "The cards are hot.",
        effect=loss,
        confidence=0.9,
        quotes=("GPU 0: 95 C",),
        remedy=("Open a window.",),
    )


@rule(cause="nccl_p2p_disable")
def nccl(heat: Heat) -> Cleared:
    """NCCL may not use P2P."""
    return Cleared("NCCL uses P2P between all pairs")


PROBES: dict[str, type[Probe[Any]]] = {"ReadHeat": ReadHeat}


def told() -> list[Any]:
    seen = learn(1, ReadHeat(), "h", Output(stdout="95", took_s=0.31))
    return [*look(seen), *verdict(judge([seen], (hot, nccl), PROBES))]


def texts(parts: list[Any]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Line))


def test_the_first_line_says_what_was_understood() -> None:
    question = Question.of("it does 55 tok/s on CT129, it was 70")
    assert (
        understood(question, "CT129").text
        == "Looking at CT129. You ask about decode: 55 tok/s now, 70 remembered."
    )


def test_a_look_says_what_was_asked_and_which_evidence_it_is() -> None:
    first = told()[0]
    assert (first.kind, first.text, first.cites, first.took_s) == (
        "look",
        "The heat of all cards",
        ("E1",),
        0.31,
    )


def test_a_look_that_failed_says_why() -> None:
    seen = Evidence(
        "E4", ReadHeat(), "h", Output(status=1), trouble="Failed: Operation not permitted"
    )
    assert [(line.kind, line.text) for line in look(seen)] == [
        ("trouble", "The heat of all cards"),
        ("said", "Failed: Operation not permitted"),
    ]


def test_a_trouble_is_spelled_out_once() -> None:
    seen = Evidence("E4", ReadHeat(), "h", Output(status=1), trouble="Failed: no")
    assert [line.text for line in look(seen, {"Failed: no"})][1] == "the same trouble as above"


def test_the_verdict_leads_with_cause_and_cost_and_cites_its_evidence() -> None:
    parts = told()
    lead = next(part for part in parts if part.kind == "verdict")
    assert (lead.text, lead.cites) == (
        "Hardware: The cards are hot. It costs prefill about 51 %. Confidence high.",
        ("E1",),
    )
    story = texts(parts)
    assert "In figures: prefill −51 % (−57 to −45), by a measurement." in story
    assert "GPU 0: 95 C" in story
    assert "1. Open a window." in story
    assert "Verify: under load hw_thermal_slowdown stays Not Active." in story
    assert story.index("Hardware:") < story.index("What to do") < story.index("Not the cause")


def test_what_a_person_suspected_is_answered_with_the_reason() -> None:
    answered = [part.text for part in told() if part.kind == "item" and "NCCL" in part.text]
    assert answered == ["NCCL uses P2P between all pairs (E1)."]


def test_what_a_person_suspected_is_answered_under_its_name() -> None:
    seen = learn(1, ReadHeat(), "h", Output(stdout="95"))
    asked = Question.of("is it nccl?").interest
    story = texts(list(verdict(judge([seen], (hot, nccl), PROBES, asked), asked)))
    assert "NCCL: NCCL uses P2P between all pairs (E1)." in story


def test_what_could_not_be_seen_is_told_in_words_with_the_command_that_shows_it() -> None:
    refused = Evidence("E1", ReadKernelLog(), "h", Output(status=1), trouble="Failed: not allowed")
    story = texts(list(verdict(judge([refused], RULES, TABLE))))
    assert "The kernel log: not allowed." in story
    assert "To see it: journalctl -k" in story
    assert "ReadKernelLog" not in story
    assert not [rule.cause.id for rule in RULES if "_" in rule.cause.id and rule.cause.id in story]


def test_a_look_at_a_file_names_the_file() -> None:
    seen = learn(1, ReadHeat(), "heat.txt", Output(stdout="95"))
    assert next(iter(look(seen, of_file=True))).text == "heat.txt: the heat of all cards"


def test_samples_that_tell_no_load_are_not_called_idle() -> None:
    card = GpuSample(index=0, name="NVIDIA RTX A6000", link_gen=1, link_gen_max=4, link_width=16)
    assert brief(Gpus(samples=(card, card))) == "1x RTX A6000, 2 samples, Gen1 x16 of Gen4"
    rest = card.model_copy(update={"util_pct": 0.0, "pstate": 8})
    assert "at rest, as idle GPUs do by themselves: no proof" in brief(Gpus(samples=(rest,)))


def test_links_that_differ_are_told_by_gpu() -> None:
    cards = tuple(
        GpuSample(index=at, util_pct=99.0, pstate=2, link_gen=gen, link_gen_max=5, link_width=16)
        for at, gen in enumerate((5, 5, 2))
    )
    told = "Gen5 x16 on GPU 0+1, Gen2 x16 of Gen5 on GPU 2 under load"
    assert told in brief(Gpus(samples=cards))


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ((-57.0, -51.0, -45.0), "−51 % (−57 to −45)"),
        ((-6.0, -3.4, -2.0), "−3.4 % (−6 to −2)"),
        ((1.0, 2.25, 3.0), "+2.2 % (+1 to +3)"),
        ((-56.6, -51.4, 0.0), "−51 % (−57 to 0)"),
    ],
)
def test_a_loss_is_written_with_its_interval(
    interval: tuple[float, float, float], text: str
) -> None:
    assert percent(interval) == text


def test_the_terminal_shows_tables_and_takes_away_what_would_steer_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Terminal().tell(
        [
            Line("item", "evil \x1b[2J\x07 [bold]text[/bold] :smile:"),
            Table(("", "measured"), (("decode", "55 tok/s"),)),
        ]
    )
    shown = capsys.readouterr().out
    assert "evil [2J [bold]text[/bold] :smile:" in shown
    assert "\x1b" not in shown
    assert "55 tok/s" in shown


def test_colour_is_for_terminals_alone_and_never_with_no_color(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = io.StringIO()
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    terminal._out = Console(file=shown, force_terminal=True)
    terminal.tell([Line("look", "a look", ("E1",), 0.2)])
    assert "\x1b[3" not in shown.getvalue()


def test_a_command_to_copy_is_never_broken_and_no_line_ends_in_blanks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    command = f"nvidia-smi --query-gpu={','.join(['pstate'] * 20)} --format=csv"
    Terminal().tell([Line("test", command), Line("item", "a word or two " * 10)])
    shown = capsys.readouterr().out.splitlines()
    assert f"  {command}" in shown
    assert all(line == line.rstrip() and len(line) <= 60 for line in shown[1:])
