"""A case answers what was answered then, and nothing else."""

from __future__ import annotations

from tests.hosts.asks import Ask
from tools.host import Output
from tools.hosts.replay import ReplayHost


def test_a_replay_gives_back_the_answers_by_question() -> None:
    first, second, third = Ask("a"), Ask("b"), Ask("a", limit_s=3)
    host = ReplayHost("then", {first.key: Output(stdout="A"), second.key: Output(stdout="B")})
    assert [output.stdout for output in host.answer([second, first])] == ["B", "A"]
    (missing,) = host.answer([third])
    assert (missing.status, missing.lost) == (None, "this case holds no answer to it")
