"""The engine's source as one more look: over a real sshd, kept in the case, told in the verdict, within its time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.demo import shipped
from bot.investigate import Event, Judged, Learned, Noted, conclude, investigate
from bot.narrator import Line, verdict
from bot.planner import Playbook
from bot.question import Question
from bot.report import report
from bot.source.cache import SourceCache
from bot.source.hurried import Following, Unfollowed
from bot.source.look import SourceLook
from bot.source.parted import parted
from tests.lab.sshd import Lab
from tests.provenance.engines import direct, lines
from tests.provenance.hosts import ARGS, Counted, Served, small
from tools.case import Case
from tools.errors import Absent, HostError
from tools.evidence import Evidence
from tools.hosts.ssh import SshHost
from tools.probes import PROBES
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree
from tools.rules import RULES
from tools.verdict import Verdict

SIX = (
    "ReadLaunch",
    "ReadServerInfo",
    "ReadModelConfig",
    "ReadGpus",
    "ReadEnvironment",
    "ReadServerLog",
)
ASKED = Question.of("is it slow?")


@pytest.fixture(scope="module")
def served(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("served"), lab, small())
    found.says(tp_size=2, chunked_prefill_size=4096, attention_backend="flashinfer")
    yield found
    found.engine.stop()


def seen(
    served: Served, lab: Lab, cache: Path, bound_s: float = 60.0
) -> tuple[list[Event], Counted]:
    host = Counted(SshHost("lab", config_file=lab.config))
    port = served.engine.port
    source = SourceLook({"port": port}, SourceCache(cache), bound_s=bound_s)
    six = {name: PROBES[name] for name in SIX}
    planner = Playbook(six, RULES, {"port": port})
    events = list(investigate(ASKED, planner, host, source=source))
    host.close()
    return events, host


def test_the_source_is_one_more_look_and_the_verdict_says_what_set_it(
    served: Served, lab: Lab, tmp_path: Path
) -> None:
    events, host = seen(served, lab, tmp_path)
    end = events[-1]
    assert isinstance(end, Judged)
    looks = [event.look for event in events if isinstance(event, Learned)]
    assert {look.title for look in looks} == {*SIX, "ReadSourceTexts"}
    assert [look.id for look in looks] == [f"E{n}" for n in range(1, 8)]
    line = lines(Tree(small()), ARGS, "self.chunked_prefill_size = 4096")
    told = report("lab", ASKED.text, end.verdict, end.evidence, None, end.parted)
    flags = {one["flag"]: one for one in told["verdict"]["provenance"]}
    fired = [site for site in flags["chunked_prefill_size"]["sites"] if site["state"] == "fired"]
    assert [(site["file"], site["line"]) for site in fired] == [(ARGS, line)]
    kept = Case.of("lab", ASKED.text, "captured", looks).dump()
    again = conclude(ASKED, Case.load(kept, name="kept").evidence(PROBES)).with_source()
    assert again.parted == end.parted, "a replay says the same"
    assert "hunter2" not in kept
    asked_first = len(host.asked)
    assert len(seen(served, lab, tmp_path)[1].asked) < asked_first, "what is kept does not travel"


def test_a_host_that_takes_too_long_is_left_and_the_verdict_stands(
    served: Served, lab: Lab, tmp_path: Path
) -> None:
    events, host = seen(served, lab, tmp_path, bound_s=1e-6)
    (note,) = [event.text for event in events if isinstance(event, Noted)]
    assert note.startswith(
        "Which lines of the engine's source set its flags is not told: lab did not"
    )
    end = events[-1]
    assert isinstance(end, Judged)
    assert end.parted is None
    assert len(host.asked) == 1, "the playbook's round, and nothing after it"


def test_a_source_that_is_not_where_it_is_said_to_be_is_said(
    served: Served, lab: Lab, tmp_path: Path
) -> None:
    host = SshHost("lab", config_file=lab.config)
    source = SourceLook({"port": served.engine.port, "source_path": str(tmp_path)})
    looks = shipped().evidence(PROBES)[:1]
    with pytest.raises((Absent, HostError), match="holds no package sglang"):
        source.take(host, looks, conclude(ASKED, looks).verdict)
    host.close()


def demo() -> tuple[Verdict, list[Evidence]]:
    case = shipped()
    looks = case.evidence(PROBES)
    return conclude(Question.of(case.question), looks).verdict, looks


def test_of_the_seed_deployment_only_line_1230_fired_and_the_log_is_called_wrong() -> None:
    judged, looks = demo()
    found = parted(looks, judged)
    assert found
    first = found.flags[0]
    assert first.flag == "disable_piecewise_cuda_graph"
    fired = [(site.file, site.line) for site in first.sites if site.state == "fired"]
    assert fired == [("sglang/srt/server_args.py", 1230)]
    text = [part for part in verdict(judged, parted=found) if isinstance(part, Line)]
    at = next(n for n, part in enumerate(text) if part.text == "What set it")
    assert "the log does not say so" in text[at + 1].text
    assert "(sglang/srt/model_executor/model_runner.py:2806) is wrong." in text[at + 1].text
    assert text[at + 1].cites == ("E16",)
    assert text[at + 2].text.startswith("Known trap: --enforce-piecewise-cuda-graph")


def test_at_most_three_flags_are_told_and_the_rest_is_counted() -> None:
    judged, looks = demo()
    found = parted(looks, judged)
    assert found
    assert (found.told, len(found.flags) > 3) == (3, True)
    said = [part.text for part in verdict(judged, parted=found) if isinstance(part, Line)]
    more = len(found.flags) - 3
    assert f"{more} more flags are neither as asked nor at a default: --json lists them." in said
    assert json.dumps([one.as_json() for one in found.flags])


def test_looks_without_a_source_leave_the_part_out() -> None:
    judged, looks = demo()
    assert parted([one for one in looks if one.title != "ReadSourceTexts"], judged) is None
    headings = [part.text for part in verdict(judged) if isinstance(part, Line)]
    assert "What set it" not in headings


def test_a_following_that_takes_too_long_is_given_up_and_the_verdict_says_how_to_ask_for_it(
    served: Served, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Following.__init__, "__defaults__", (-1.0,))
    events, _ = seen(served, lab, tmp_path)
    end = events[-1]
    assert isinstance(end, Judged)
    assert end.parted
    assert end.parted.flags == ()
    said = [part.text for part in verdict(end.verdict, parted=end.parted) if isinstance(part, Line)]
    at = said.index("What set it")
    assert said[at + 1].startswith(
        "The engine's source was not followed: following it takes longer"
    )
    assert said[at + 1].endswith("perfsleuth explain-flag FLAG HOST.")
    assert [one for one in events if isinstance(one, Noted) and "explain-flag" in one.text]


def test_a_kept_case_whose_source_takes_too_long_says_so_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Following.__init__, "__defaults__", (-1.0,))
    judged, looks = demo()
    found = parted(looks, judged)
    assert found
    assert (found.flags, "explain-flag" in found.unfollowed) == ((), True)


def test_within_its_time_a_following_goes_on() -> None:
    Following()()
    with pytest.raises(Unfollowed):
        Following(-1.0)()


def test_a_following_is_asked_whether_it_may_go_on_at_each_file_and_at_each_call() -> None:
    asked: list[None] = []
    tree = Tree(direct().texts, lambda: asked.append(None))
    tree.parsed(ARGS)
    assert len(asked) == 1
    Explanation(tree, Given.of(argv=("--model-path", "/m")))
    before = len(asked)
    Explanation(tree, Given.of(argv=("--model-path", "/m")))
    assert len(asked) > before, "though every file was parsed by then"
