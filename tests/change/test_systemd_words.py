"""Command lines are taken apart and written as systemd itself reads them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.change.engine import on_host

WORDS = on_host("systemd_words")
SYSTEMD = next(
    (path for path in ("/lib/systemd/systemd", "/usr/lib/systemd/systemd") if Path(path).exists()),
    "",
)
LINE = "/usr/bin/python3 -m sglang.launch_server --model-path '/a b' $MORE --old 3 --tp ${TP} --x \"y\\x41\""
HARD = [
    "a \"b\" $HOME ${X} 100% %i \\n 'c' ; d",
    ";",
    "",
    "tab\there",
    "ü€",
    '{"k": [1, "v"]}',
    "\\",
    "~!#&*()|<>`",
]
NOBODY = 65534


def texts(line: str) -> list[str]:
    return [word.text for word in WORDS["words_of"](line)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that nobody may enter who is not nobody: systemd reads it as a user without rights."""
    made = Path(tempfile.mkdtemp(prefix="perfsleuth-units"))
    if os.getuid() == 0:
        os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def as_systemd_reads(folder: Path, line: str) -> list[str]:
    """Let systemd itself read a unit with this line; nothing is started, and it runs without rights."""
    unit = folder / "q.service"
    unit.write_text(
        f"[Unit]\nDefaultDependencies=no\n[Service]\nExecStart={line}\n", encoding="utf-8"
    )
    unit.chmod(0o644)
    done = subprocess.run(
        [SYSTEMD, "--test", "--user", "--unit=q.service"], capture_output=True, text=True, check=False, timeout=60,
        env={"SYSTEMD_UNIT_PATH": str(folder), "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "SYSTEMD_GENERATOR_PATH": "/nonexistent"},
        **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}),
    )  # fmt: skip
    found = re.search(r"Command Line: (.*)", done.stdout)
    if not found:
        pytest.skip(f"this systemd reads no unit here: {done.stderr[-200:]}")
    words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', found[1])
    return [
        ast.literal_eval(re.sub(r"\\([$`])", r"\1", word)) if word[0] == '"' else word
        for word in words
    ]


@pytest.mark.skipif(not SYSTEMD, reason="systemd is not installed")
def test_systemd_hands_on_the_words_that_were_meant(folder: Path) -> None:
    line = WORDS["line_without"](LINE, {6, 7}, HARD)
    read = as_systemd_reads(folder, line)
    assert read[: -len(HARD)] == [
        "/usr/bin/python3", "-m", "sglang.launch_server", "--model-path", "/a b", "$MORE", "--tp", "${TP}", "--x", "yA"
    ]  # fmt: skip
    assert [
        word.replace("$$", "$") for word in read[-len(HARD) :]
    ] == HARD  # that last step it takes when it starts


@pytest.mark.skipif(not SYSTEMD, reason="systemd is not installed")
@pytest.mark.parametrize(
    "line",
    [
        LINE,
        '/bin/x a\'b c\'d "e\\"f" g\\ h',
        "/bin/x  'it''s'\t\"\"",
        "/bin/x \\x41\\u00e9 \\101 a\\sb",
    ],
)
def test_our_reader_and_systemds_agree(folder: Path, line: str) -> None:
    assert [word.text for word in WORDS["words_of"](line)] == as_systemd_reads(folder, line)


def test_words_with_variables_and_specifiers_are_not_literal() -> None:
    words = WORDS["words_of"]("/bin/x $A ${B}c %i 50%% $$D d")
    assert [word.literal for word in words] == [True, False, False, False, True, True, True]
    assert texts("/bin/x 50%% $$D") == ["/bin/x", "50%", "$D"]


def test_an_empty_line_takes_back_what_came_before_and_continuations_are_joined() -> None:
    vendor = "[Unit]\nExecStart=no\n[Service]\nExecStart=/bin/old\n"
    ours = "[Service]\nExecStart=\nExecStart=/bin/new --a \\\n# a comment\n  --b \\\n  c\n"
    (line,) = WORDS["exec_starts"]([vendor, ours])
    assert texts(line) == ["/bin/new", "--a", "--b", "c"]


@pytest.mark.parametrize("line", ["/bin/x 'open", "/bin/x a ; /bin/y"])
def test_what_is_no_single_command_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        WORDS["words_of"](line)


def test_what_is_not_edited_stays_as_it_was_written() -> None:
    assert WORDS["line_without"](LINE, {6, 7}, []) == LINE.replace(" --old 3", "")


def test_behind_a_colon_a_dollar_stands_for_itself() -> None:
    assert WORDS["line_without"](":/bin/x", set(), ["$A b"]) == ':/bin/x "$A b"'
    assert WORDS["line_without"]("/bin/x", set(), ["$A b"]) == '/bin/x "$$A b"'
