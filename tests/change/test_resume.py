"""What is done once is not done again: by an understudy, or for a verb that comes while it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tools.change.keeper import _begin

NAMES: dict[str, Any] = {"__name__": "keeper"}
exec(compile(_begin({}).stdin.rpartition("print(")[0], "keeper", "exec"), NAMES)


def resumed(state: str, act: str | None, *, back: bool = False, failed: bool = False) -> list[Any]:
    """Return what is begun, and what is only written down."""
    book = {"act": act, "back": back, "failed": {"how": "other"} if failed else None}
    done: list[Any] = []
    heir = NAMES["Service"].__new__(NAMES["Service"])
    heir.change = SimpleNamespace(
        state=state, book=book, act=done.append, note=lambda **changed: done.append(changed)
    )
    heir.resume()
    return done


@pytest.mark.parametrize(
    ("act", "on", "reached"),
    [
        ("drain", "draining", "drained"),
        ("stop", "stopping", "stopped"),
        ("start", "starting", "ready"),
    ],
)
def test_an_act_is_begun_again_unless_it_was_done(act: str, on: str, reached: str) -> None:
    assert resumed(on, act) == [act]
    assert resumed(reached, act) == [{"act": None}], "a server that is ready would be started again"
    assert resumed(reached, None) == []


@pytest.mark.parametrize("state", ["stopped", "ready"])
def test_what_is_to_be_undone_is_undone_whatever_was_reached(state: str) -> None:
    assert resumed(state, "start", back=True) == ["restore"]
    assert resumed(state, "start", failed=True) == ["restore"]
    assert resumed("drained", "drain", back=True) == ["withdraw"]
    assert resumed("kept", "keep", back=True) == []


@pytest.mark.parametrize(
    ("verb", "state", "ends", "begun"),
    [
        ("keep", "ready", "kept", []),  # asked again while what is left was settled
        ("keep", "ready", "ready", ["keep"]),
        ("stop", "drained", "drained", ["stop"]),
        ("dismiss", "drained", "stopped", []),  # a stop was under way: nothing was withdrawn
        ("dismiss", "drained", "drained", ["withdraw"]),
        ("start", "ready", "ready", []),
    ],
)
def test_a_verb_counts_in_the_state_that_there_is_when_all_is_at_rest(
    verb: str, state: str, ends: str, begun: list[str]
) -> None:
    done: list[str] = []

    class Busy:
        def __init__(self) -> None:
            self.state, self.undo = state, SimpleNamespace(is_set=lambda: False)

        def at_rest(self) -> bool:
            self.state = ends
            return True

        def act(self, name: str) -> None:
            done.append(name)

        def do_withdraw(self) -> None:
            done.append("withdraw")

    service = NAMES["Service"].__new__(NAMES["Service"])
    service.change, service.leaving = Busy(), False
    service.begin(verb, {})
    assert done == begun
    assert service.leaving is (verb == "dismiss" and ends == state)


def test_who_gives_no_answer_has_not_said_that_the_server_ended() -> None:
    looks = [(None, False), (None, False), (42, True)]
    book = NAMES["Book"].__new__(NAMES["Book"])
    book.book, book.pause, book.notice = {"new": {"pid": 42}}, lambda _s: None, lambda _which: None
    book.launcher = SimpleNamespace(look=lambda: looks.pop(0), exit=lambda: None)
    assert book.main_of("new", NAMES["now"]() + 60) == 42
    looks[:] = [(None, True)]
    with pytest.raises(NAMES["NotStarted"], match="ended while it started"):
        book.main_of("new", NAMES["now"]() + 60)
    looks[:] = [(None, False)]
    with pytest.raises(NAMES["NotStarted"], match="ended while it started"):
        book.main_of("new", NAMES["now"]() - 1)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Error: No such object: x", True),
        ("Error response from daemon: No such container: x", True),
        ('Error: no such container "x"', True),
        ('Error: inspecting object: no such object: "x"', True),
        ('Error: no container with name or ID "x" found: no such container', True),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", False),
        (
            "failed to connect: dial unix /run/user/1000/docker.sock: connect: no such file or directory",
            False,
        ),
        ("docker: No such file or directory", False),
        ("docker did not answer within 20 s", False),
    ],
)
def test_only_a_runtime_that_says_so_tells_of_no_container(said: str, known: bool) -> None:
    docker = NAMES["Docker"]("docker")
    docker.ask = lambda *_words, **_more: (1, "[]\n", said)
    assert docker.told("x") == (None, known)


def test_a_container_whose_daemon_wakes_is_asked_to_end_before_it_is_killed() -> None:
    docker, acts = NAMES["Docker"]("docker"), list[str]()
    runs = [None, False]
    docker.runs = lambda *_: runs.pop(0)
    docker.act = lambda *words, **_more: acts.append(words[0]) or ""
    assert docker.end("x", 1, lambda _s: None) == ""
    assert acts == ["stop"]
