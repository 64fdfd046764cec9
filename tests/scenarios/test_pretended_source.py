"""The source in the demo's case: of our own writing, and every line where the story says it is."""

from __future__ import annotations

import pytest

from bot.demo import shipped
from tests.scenarios.ct129.pretended_source import placed, texts
from tools.engine.source_tree import SourceTexts
from tools.probes import PROBES


def test_the_demo_holds_only_what_says_that_it_is_pretended() -> None:
    (look,) = [one for one in shipped().evidence(PROBES) if one.title == "ReadSourceTexts"]
    assert isinstance(look.facts, SourceTexts)
    held = {path: data.decode() for path, data in look.facts.contents.items()}
    assert held == texts()
    for path, text in held.items():
        first = text if path.endswith("METADATA") else text.splitlines()[0]
        assert "pretended" in first, path


def test_a_mark_puts_the_next_line_where_it_says() -> None:
    assert placed("a\n#@ 4\nb\nc\n") == "a\n\n\nb\nc\n"
    with pytest.raises(ValueError, match="#@ 2 comes 1 lines too late"):
        placed("a\nb\n#@ 2\nc\n")


def test_the_line_that_the_story_blames_is_there() -> None:
    lines = texts()["sglang/srt/server_args.py"].splitlines()
    assert lines[1229].strip() == "self.disable_piecewise_cuda_graph = True"
    assert lines[1228].strip() == "if self.model().is_multimodal:"
