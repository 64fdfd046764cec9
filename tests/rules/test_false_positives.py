"""What the catalogue calls a false positive is judged as one: no rule accuses by it.

`false_positives.yaml` holds, by cause, raw texts that show just that; where `and_yet` is given,
nearly the same texts with the real fault, which is then named: so each of these can fail.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.investigate import conclude
from bot.question import Question
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.judgement import Confirmed
from tools.probes import PROBES
from tools.verdict import Verdict

Shown = dict[str, Any]

_DATA = Path(__file__).with_name("false_positives.yaml")
_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DATA: dict[str, dict[str, list[Shown]]] = yaml.load(_DATA.read_text("utf-8"), Loader=_SAFE)
_CAUSES = (files("tools.knowledge") / "causes.yaml").read_text(encoding="utf-8")
CATALOGUE: dict[str, Shown] = {
    one["id"]: one for one in yaml.load(_CAUSES, Loader=_SAFE)["pathologies"]
}
NAMED = {id: one["false_positives"] for id, one in CATALOGUE.items() if one["false_positives"]}
SHOWN = [(cause, each) for cause, some in DATA["shown"].items() for each in some]
ADVICE = [(cause, each) for cause, some in DATA["advice"].items() for each in some]
COUNTERPARTS = [(cause, each) for cause, each in SHOWN if "and_yet" in each]

MIN_COUNTERPARTS = 60  # causes; raise it, never lower it


def phrases(cause: str) -> list[str]:
    """Return the catalogue's false positives of a cause; a lone sentence is one phrase."""
    said = NAMED[cause]
    return [said] if isinstance(said, str) else list(said)


def judged(texts: list[str], question: str) -> Verdict:
    """Judge texts as if each were a file that a person gave."""
    given = [(f"{number}.txt", text.encode()) for number, text in enumerate(texts, start=1)]
    looks = [
        read_back(number, found.probe, f"text {number}", found.output, found.trouble)
        for number, found in enumerate(read_texts(given, PROBES), start=1)
    ]
    assert all(look.probe for look in looks), [look.trouble for look in looks]
    return conclude(Question.of(question), looks).verdict


def confirmed(verdict: Verdict, cause: str) -> list[Confirmed]:
    return [one for one in (*verdict.findings, *verdict.asides) if one.rule.cause.id == cause]


def accused(verdict: Verdict, cause: str) -> list[str]:
    """Return what is said that names this cause as a fault, or at all where it never is one."""
    harmless = CATALOGUE[cause]["severity"] == "benign"
    named = [one for one in confirmed(verdict, cause) if harmless or not one.benign]
    return [one.finding.statement for one in named]


def weighed(verdict: Verdict, cause: str) -> bool:
    """Say whether a rule for this cause had all that it needs, so that it could have erred."""
    still_open = [one for one in verdict.unchecked if one.rule.cause.id == cause]
    ruled_out = any(one.rule.cause.id == cause for one in verdict.ruled_out)
    return ruled_out or any(not one.missing for one in still_open)


def counterpart(each: Shown) -> list[str]:
    """Return the texts with the real fault: other ones, or these with something swapped."""
    told: list[str] | dict[str, str] = each["and_yet"]
    if isinstance(told, list):
        return told
    texts: list[str] = each["given"]
    for old, new in told.items():
        assert any(old in text for text in texts), f"nothing to swap: {old}"
        texts = [text.replace(old, new) for text in texts]
    return texts


def names(some: list[tuple[str, Shown]]) -> list[str]:
    return [f"{cause}: {each['says']}" for cause, each in some]


@pytest.mark.parametrize(("cause", "each"), SHOWN, ids=names(SHOWN))
def test_no_rule_accuses_by_a_false_positive(cause: str, each: Shown) -> None:
    verdict = judged(each["given"], each.get("question", ""))
    if each.get("benign", False):
        assert {one.category for one in confirmed(verdict, cause)} == {"no_fault"}
        return
    said = accused(verdict, cause)
    assert bool(said) == each.get("known", False), said
    assert said or verdict.cause != cause or verdict.category == "no_fault"
    assert said or weighed(verdict, cause), "no rule for this cause had what it needs"


@pytest.mark.parametrize(("cause", "each"), COUNTERPARTS, ids=names(COUNTERPARTS))
def test_the_real_fault_in_nearly_the_same_texts_is_named(cause: str, each: Shown) -> None:
    verdict = judged(counterpart(each), each.get("question", ""))
    assert accused(verdict, cause), verdict.headline


@pytest.mark.parametrize(("cause", "each"), [*SHOWN, *ADVICE], ids=names([*SHOWN, *ADVICE]))
def test_the_phrase_stands_in_the_catalogue(cause: str, each: Shown) -> None:
    assert [phrase for phrase in phrases(cause) if phrase.startswith(each["says"])]


def test_every_false_positive_of_the_catalogue_is_shown_or_is_advice() -> None:
    covered = [(cause, each["says"]) for cause, each in [*SHOWN, *ADVICE]]
    missing = [
        f"{cause}: {phrase}"
        for cause in NAMED
        for phrase in phrases(cause)
        if not any(cause == one and phrase.startswith(says) for one, says in covered)
    ]
    assert not missing, "\n".join(missing)


def test_what_is_advice_or_known_says_why() -> None:
    assert all(each["why"] for _, each in ADVICE)
    assert all(each["why"] for _, each in SHOWN if each.get("known"))


def test_many_of_them_can_fail() -> None:
    assert len({cause for cause, _ in COUNTERPARTS}) >= MIN_COUNTERPARTS
