"""What a dry run settles of an answer, and when it settles nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.provenance.engines import explained, lines, only
from tools.engine.argument_trace import ArgumentTrace, Stopped, TracedWrite
from tools.provenance.answer import SiteAnswer
from tools.provenance.explanation import Explanation
from tools.provenance.traced import settled

ARGS = "sglang/srt/server_args.py"
TREE = only(
    "if unheard_of.yes():\n    self.a = 2\nelse:\n    self.a = 3\nself.b = unheard_of.name()"
)
TWO, THREE = lines(TREE, ARGS, "self.a = 2"), lines(TREE, ARGS, "self.a = 3")


def write(field: str, old: Any, new: Any, line: int, source: str | None = None) -> TracedWrite:
    places = ((ARGS, line, "__post_init__"), (ARGS, 90, "prepare_server_args"))
    return TracedWrite(field=field, old=old, new=new, source=source, places=places)


def trace(*writes: TracedWrite, ended: Any = 3, **more: Any) -> ArgumentTrace:
    return ArgumentTrace(writes=writes, asked={"a": 1}, resolved={"a": ended}, **more)


def read(**facts: Any) -> Explanation:
    found = explained(TREE, **facts)
    assert {site.state for site in found.one("a").sites} == {"unknown"} or facts
    return found


def states(explanation: Explanation, found: ArgumentTrace) -> dict[int, str]:
    return {site.line: site.state for site in settled(explanation, "a", found).sites}


def test_a_site_that_reading_cannot_tell_of_fired_or_did_not_by_the_dry_run() -> None:
    found = settled(read(), "--a", trace(write("a", 1, 3, THREE)))
    assert {site.line: site.state for site in found.sites} == {TWO: "not_fired", THREE: "fired"}
    assert (found.overridden, found.resolved) == (True, 3)
    assert f"{ARGS}:{THREE} made it 3" in found.sentence
    assert found.sentence.endswith("Seen in a dry run.")
    assert "not known" not in found.sentence
    assert "the dry run" not in found.sentence


def test_one_that_stopped_early_shows_what_fired_but_not_what_did_not() -> None:
    early = Stopped(why="Refused", at=f"{ARGS}:9", stage="while the arguments were resolved")
    assert states(read(), trace(write("a", 1, 3, THREE), stopped=early)) == {
        TWO: "unknown", THREE: "fired",
    }  # fmt: skip
    assert settled(read(), "a", trace(stopped=early)) == read().one("a")


def test_one_that_ends_with_another_value_than_the_server_has_settles_nothing() -> None:
    explanation = read(resolved={"a": 2})
    found = settled(explanation, "a", trace(write("a", 1, 3, THREE)))
    assert found.sites == explanation.one("a").sites
    assert found.sentence.endswith("which the server does not have: it settles nothing.")


def test_a_write_that_reading_did_not_find_is_a_site_of_its_own() -> None:
    far = TracedWrite(field="a", old=3, new=7, places=(("plugin/hook.py", 5, "tune"),))
    found = settled(read(), "a", trace(write("a", 1, 3, THREE), far, ended=7))
    assert [(site.file, site.line) for site in found.sites if site.state == "fired"] == [
        (ARGS, THREE), ("plugin/hook.py", 5),
    ]  # fmt: skip
    assert "plugin/hook.py:5 made it 7" in found.sentence


def test_a_write_of_what_was_there_is_no_site_that_fired() -> None:
    assert states(read(), trace(write("a", 1, 1, THREE), ended=1)) == {
        TWO: "not_fired", THREE: "not_fired",
    }  # fmt: skip
    assert settled(read(), "a", trace(write("a", 1, 1, THREE), ended=1)).overridden is False


def test_a_default_that_nobody_wrote_is_left_as_it_was_read() -> None:
    assert states(read(), trace(ended=5)) == {TWO: "unknown", THREE: "unknown"}


def test_of_two_decisions_of_one_name_the_one_at_the_written_line_fired() -> None:
    sites = [SiteAnswer("a.py", line, "_memory", "unknown", "x", None) for line in (12, 30)]
    base = read().one("a")
    explanation = read()
    explanation._answers["a"] = replace(base, sites=sites)
    call = TracedWrite(field="a", old=1, new=3, source="_memory", places=(
        ("o.py", 5, "declare_resolution"), ("a.py", 28, "_memory"),
    ))  # fmt: skip
    found = settled(explanation, "a", trace(call))
    assert [(site.line, site.state) for site in found.sites] == [(12, "not_fired"), (30, "fired")]


def test_of_a_mapping_that_a_function_gives_back_the_line_is_not_guessed() -> None:
    sites = [SiteAnswer("a.py", line, "_defaults", "unknown", "x", None) for line in (12, 30)]
    explanation = read()
    explanation._answers["a"] = replace(explanation.one("a"), sites=sites)
    given = TracedWrite(field="a", old=1, new=3, source="_defaults", places=(("o.py", 5, "run"),))
    found = settled(explanation, "a", trace(given))
    assert [site.state for site in found.sites] == ["unknown", "unknown", "fired"]
    assert found.sites[-1].file == "o.py"


def test_after_a_question_without_an_answer_a_write_counts_only_if_the_server_has_the_value() -> (
    None
):
    astray = trace(write("a", 1, 3, THREE), sound=0, refused=("the GPU's clock",))
    assert settled(read(), "a", astray) == read().one("a")
    assert states(read(resolved={"a": 3}), astray) == {TWO: "not_fired", THREE: "fired"}
    before = trace(write("a", 1, 3, THREE), sound=1, refused=("the GPU's clock",))
    assert states(read(), before) == {TWO: "unknown", THREE: "fired"}
