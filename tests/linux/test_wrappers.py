"""What collectors put around a log line comes off; what a program printed stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile_texts import WRAPPED
from tools.linux.wrappers import unwrap

LINES = [
    "[2026-07-04 20:59:20 TP0] Decode batch, #running-req: 1, #token: 137, cuda graph: True",
    'INFO:     192.0.2.81:35262 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    "[2026-07-04 20:59:21 TP0] Prefill batch, #new-seq: 1, #new-token: 103",
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in <module>',
    "[2026-07-04 20:59:22 TP1] Decode batch, #running-req: 2, #token: 139, cuda graph: True",
]
TEXT = "\n".join(LINES) + "\n"

# letters that can make no wrapper, escape or carriage return by themselves
plain_line = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=["Cc", "Cs"],
        exclude_characters="\x85\u2028\u2029{[|\ufeff",
    ),
    max_size=60,
)
log_line = st.sampled_from(LINES) | plain_line.map(lambda text: "[2026-07-04 20:59:20] " + text)


def docker(lines: list[str]) -> str:
    return "".join(
        json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-07-04T20:59:20.1Z"})
        + "\n"
        for line in lines
    )


def cri(lines: list[str]) -> str:
    return "".join(f"2026-07-04T20:59:20.123456789Z stderr F {line}\n" for line in lines)


WRAPPERS = {
    "docker": docker,
    "cri": cri,
    "kubectl": lambda lines: "".join(f"[pod/llm-6c9d/server] {line}\n" for line in lines),
    "compose": lambda lines: "".join(f"sglang-1  | {line}\n" for line in lines),
    "journald": lambda lines: "".join(
        f"Jul 04 20:59:20 gpu01 python3[1877]: {line}\n" for line in lines
    ),
    "journald iso": lambda lines: "".join(
        f"2026-07-04T20:59:20+0200 gpu01 sglang[1]: {line}\n" for line in lines
    ),
    "docker logs -t": lambda lines: "".join(
        f"2026-07-04T20:59:20.123456789Z {line}\n" for line in lines
    ),
    "crlf": lambda lines: "".join(f"{line}\r\n" for line in lines),
    "colours": lambda lines: "".join(f"\x1b[0;36m{line}\x1b[0;0m\n" for line in lines),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_each_wrapper_comes_off_whole(name: str) -> None:
    assert unwrap(WRAPPERS[name](LINES)) == TEXT


@pytest.mark.parametrize("name", WRAPPERS)
@given(lines=st.lists(log_line, min_size=3, max_size=20))
def test_whatever_was_wrapped_comes_out(name: str, lines: list[str]) -> None:
    lines = [LINES[0], *lines]
    assert unwrap(WRAPPERS[name](lines)).split("\n") == [*lines, ""]


@given(st.lists(plain_line, max_size=30).map("\n".join))
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    assert unwrap(text) == text


@given(st.text(st.sampled_from('\x1b[]0m;\r\n{}"log:| abcZ\0#3%/sit1-T.'), max_size=300))
def test_anything_is_survived_and_leaves_no_escape(text: str) -> None:
    out = unwrap(text)
    assert "\x1b" not in out
    assert "\0" not in out


def test_wrappers_nest() -> None:
    nested = "".join(f"sglang-1  | 2026-07-04T20:59:20.123456789Z {line}\n" for line in LINES)
    assert unwrap(nested) == TEXT


def test_long_lines_that_cri_cut_are_joined_in_each_stream() -> None:
    head = "2026-07-04T20:59:20.1Z"
    text = f"{head} stdout P [2026-07-04 20:59:20] server_args=Server\n{head} stderr F other\n{head} stdout F Args(a=1)\n"
    assert unwrap(text).split("\n")[:2] == [
        "other",
        "[2026-07-04 20:59:20] server_args=ServerArgs(a=1)",
    ]


def test_long_lines_that_docker_cut_are_joined() -> None:
    parts = [
        {"log": "aaa", "stream": "stderr", "time": "t"},
        {"log": "bbb\n", "stream": "stderr", "time": "t"},
    ]
    assert unwrap("\n".join(map(json.dumps, parts))) == "aaabbb"


def test_a_logger_that_keeps_the_time_apart_gives_it_back() -> None:
    records = [
        {"asctime": "2026-07-04 20:59:20,123", "levelname": "INFO", "message": f"Decode batch {n}"}
        for n in range(3)
    ]
    assert (
        unwrap("\n".join(map(json.dumps, records))).split("\n")[0]
        == "[2026-07-04 20:59:20] Decode batch 0"
    )


def test_a_kernel_log_keeps_its_time() -> None:
    text = "Aug 20 11:42:07 gpu kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1\nAug 20 11:42:08 gpu kernel: x\n"
    assert unwrap(text) == text


def test_what_systemd_says_of_the_unit_keeps_its_name() -> None:
    text = f"Jul 04 20:59:20 gpu01 systemd[1]: Started sglang.service.\nJul 04 20:59:21 gpu01 python3[7]: {LINES[0]}\n"
    assert (
        unwrap(text) == f"Jul 04 20:59:20 gpu01 systemd[1]: Started sglang.service.\n{LINES[0]}\n"
    )


@pytest.mark.parametrize("text", [
    '{"model":"gemma","messages":[{"role":"user","content":"x"}]}\n',
    '{"tag": null, "backend": "sglang", "duration": 2.7, "completed": 32}\n',
    "FP8/96/96 | 0.57 | 2.45\nrig | a | b\n",
    "sum by (x) (rate(tokens[5m]))\n",
    "a-1 | 3\nb-2 | 4\nc-3 | 5\n",
])  # fmt: skip
def test_other_forms_are_no_wrappers(text: str) -> None:
    assert unwrap(text) == text


def test_of_a_progress_bar_the_last_state_stays() -> None:
    bar = "\rLoading:   0%|          | 0/2 [00:00<?, ?it/s]\rLoading: 100%|██████████| 2/2 [00:01<00:00,  1.9it/s]"
    assert unwrap(bar + "\n") == "Loading: 100%|██████████| 2/2 [00:01<00:00,  1.9it/s]\n"


@pytest.mark.parametrize("glue", ["", "\r"])
def test_a_log_line_behind_a_bar_survives(glue: str) -> None:
    bar = "Capturing: 100%|██████████| 35/35 [00:12<00:00,  2.86it/s]"
    assert LINES[0] in unwrap(f"{bar}{glue}{LINES[0]}\n").split("\n")


def test_a_log_line_before_a_bar_survives() -> None:
    bar = "Loading: 100%|██████████| 2/2 [00:01<00:00,  1.9it/s]"
    assert unwrap(f"{LINES[0]}\r{bar}\n").split("\n") == [LINES[0], bar, ""]


def test_colours_whose_escape_was_lost_go_too() -> None:
    assert unwrap("[36m(APIServer pid=1)[0;0m INFO x\n") == "(APIServer pid=1) INFO x\n"


@pytest.mark.parametrize("name", WRAPPED)
def test_what_stands_after_hostile_text_survives(name: str) -> None:
    bell = "\x07" if name == "open titles" else ""  # a title goes on until it rings
    assert unwrap(f"{WRAPPED[name].text()}{bell}\n{LINES[0]}\n").endswith(f"{LINES[0]}\n")
