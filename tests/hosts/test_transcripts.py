"""A transcript of a shell: split at its prompts, for the questions that do not read it as a whole."""

from __future__ import annotations

import pytest

from tests.hosts.test_files import PROBES
from tools.hosts.files import found as found_module
from tools.hosts.files import read_texts

TRANSCRIPT = """\
some words before
root@gpu-1:~# cat pears
{"pear": 1, "b": 2}
[me@gpu-1 logs]$ curl -s localhost:30000/pears
["pear"]
$ ls
apples
# a comment about pears, which is no prompt
==> /var/log/pears <==
["pear", "pear", "pear"]
"""


def test_a_transcript_is_split_where_it_cannot_be_read_as_a_whole() -> None:
    found = read_texts([("t", TRANSCRIPT.encode())], PROBES)
    assert [(type(one.probe).__name__, one.source) for one in found] == [
        ("ReadApples", "t"),
        ("ReadPears", "t: cat pears"),
        ("ReadPears", "t: curl -s localhost:30000/pears"),
        ("ReadPears", "t: /var/log/pears"),
    ]
    assert [one.probe.read(one.output).count for one in found if one.probe] == [1, 2, 1, 3]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ nvidia-smi -q", "nvidia-smi -q"),
        ("# dmesg | tail", "dmesg | tail"),
        ("root@host:/var/log# journalctl -k", "journalctl -k"),
        ("(venv) me@host:~$ ps aux", "ps aux"),
        ("[root@host ~]# lspci -vv", "lspci -vv"),
        ("==> a.log <==", "a.log"),
        ("# HELP sglang:token_usage The usage", None),
        ("# gpu  rxpci  txpci", None),
        ("# dmidecode 3.6", None),
        ("# nccl-tests version 2.17.6", None),
        ("price: 5$ each", None),
        ("mail@example.org: hello", None),
    ],
)
def test_a_prompt_is_told_from_a_comment(line: str, command: str | None) -> None:
    parts = found_module._sections(f"{line}\nbody\n")
    assert [title for title, _, _ in parts] == ([command] if command else [])
