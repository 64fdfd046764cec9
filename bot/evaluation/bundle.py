"""A case with a known answer: a question, the files that came with it, what an expert concluded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.question import Question
from tools.errors import ToolsError
from tools.evidence import Evidence, read_back
from tools.hosts.files import read_texts
from tools.knowledge import Category
from tools.probes import PROBES


class Settled(BaseModel):
    """What an expert concluded once the result of the next test was there as well."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    category: Category
    causes: tuple[str, ...] = ()


class Expected(BaseModel):
    """What an expert concluded. `must_not` names categories and causes that would be a wrong conclusion.

    An empty `causes` means that no cause is asked for.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    category: Category
    also_accept_categories: tuple[Category, ...] = ()
    causes: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    after_followup: Settled | None = None

    @property
    def accepted(self) -> frozenset[Category]:
        """Return the categories that count as right."""
        return frozenset({self.category, *self.also_accept_categories})

    def settled(self) -> Expected:
        """Return what is expected with the follow-up; it settles the case, so nothing else is accepted."""
        after = self.after_followup
        if after is None:
            return self
        wrong = tuple(one for one in self.must_not if one not in (after.category, *after.causes))
        return Expected(category=after.category, causes=after.causes, must_not=wrong)


@dataclass(frozen=True)
class Bundle:
    """One folder: question.txt, evidence/ and expected.json."""

    name: str
    question: str
    files: tuple[Path, ...]
    expected: Expected

    def asked(self) -> Question:
        """Return the question as it is read."""
        return Question.of(self.question)

    def looks(self) -> tuple[Evidence, ...]:
        """Read the files; their names stay, the name of the folder, which tells the answer, does not."""
        given = [(path.name, path.read_bytes()) for path in self.files]
        return tuple(
            read_back(number, found.probe, found.source, found.output, found.trouble)
            for number, found in enumerate(read_texts(given, PROBES), start=1)
        )


def bundles(folder: Path, *, followup: bool = False) -> list[Bundle]:
    """Return all cases of a folder by name; raise ToolsError where there is none, or one is not whole.

    With `followup` those that have a folder of that name: its files are handed out with the others.
    """
    places = sorted(path.parent for path in folder.glob("*/expected.json"))
    if not places:
        raise ToolsError(
            f"{folder} holds no cases: a case is a folder with question.txt, evidence/ and expected.json."
        )
    whole = [_read(place) for place in places]
    if not followup:
        return whole
    settled = [_with_followup(case, place) for case, place in zip(whole, places, strict=True)]
    if found := [case for case in settled if case]:
        return found
    raise ToolsError(
        f"No case of {folder} has a folder followup/ with the result of its next test."
    )


def _with_followup(case: Bundle, place: Path) -> Bundle | None:
    later = place / "followup"
    if not later.is_dir():
        return None
    files = (*case.files, *sorted(path for path in later.iterdir() if path.is_file()))
    return replace(case, files=files, expected=case.expected.settled())


def _read(place: Path) -> Bundle:
    try:
        text = (place / "question.txt").read_text(encoding="utf-8").strip()
        files = tuple(sorted(path for path in (place / "evidence").iterdir() if path.is_file()))
        told = (place / "expected.json").read_text(encoding="utf-8")
        return Bundle(place.name, text, files, Expected.model_validate_json(told))
    except (OSError, UnicodeDecodeError) as why:
        said = getattr(why, "strerror", None) or why
        raise ToolsError(f"The case {place} cannot be read: {said}.") from None
    except ValidationError as why:
        first = why.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ToolsError(f"{place / 'expected.json'}: {where}: {first['msg']}.") from None
