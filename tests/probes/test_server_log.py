"""The log is read where it lies, by the very script that is sent to a host; only what counts comes back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tools.engine import LogMatches, ServerLog
from tools.errors import Absent, Failed, ProbeError, Unreadable
from tools.host import Command, Output
from tools.probe import Probe
from tools.probes.log_matches import GrepServerLog
from tools.probes.server_log import ReadServerLog

START = (
    "[2026-09-02 06:59:01] Max running requests is reset to 48 for speculative decoding. You can override this.\n"
    "[2026-09-02 06:59:02] server_args=ServerArgs(model_path='/m', tp_size=2, api_key='plain-words-as-key', disable_cuda_graph=False)\n"
    "[2026-09-02 07:00:16] The server is fired up and ready to roll!\n"
)


def decode(number: int, *, graph: bool = True, queue: int = 0) -> str:
    return f"[2026-09-02 {7 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d} TP0] Decode batch, #running-req: 6, #token: {number}, token usage: 0.03, cuda graph: {graph}, gen throughput (token/s): 857.21, #queue-req: {queue}\n"


def run(command: Command, **environment: str) -> Output:
    done = subprocess.run(
        [sys.executable, *command.argv[1:]],
        input=command.stdin.encode(),
        capture_output=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )
    return Output(
        stdout=done.stdout.decode("utf-8", "replace"),
        stderr=done.stderr.decode(),
        status=done.returncode,
    )


def ask(probe: Probe[ServerLog]) -> tuple[ServerLog, str]:
    output = run(probe.command())
    assert not output.stderr
    return probe.parse(probe.clean(output.stdout)), output.stdout


def write(folder: Path, text: str) -> str:
    path = folder / "serve.log"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return str(path)


def test_a_small_log_comes_whole(tmp_path: Path) -> None:
    text = (
        START
        + "".join(decode(at) for at in range(500))
        + '[2026-09-02 07:00:17] INFO:     127.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        * 300
    )
    log, said = ask(ReadServerLog(log_path=write(tmp_path, text)))
    assert (len(log.decode), log.started, log.cut_lines) == (500, True, 300)
    assert log.resolved is not None
    assert log.resolved["tp_size"] == 2
    assert [notice.numbers for notice in log.said("cap")] == [{"max_running": 48.0}]
    assert "plain-words-as-key" not in said
    assert "HTTP/1.1" not in said


def test_the_start_is_found_far_before_the_window(tmp_path: Path) -> None:
    old = START.replace("tp_size=2", "tp_size=1") + decode(1)
    text = old + START + "".join(decode(at, graph=at != 40_000) for at in range(50_000))
    log, said = ask(ReadServerLog(log_path=write(tmp_path, text), window_mb=4))
    assert log.resolved is not None
    assert (log.resolved["tp_size"], log.started) == (2, True)
    assert len(said) < 1_500_000
    assert len(log.decode) < 6000
    assert [line.tokens for line in log.decode if line.graph is False] == [40_000]
    assert [line.tokens for line in log.decode[-1500:]] == list(range(48_500, 50_000))
    assert log.cut_lines > 10_000
    assert len(log.steady()) > 0.9 * len(log.decode)


def test_what_is_unusual_comes_even_when_it_is_old(tmp_path: Path) -> None:
    text = (
        START
        + "".join(decode(at, queue=int(at % 5000 == 17)) for at in range(30_000))
        + "[2026-09-02 09:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.5 -> 0.9\n"
    )
    log, _ = ask(ReadServerLog(log_path=write(tmp_path, text)))
    assert [line.tokens for line in log.decode if line.queued] == [
        17,
        5017,
        10_017,
        15_017,
        20_017,
        25_017,
    ]
    assert log.said("retraction")[0].numbers == {
        "retracted": 1.0,
        "ratio_before": 0.5,
        "ratio_after": 0.9,
    }


def test_repeated_sentences_are_folded_and_prompts_stay_there(tmp_path: Path) -> None:
    text = (
        START
        + "".join(
            f"[2026-09-02 07:01:00] Something odd happened {at} times\n[2026-09-02 07:01:00] Receive: obj=GenerateReqInput(text='my diary')\n"
            for at in range(5000)
        )
        + decode(1)
    )
    log, said = ask(ReadServerLog(log_path=write(tmp_path, text)))
    assert "diary" not in said
    assert said.count("Something odd") == 12
    assert log.cut_lines == 5000 + 4988


def test_a_line_without_end_and_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    path.write_bytes(
        START.encode()
        + b"\xff\xfe\x00"
        + b"x" * 30_000_000
        + b"\n"
        + decode(1).encode()
        + b"Decode batch, #running-req: 1"
        + b", a: b" * 5_000_000
    )
    log, said = ask(ReadServerLog(log_path=str(path)))
    assert len(said) < 700_000
    assert log.decode[0].tokens == 1


def test_a_log_that_grows_without_end_costs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    with path.open("w") as file:
        file.write(START)
        for _ in range(24):
            file.write("".join(decode(at, queue=at % 3) for at in range(40_000)))
    command = ReadServerLog(log_path=str(path), window_mb=200).command()
    watched = command.stdin + "\nsys.stderr.write(open('/proc/self/status').read())\n"
    output = run(command.model_copy(update={"stdin": watched}))
    peak = re.search(r"VmHWM:\s+(\d+) kB", output.stderr)
    assert peak
    assert int(peak[1]) < 100 * 1024
    assert len(output.stdout) < 2_000_000
    assert '"startup_found": true' in output.stdout[:400]
    without_grep = run(command, PATH="/nonexistent")
    assert without_grep.stdout == output.stdout.replace(
        *(
            re.search(r'"searched_bytes": \d+', text)[0]
            for text in (output.stdout, without_grep.stdout)
        )
    )  # type: ignore[index]


def test_only_a_serve_log_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("root:x:0:0:\nsecret plans\n")
    for probe in (
        ReadServerLog(log_path=str(path)),
        GrepServerLog(text="secret", log_path=str(path)),
    ):
        output = run(probe.command())
        assert "plans" not in output.stdout
        with pytest.raises(Absent, match="no line of a serve log"):
            probe.parse(output.stdout)


@pytest.mark.parametrize(
    "probe",
    [
        ReadServerLog(log_path="/nonexistent/serve.log"),
        GrepServerLog(log_path="/nonexistent/serve.log"),
    ],
)
def test_a_log_that_is_not_there_is_absent(probe: Probe[ServerLog] | Probe[LogMatches]) -> None:
    with pytest.raises(Absent, match=r"/nonexistent/serve\.log"):
        probe.read(run(probe.command()))


def test_without_a_server_the_answer_says_so() -> None:
    for probe in (ReadServerLog(port=1), GrepServerLog(port=1)):
        with pytest.raises(ProbeError, match="server"):
            probe.read(run(probe.command()))


def test_other_texts_are_not_taken_for_a_log() -> None:
    probe = ReadServerLog()
    for text in (
        "python3 -m sglang.launch_server --model-path /m --tp 2",
        "vllm serve /m --tensor-parallel-size 2",
        "| NVIDIA-SMI 590.44 Driver Version: 590.44 |\n|   0   N/A  N/A   1234  C   sglang::scheduler_TP0   30000MiB |",
        '{"server_args": {"tp_size": 2}, "version": "0.5.9"}',
        "============ Serving Benchmark Result ============\nSuccessful requests: 16",
        "Sep 05 15:17:44 host kernel: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",
        "1230:            self.disable_piecewise_cuda_graph = True",
        "",
    ):
        assert not probe.recognises(text), text


def test_fragments_of_a_log_are_taken() -> None:
    probe = ReadServerLog()
    for text in (
        "s=None, enable_pdmux=False)\n" + decode(1),
        decode(1)[:-60],
        '{"log":"'
        + decode(1).strip()
        + '\\n","stream":"stderr","time":"2026-09-02T07:00:01.0Z"}\n',
        "sglang-1  | " + decode(1) + "sglang-1  | " + decode(2),
        "2026-07-20T02:06:23.224729512Z stdout F INFO 07-20 02:06:23 [loggers.py:271] Engine 000: Avg prompt throughput: 402.1 tokens/s, Avg generation throughput: 1204.8 tokens/s, Running: 13 reqs, Waiting: 0 reqs",
        "[2026-09-02 07:00:17 TP3] Init torch distributed begin.",
        "sglang serve: error: unrecognized arguments: --no-such-flag",
    ):
        assert probe.recognises(text), text
        probe.parse(text)


def test_text_that_is_no_log_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        ReadServerLog().parse("good morning\n")


def test_a_fixed_text_is_found_newest_last_and_capped(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        START
        + "".join(decode(at) for at in range(300))
        + "[2026-09-02 07:00:17] Finish: obj=GenerateReqInput(text='#token: 5')\n",
    )
    probe = GrepServerLog(text="#token: 2", limit=7, log_path=path)
    matches = probe.parse(run(probe.command()).stdout)
    assert (matches.count, matches.cut, len(matches.lines)) == (111, True, 7)
    assert "#token: 299," in matches.lines[-1]
    assert not any("Finish" in line for line in matches.lines)


def test_a_pattern_is_one_of_grep(tmp_path: Path) -> None:
    path = write(tmp_path, START + "".join(decode(at) for at in range(300)))
    probe = GrepServerLog(text="#token: (7|8),", pattern=True, log_path=path)
    assert probe.parse(run(probe.command()).stdout).count == 2
    fixed = GrepServerLog(text="#token: (7|8),", log_path=path)
    assert fixed.parse(run(fixed.command()).stdout).count == 0


def test_of_a_long_line_the_part_that_matches_is_shown_without_keys(tmp_path: Path) -> None:
    path = write(tmp_path, START.replace("tp_size=2", "x=1, " * 2000 + "tp_size=2"))
    probe = GrepServerLog(text="tp_size", log_path=path)
    output = run(probe.command()).stdout
    assert "tp_size=2" in probe.parse(output).lines[0]
    assert "plain-words-as-key" not in output
    assert len(json.loads(output)["matches"][0]) < 700


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+b",
        "(a|b)*c",
        "(x*)*",
        "a**",
        r"(.)\1",
        "(?=a)b",
        "a{1,900}",
        "(a{2,})+",
        "[a",
        "a\nb",
        "x",
    ],
)
def test_a_dangerous_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        GrepServerLog(text=text, pattern=True)


@pytest.mark.parametrize(
    "text", ["cuda graph: (True|False)", r"#retracted_reqs: [0-9]+", "error|fail", r"bs=\[1, 2\]"]
)
def test_a_plain_pattern_is_taken(text: str) -> None:
    assert GrepServerLog(text=text, pattern=True).text == text


def test_a_rotated_part_completes_the_newer_one() -> None:
    older, newer = ReadServerLog().parse(START), ReadServerLog().parse(decode(1) + decode(2))
    for log in (older.merged(newer), newer.merged(older)):
        assert (len(log.decode), log.started) == (2, True)
        assert log.resolved is not None
    later = ReadServerLog().parse(START.replace("-02 0", "-03 0").replace("tp_size=2", "tp_size=4"))
    both = older.merged(newer).merged(later)
    assert both.resolved is not None
    assert (both.resolved["tp_size"], both.decode, both.runs) == (4, (), 2)


@contextmanager
def server(folder: Path, stdout: Any) -> Iterator[int]:
    """A process that looks like a server and sleeps."""
    package = folder / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text("import time\ntime.sleep(60)\n")
    port = 20_000 + os.getpid() % 20_000
    argv = [sys.executable, "-m", "sglang.launch_server", "--model-path", "/m", "--port", str(port)]
    child = subprocess.Popen(argv, cwd=folder, stdout=stdout, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        yield port
    finally:
        child.kill()
        child.communicate()


def test_the_log_of_a_running_server_is_found_though_its_file_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    with path.open("w") as file, server(tmp_path, file) as port:
        file.write(START + decode(1))
        file.flush()
        path.unlink()
        log, _ = ask(ReadServerLog(port=port))
        assert (len(log.decode), log.started) == (1, True)
        probe = GrepServerLog(text="max_running", port=port)
        assert probe.parse(run(probe.command()).stdout).count == 0


def test_a_pipe_and_a_terminal_keep_nothing_and_the_answer_says_what_to_do(tmp_path: Path) -> None:
    with server(tmp_path, subprocess.PIPE) as port, pytest.raises(Absent, match="pipe"):
        ask(ReadServerLog(port=port))
    terminal, ours = os.openpty()
    (tmp_path / "two").mkdir()
    with server(tmp_path / "two", ours) as port, pytest.raises(Absent, match="terminal"):
        ask(ReadServerLog(port=port))
    os.close(terminal)
    os.close(ours)


@pytest.mark.parametrize("user", ["root", "llm"])
def test_open_files_that_may_not_be_read_are_a_failure_that_says_who_may(
    tmp_path: Path, user: str
) -> None:
    output = faked(tmp_path, ReadServerLog(), log={"kind": "unknown"}, user=user)
    with pytest.raises(Failed, match=r"run as (?:root|llm or root), or name the log's path"):
        ReadServerLog().parse(output.stdout)


def faked(folder: Path, probe: Probe[Any], **said: Any) -> Output:
    """Run a probe's script where the server is told to be in a container or a unit, with programs of ours."""
    command = probe.command()
    told = {"pid": 1, "log": {"kind": "pipe", "path": "pipe:[1]", "fd": 1}, "root": "", "user": "u", "container": None, "container_id": None, "unit": None} | said  # fmt: skip
    first, _, rest = command.stdin.partition('"""Where a server')
    stdin = f'{first}\ndef find_server(port=None):\n    return {told!r}\n"""Where a server{rest}'
    return run(command.model_copy(update={"stdin": stdin}), PATH=f"{folder}:{os.environ['PATH']}")


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)


def test_a_container_is_asked_through_its_runtime(tmp_path: Path) -> None:
    (tmp_path / "start").write_text(START)
    (tmp_path / "tail").write_text("".join(decode(at) for at in range(30)))
    program(tmp_path, "docker", f"""
case "$1 $2" in
  "inspect -f") echo "2026-09-02T06:58:00.1Z /nonexistent-json.log";;
  "logs --since") test "$3" = "2026-09-02T06:58:00.1Z" && cat {tmp_path}/start;;
  "logs --tail") cat {tmp_path}/tail >&2;;
esac
""")  # fmt: skip
    box = {"container": "docker", "container_id": "ab" * 32}
    output = faked(tmp_path, ReadServerLog(), **box)
    log = ReadServerLog().parse(output.stdout)
    assert (len(log.decode), log.started) == (30, True)
    assert '"docker logs abababababab"' in output.stdout
    matches = GrepServerLog().parse(faked(tmp_path, GrepServerLog(text="#token: 2,"), **box).stdout)
    assert matches.count == 1


def test_a_unit_is_asked_through_the_journal(tmp_path: Path) -> None:
    (tmp_path / "start").write_text(START)
    (tmp_path / "tail").write_text("".join(decode(at) for at in range(30)))
    program(tmp_path, "systemctl", "echo 0123456789abcdef0123456789abcdef\n")
    program(tmp_path, "journalctl", f'case "$*" in *INVOCATION*) cat {tmp_path}/start;; *"-u sglang.service") cat {tmp_path}/tail;; esac\n')  # fmt: skip
    output = faked(tmp_path, ReadServerLog(), unit="sglang.service")
    log = ReadServerLog().parse(output.stdout)
    assert (len(log.decode), log.started) == (30, True)


def test_runtimes_that_know_nothing_leave_an_advice(tmp_path: Path) -> None:
    program(tmp_path, "docker", "echo\n")
    program(tmp_path, "podman", "echo\n")
    program(tmp_path, "nerdctl", "echo\n")
    program(tmp_path, "crictl", "exit 1\n")
    output = faked(tmp_path, ReadServerLog(), container="docker", container_id="ab" * 32)
    with pytest.raises(Absent, match="docker logs"):
        ReadServerLog().parse(output.stdout)
