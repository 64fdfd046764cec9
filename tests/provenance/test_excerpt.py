"""The part of a source that a following went through is enough to follow it again, and is kept as it stood."""

from __future__ import annotations

import pytest

from tests.provenance.engines import VISION, declared, direct
from tools.engine.source_tree import SourceTexts
from tools.host import Output
from tools.probes.source_texts import ReadSourceTexts, packed
from tools.provenance.excerpt import Noticed, Way, excerpt
from tools.provenance.explanation import Explanation
from tools.provenance.flags import flags_of
from tools.provenance.given import Given
from tools.provenance.tree import Tree

ARGS = "sglang/srt/server_args.py"
GIVEN = Given.of(argv=("--model-path", "m"), model_config=VISION, gpu="NVIDIA RTX A6000")
UNCALLED = "\n\ndef never_called(server_args):\n    a = 1\n    b = 2\n    c = 3\n    server_args.page_size = 7\n"


def followed(tree: Tree) -> tuple[Explanation, dict[str, str]]:
    noticed = Noticed.of(tree.texts)
    explanation = Explanation(Tree(noticed), GIVEN)
    way = Way.of(explanation.tree, noticed)
    cited = [(site.file, site.line) for site in explanation.one("page_size").sites]
    return explanation, excerpt(explanation.tree, way, cited)


@pytest.mark.parametrize("engine", [direct, declared])
def test_what_was_followed_can_be_followed_again(engine: type[Tree]) -> None:
    whole, kept = followed(engine())  # type: ignore[call-arg]
    again = Explanation(Tree(kept), GIVEN)
    assert again.resolution.events
    assert repr(again.resolution.events) == repr(whole.resolution.events)
    assert again.changed() == whole.changed()
    assert again.one("page_size") == whole.one("page_size")
    assert flags_of(Tree(kept)) == flags_of(engine())  # type: ignore[call-arg]


def test_every_line_that_is_kept_stands_as_it_was_where_it_was() -> None:
    tree = direct()
    for path, text in followed(tree)[1].items():
        before = tree.texts[path].split("\n")
        for number, line in enumerate(text.split("\n")):
            assert line.strip() in ("", "...") or line == before[number], (path, number)


def test_what_was_not_followed_is_left_out_unless_a_line_of_it_is_cited() -> None:
    tree = direct()
    text = tree.texts[ARGS] + UNCALLED
    noticed = Noticed.of({**tree.texts, ARGS: text})
    explanation = Explanation(Tree(noticed), GIVEN)
    way = Way.of(explanation.tree, noticed)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if "page_size = 7" in one)
    assert "page_size = 7" not in excerpt(explanation.tree, way)[ARGS]
    assert "def never_called" in excerpt(explanation.tree, way)[ARGS]
    assert "page_size = 7" in excerpt(explanation.tree, way, [(ARGS, line)])[ARGS]


def test_a_function_that_begins_with_a_decorated_one_leaves_python_behind() -> None:
    inner = "\n\ndef outer():\n    @property\n    def inner():\n        return 1\n\n    a = 2\n    return inner\n"
    tree = direct()
    noticed = Noticed.of({**tree.texts, ARGS: tree.texts[ARGS] + inner})
    explanation = Explanation(Tree(noticed), GIVEN)
    kept = excerpt(explanation.tree, Way.of(explanation.tree, noticed))
    assert "@property\n    def inner" not in kept[ARGS]
    assert Explanation(Tree(kept), GIVEN).changed() == explanation.changed()


def test_a_case_keeps_the_parts_as_the_probe_reads_them() -> None:
    kept = followed(direct())[1]
    probe = ReadSourceTexts()
    text = packed(kept)
    assert probe.recognises(text)
    read = probe.read(Output(stdout=text))
    assert isinstance(read, SourceTexts)
    assert read.parts
    assert {path: data.decode() for path, data in read.contents.items()} == kept
