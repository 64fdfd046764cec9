"""Texts that grow until a slow pattern shows: a unit that repeats, and whoever may be given it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from tools.engine.prompts import without_words
from tools.host import Output
from tools.linux.wrappers import unwrap
from tools.probe import Probe
from tools.probes import PROBES
from tools.secrets import scrub

DECODE = "[2026-09-02 07:00:17 TP0] Decode batch, #running-req: 6, #token: 7543, token usage: 0.03, cuda graph: True, gen throughput (token/s): 857.21, #queue-req: 0"


class Repeated(NamedTuple):
    """A head, a unit that stands there so many times, and a tail."""

    unit: str
    times: int
    head: str = ""
    tail: str = ""

    def text(self, share: int = 1) -> str:
        """Return it whole, or with a third of its units for a share of 3."""
        return self.head + self.unit * (self.times // share) + self.tail


def _of(chars: int, *units: str) -> dict[str, Repeated]:
    return {unit: Repeated(unit, chars // len(unit)) for unit in units}


_UNITS = {
    "a line without end": "x", "spaces": " ", "newlines": "\n", "carriage returns": "\r", "escapes": "\x1b[",
    "titles": "\x1b]", "braces": "{", "brackets": "[", "open objects": '{"a":', "open elements": "<nvidia_smi_log><gpu>",
    "heads of batches": "Decode batch, #running-req: ", "arguments": "server_args={'a': ", "quotes": "'",
    "flags": "python -m sglang.launch_server --api-key ", "backslashes": "\\\n", "rows": "|  0  N/A |\n",
    "addresses": "01:00.0 ", "Xids": "NVRM: Xid (PCI:0000:01:00): 79, ", "digits": "1", "anchors": "a: &a [*a, ",
    "prompts": "root@h:~# nvidia-smi\n", "metrics": 'sglang:a{b="', "tracebacks": 'Traceback\n  File "/a/sglang/srt/b.py"\n',
    "wrapped": "2026-01-01T00:00:00.000000000Z stdout P ", "urls": "http://a:", "bars": "\r10%|x | 1/10 [00:01<00:02, 1.0it/s]",
    "torn words": '"content":"', "requests": '{"messages":[', "bidi": "\u202e", "commands": "mysql a curl -u ",
}  # fmt: skip
ANYWHERE = {name: Repeated(unit, 60_000 // len(unit)) for name, unit in _UNITS.items()}

OF_LINUX = {
    "a long line": Repeated("x", 5_000_000),
    "spaces": Repeated(" ", 2_000_000),
    "addresses": Repeated("00:00.0 ", 200_000),
    "paths": Repeated("/sys/", 400_000),
    "heads of tables": Repeated("PID COMMAND %util\n", 50_000),
    "links": Repeated("a", 2_000_000, head="\tLnkCap:\tSpeed "),
    "storms": Repeated(
        "[ 1.000001] pcieport 0000:00:03.0: AER: Corrected error received: 0000:01:00.0\n", 20_000
    ),
    "xids": Repeated("NVRM: Xid (PCI:", 100_000),
    "rates": Repeated("a 1\n", 100_000, head="tok/s\n"),
    "open objects": Repeated('{"rows": [{"a":', 50_000),
    "no UTF-8": Repeated("\ufffd\udcff", 100_000),
    "an array": Repeated("[", 100_000),
}

OF_NVIDIA = {
    "a line of 20 MB": Repeated("x", 20 << 20),
    "20 MB of commas": Repeated("index, ", 3 << 20),
    "20 MB of blanks and colons": Repeated("    a ", 1 << 21, tail=": b"),
    "20 MB of bars": Repeated("| ", 10 << 20),
    "a million short lines": Repeated("| 0 |\n", 1_000_000),
    "escapes": Repeated("\x1b[", 1 << 20),
    "NULs": Repeated("\0", 1 << 20),
    "brackets": Repeated("<", 1 << 20),
    "XML in XML": Repeated("<gpu>", 100_000, head="<?xml version='1.0'?><nvidia_smi_log>"),
    "XML with a doctype that never ends": Repeated("a", 4 << 20, head="<nvidia_smi_log><!DOCTYPE "),
    "names of processes": Repeated("<process_name>a -b", 50_000, head="<nvidia_smi_log>"),
    "a header for each row": Repeated("index\n0\n", 200_000),
    "a report for each line": Repeated(
        "==============NVSMI LOG==============\nGPU 00000000:01:00.0\n    Performance State : P0\n",
        20_000,
    ),
    "a document for each GPU": Repeated(
        "<nvidia_smi_log><gpu id='a'><performance_state>P0</performance_state></gpu></nvidia_smi_log>",
        20_000,
    ),
    "a matrix for each row": Repeated("\tGPU0\tGPU1\nGPU0\tX\tSYS\n", 100_000),
    "readings of one link": Repeated(
        "\t Link 0: Data Tx: 1 KiB\n", 300_000, head="GPU 0: A (UUID: x)\n"
    ),
    "processes of one GPU": Repeated("0 1 x\n", 200_000, head="# gpu pid command\n"),
    "rows of a test": Repeated("8 2 float sum -1 1 1 1 0 1 1 1 0\n", 100_000, head="# nThread 1\n"),
    "channels": Repeated("h:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n", 100_000),
    "hashes": Repeated("# gpu rxpci ", 200_000, head="# gpu "),
}

LINES_OF_A_LOG = {
    "long": Repeated("x", 20_000_000),
    "stamps": Repeated("[2026-09-02 07:00:17] ", 300_000),
    "fields": Repeated("9, a: b", 2_000_000, head=DECODE.rstrip("0")),
    "nested": Repeated("a=[", 3_000_000, head="server_args=ServerArgs("),
    "frames": Repeated(" x\n", 300_000, head="Traceback (most recent call last):\n"),
    "families": Repeated("disable cuda ", 1_000_000),
    "returns": Repeated("\r", 5_000_000),
    "words": Repeated("set ", 2_000_000, head="[2026-09-02 07:00:17] "),
}

DUMPS_OF_ARGUMENTS = {
    "open brackets": Repeated("(", 200_000),
    "open quotes": Repeated("'\\'", 300_000),
    "names": Repeated("a=", 400_000),
    "keys": Repeated("'a': ", 400_000, head="server_args={"),
    "a long word": Repeated("x", 20_000_000),
}

WRAPPED = {
    "a line of 20 MB": Repeated("x", 20_000_000),
    "in JSON": Repeated("x", 20_000_000, '{"log": "', '\\n", "stream": "stderr", "time": "t"}'),
    "open escapes": Repeated("\x1b[", 5_000_000),
    "open titles": Repeated("\x1b]", 5_000_000),
    "open colours": Repeated("[1;", 5_000_000, head="[0m"),
    "braces": Repeated("{", 10_000_000),
    "states": Repeated("\r50%|x", 2_000_000),
}

METRICS = {"open braces": Repeated("{", 2_000_000, "sglang:a", "\nsglang:b 1\n")}

LINES_OF_A_FILE = {
    "spaces after a prompt": Repeated(" ", 3_000_000, "a@b:", "\napple"),
    "brackets": Repeated("(", 2_000_000, tail="\napple"),
    "users": Repeated("a@", 1_500_000, tail="\napple"),
    "prompts": Repeated("$ ", 1_500_000, tail="\napple"),
    "a line of 20 MB": Repeated("x", 20_000_000, tail="\napple"),
}

HALF_SECRETS = _of(
    800_000, "a", "--", 'api_key="', "://a:", "eyJa-", "_token", "Bearer ", "name: ", "-----BEGIN", "mysql a ",
    "curl -u ", "--ap", "token=", '["auth":',
)  # fmt: skip

# Slack takes 40,000 characters, and a message is read before it is acknowledged.
MESSAGES = _of(40_000, "*a ", "_a ", "~ *", "<a|", "```a", "&lt;", "> ", "pass=", "a@")


MOST_TIMES = 20.0  # of a text, that reading it may take in memory; 13 is the most today
GOLDEN = Path(__file__).parent / "golden"
LONGEST = 60_000


@cache
def answers(name: str) -> tuple[str, ...]:
    """Return what hosts answered to a probe, in as many ways as are known."""
    paths = sorted((GOLDEN / name).glob("*.out"))
    texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
    return tuple(text for text in texts if len(text) < LONGEST)


def big_line(name: str, size: int) -> str:
    """Return one line: the longest of the answers to a probe, as if it never ended."""
    line = max((line for text in answers(name) for line in text.splitlines()), key=len) + " "
    return (line * (size // len(line) + 1))[:size]


def big_lines(name: str, size: int) -> str:
    """Return the longest answer to a probe again and again."""
    text = max(answers(name), key=len) + "\n"
    return (text * (size // len(text) + 1))[:size]


Read = Callable[[str], object]


def readings() -> dict[str, Read]:
    """Return all that may be given any text."""
    every: dict[str, Read] = {"unwrap": unwrap, "scrub": scrub, "without_words": without_words}
    for name, kind in PROBES.items():
        probe = kind()
        every[f"{name} recognises"] = probe.recognises
        every[f"{name} reads"] = partial(_read, probe)
    return every


def _read(probe: Probe[Any], text: str) -> object:
    return probe.read(Output(stdout=probe.clean(text)))
