"""What holds of every host that runs commands: the same tests over a real sshd and on this machine."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.asks import Ask, script
from tests.lab.sshd import alive, of_processes, wait_for
from tools.host import Host, Output


def one(host: Host, ask: Ask) -> Output:
    (output,) = host.answer([ask])
    return output


def pid_in(path: Path) -> int:
    wait_for(lambda: path.exists() and path.read_text().strip(), f"nobody wrote {path}")
    return int(path.read_text())


def test_streams_and_status_come_back_apart(host: Host) -> None:
    output = one(host, Ask("sh", "-c", "echo out; echo err >&2; exit 3"))
    assert (output.stdout, output.stderr, output.status, output.lost) == ("out\n", "err\n", 3, "")


def test_answers_come_in_the_order_of_the_questions_though_they_run_at_the_same_time(
    host: Host, tmp_path: Path
) -> None:
    """Each but the last waits for the next one, so that they end the other way round, or never."""
    text = "until [ -e {0}/{2} ]; do sleep 0.05; done; echo {1}; touch {0}/{1}"
    (tmp_path / "8").touch()
    asks = [Ask("sh", "-c", text.format(tmp_path, n, n + 1), limit_s=60) for n in range(8)]
    assert [output.stdout for output in host.answer(asks)] == [f"{n}\n" for n in range(8)]


def test_many_more_questions_than_run_at_once_are_all_answered(host: Host) -> None:
    outputs = host.answer([Ask("echo", str(n)) for n in range(60)])
    assert [output.stdout for output in outputs] == [f"{n}\n" for n in range(60)]


def test_equal_commands_run_once(host: Host, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    outputs = host.answer([Ask("sh", "-c", f"echo x >> {mark}; echo y")] * 3)
    assert [output.stdout for output in outputs] == ["y\n"] * 3
    assert mark.read_text() == "x\n"


def test_nothing_asked_is_nothing_answered(host: Host) -> None:
    assert list(host.answer([])) == []


@pytest.mark.parametrize(
    "argument",
    [
        "; touch {0}",
        "$(touch {0})",
        "`touch {0}`",
        "a  b",
        "a\nb",
        "'\"\\",
        "&& touch {0}",
        "| tee {0}",
        "*",
        "~",
        "--",
        "ü€",
    ],
)
def test_an_argument_is_never_shell(host: Host, tmp_path: Path, argument: str) -> None:
    mark = tmp_path / "mark"
    said = argument.format(mark)
    assert one(host, Ask("printf", "%s", said)).stdout == said
    assert not mark.exists()


def test_a_missing_program_is_127(host: Host) -> None:
    output = one(host, Ask("no-such-program-here"))
    assert (output.status, output.lost) == (127, "")
    assert "No such file" in output.stderr


def test_a_program_that_may_not_run_is_126(host: Host, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("text")
    assert one(host, Ask(str(plain))).status == 126


def test_a_program_killed_by_a_signal_says_so_as_a_shell_does(host: Host) -> None:
    assert one(host, Ask("sh", "-c", "kill -9 $$")).status == 137


def test_a_hanging_command_is_ended_at_its_limit(host: Host, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    output = one(host, Ask("sh", "-c", f"echo $$ > {note}; echo before; exec sleep 300", limit_s=3))
    assert output.status is None
    assert "timed out after 3" in output.lost
    assert output.stdout == "before\n", "what it had said is kept"
    assert not alive(pid_in(note))


def test_a_dribbling_command_is_ended_at_its_limit_too(host: Host) -> None:
    output = one(host, Ask("sh", "-c", "while :; do echo drop; sleep 0.05; done", limit_s=3))
    assert "timed out" in output.lost
    assert output.stdout.startswith("drop\ndrop\n")


def test_a_command_that_ignores_term_is_killed(host: Host, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    output = one(
        host,
        Ask("sh", "-c", f"trap '' TERM; echo $$ > {note}; while :; do sleep 1; done", limit_s=3),
    )
    assert "timed out" in output.lost
    assert not alive(pid_in(note))


def test_what_a_command_leaves_behind_is_ended_with_it(host: Host, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    output = one(host, Ask("sh", "-c", f"sleep 300 & echo $! > {note}; echo done"))
    assert (output.stdout, output.status) == ("done\n", 0)
    left = pid_in(note)
    wait_for(lambda: not alive(left), "it was left running")


def test_a_hundred_megabytes_are_cut_at_the_cap(host: Host) -> None:
    output = one(
        host,
        script(
            "import sys\nfor _ in range(100): sys.stdout.write('x' * (1 << 20))", max_bytes=1 << 20
        ),
    )
    assert output.cut
    assert not output.lost
    assert len(output.stdout) == 1 << 20


def test_a_single_line_of_twenty_megabytes_comes_whole(host: Host) -> None:
    output = one(host, script("print('y' * (20 << 20))", max_bytes=32 << 20))
    assert (len(output.stdout), output.cut, output.status) == ((20 << 20) + 1, False, 0)


def test_an_endless_printer_is_ended(host: Host) -> None:
    output = one(host, Ask("yes", max_bytes=1000, limit_s=60))
    assert not output.lost, "it was ended at its cap and not at its limit"
    assert output.cut
    assert output.stdout == "y\n" * 500


def test_both_streams_full_at_once_do_not_wait_for_each_other(host: Host) -> None:
    text = "import sys\nfor _ in range(300):\n sys.stderr.write('e' * 9000 + '\\n'); sys.stdout.write('o' * 9000)"
    output = one(host, script(text, max_bytes=4 << 20))
    assert len(output.stdout) == 300 * 9000
    assert len(output.stderr) == 64 << 10, "stderr has a cap of its own"
    assert output.status == 0


def test_bytes_that_are_no_utf8_are_shown_as_such(host: Host) -> None:
    output = one(host, Ask("printf", "a\\377\\200\\000b"))
    assert output.stdout == "a\ufffd\ufffd\0b"


def test_stdin_reaches_a_program_that_reads_it(host: Host) -> None:
    text = "line\n" * 100_000
    assert one(host, Ask("cat", stdin=text)).stdout == text


def test_stdin_is_empty_for_a_program_that_was_given_none(host: Host) -> None:
    assert one(host, Ask("cat")).status == 0


def test_a_script_runs_as_python_would_run_it(host: Host) -> None:
    text = "import json, sys, os\nprint(json.dumps([sys.argv, __name__, os.getcwd(), sys.stdin.read()]))"
    assert (
        one(host, script(text, "a b", "--c")).stdout
        == '[["-", "a b", "--c"], "__main__", "/", ""]\n'
    )


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("import sys; print(1); sys.exit(4)", 4, ""),
        ("import sys; sys.exit('because')", 1, "because"),
        ("1/0", 1, "ZeroDivisionError"),
        ("def", 1, "SyntaxError"),
        ("print('\\udcff\\u20ac')", 0, ""),
        ("import os; os.kill(os.getpid(), 11)", 139, ""),
    ],
)
def test_a_script_that_fails_says_how(host: Host, text: str, status: int, said: str) -> None:
    output = one(host, script(text))
    assert output.status == status
    assert said in output.stderr


def test_a_script_knows_nothing_of_the_other_commands(host: Host) -> None:
    """It must not hold their pipes, or they would never see an end."""
    text = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd') if int(fd) > 2))"
    outputs = host.answer([Ask("cat", stdin="x" * 200_000), script(text), Ask("sleep", "0.1")])
    assert len(eval(outputs[1].stdout)) == 1, "only the folder it looks into"


def test_a_command_in_the_language_of_the_user_is_asked_in_english(host: Host) -> None:
    assert one(host, Ask("sh", "-c", "echo $LC_ALL")).stdout == "C\n"


def test_commands_leave_the_machine_to_others(host: Host) -> None:
    assert int(one(host, Ask("nice")).stdout) >= min(5, os.nice(0) + 5)


def orphans() -> list[str]:
    """The dead that were handed to this process and that nobody has reaped."""
    found = []
    for path in of_processes("stat"):
        with contextlib.suppress(OSError):
            state, parent, *_ = path.read_text().rpartition(")")[2].split()
            found += [path.parent.name] if (state, parent) == ("Z", str(os.getpid())) else []
    return found


@pytest.fixture
def adopting() -> Iterator[None]:
    """Be to all orphans below what process 1 is in a container: one that never reaps."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(36, 1, 0, 0, 0) == 0, "PR_SET_CHILD_SUBREAPER"
    yield
    prctl(36, 0, 0, 0, 0)


@pytest.mark.usefixtures("adopting")
def test_nothing_dead_is_left_where_nobody_reaps(host: Host) -> None:
    assert one(host, Ask("echo", "x")).stdout == "x\n"
    time.sleep(0.5)
    assert orphans() == []
