"""A case keeps what the host said, word for word, and nothing that follows from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.case import Case
from tools.errors import CaseError, Unreadable
from tools.evidence import ask, learn
from tools.host import Command, Output
from tools.probe import Facts, Probe


class Word(Facts):
    said: str


class ReadWord(Probe[Word]):
    """Read a word."""

    times: int = 1

    def command(self) -> Command:
        return Command(argv=("echo", "word"))

    def parse(self, stdout: str, /) -> Word:
        if not stdout:
            raise Unreadable("nothing was said")
        return Word(said=stdout)


PROBES: dict[str, type[Probe[Any]]] = {"ReadWord": ReadWord}


@given(st.text(), st.text(), st.floats(0, 100))
def test_an_output_comes_back_from_a_case_as_it_went_in(
    stdout: str, stderr: str, took_s: float
) -> None:
    look = learn(
        1, ReadWord(times=2), "h", Output(stdout=stdout, stderr=stderr, took_s=took_s, cut=True)
    )
    text = Case.of("h", "q", "captured", [look]).dump()
    again = Case.load(text, name="x").evidence(PROBES)
    assert again == [look]


def test_a_case_can_be_read_by_a_person() -> None:
    look = learn(1, ReadWord(), "h", Output(stdout="one\ntwo\n"))
    kept = json.loads(Case.of("h", "why?", "captured", [look]).dump())
    assert kept["schema"] == 1
    assert kept["asked"][0]["output"]["stdout"] == ["one", "two", ""]
    assert kept["asked"][0]["command"] == "echo word"
    assert "facts" not in json.dumps(kept)


def test_secrets_are_gone_before_anything_is_kept() -> None:
    look = learn(1, ReadWord(), "h", Output(stdout="--api-key sk-abcdefghijklmnopqrstuvwx done"))
    assert "abcdefgh" not in Case.of("h", "q", "captured", [look]).dump()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no case file"),
        ("[1]", "no case file"),
        ('{"schema": 2}', "schema: "),
        ('{"schema": 1, "asked": [{"id": "E1"}]}', "asked.0"),
        ('{"schema": 1, "surprise": true}', "surprise"),
    ],
)
def test_a_file_that_is_no_case_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(CaseError, match=says) as refused:
        Case.load(text, name="some.json")
    assert "\n" not in str(refused.value)
    assert "some.json" in str(refused.value)


def test_a_probe_that_this_version_does_not_know_is_a_trouble_and_not_a_crash() -> None:
    text = Case.of("h", "q", "captured", [learn(1, ReadWord(), "h", Output(stdout="x"))]).dump()
    (look,) = Case.load(text, name="x").evidence({})
    assert "ReadWord" in look.trouble


def test_what_goes_wrong_while_asking_becomes_the_trouble_of_each_look() -> None:
    class Gone:
        name = "gone"

        def answer(self, probes: Any, /) -> Any:
            from tools.errors import Unreachable

            raise Unreachable("gone does not answer on port 22.")

    looks = ask(Gone(), [ReadWord(), ReadWord(times=2)], after=3)
    assert [look.id for look in looks] == ["E4", "E5"]
    assert {look.trouble for look in looks} == {"gone does not answer on port 22."}


@pytest.mark.parametrize(
    ("output", "trouble"),
    [
        (Output(status=127), "Not there: echo is not installed there"),
        (Output(status=1, stderr="Permission denied\n"), "Failed: Permission denied"),
        (Output(status=1), "Failed: ended with status 1 and said nothing"),
        (Output(stdout=""), "Unreadable: nothing was said"),
        (
            Output(status=None, lost="timed out after 10 s and was ended"),
            "timed out after 10 s and was ended",
        ),
    ],
)
def test_absent_failed_unreadable_and_lost_differ(output: Output, trouble: str) -> None:
    look = learn(1, ReadWord(), "h", output)
    assert (look.facts, look.trouble) == (None, trouble)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_a_file_that_is_nested_deeply_is_no_case(text: str) -> None:
    with pytest.raises(CaseError, match="is no case file"):
        Case.load(text, name="x")


def test_half_a_surrogate_in_a_case_is_replaced() -> None:
    look = '{"id": "E1", "probe": null, "source": "s", "output": {"stdout": ["a \\ud800 b"]}}'
    (seen,) = Case.load(f'{{"schema": 1, "asked": [{look}]}}', name="x").evidence(PROBES)
    assert seen.output
    assert seen.output.stdout == "a ? b"


def test_what_a_case_says_of_itself_gives_no_ids_and_keeps_no_secret() -> None:
    key = "hf_abcdefghijklmnopqrstuvwxyz"
    look = {
        "id": "../E1",
        "probe": None,
        "source": f"x {key}",
        "output": {"lost": f"\x1b[31m{key}"},
    }
    seen = Case.load(json.dumps({"schema": 1, "asked": [look, look]}), name="x").evidence(PROBES)
    assert [one.id for one in seen] == ["E1", "E2"]
    for one in seen:
        assert one.output
        assert key not in one.source + one.output.lost
        assert "\x1b" not in one.output.lost
