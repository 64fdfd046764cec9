"""Texts of forms that no rule decides by are named, and say what would help more."""

from __future__ import annotations

import pytest

from bot.narrator.looks import look
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.hosts.files.forms import READ_AS, known_form
from tools.probes import PROBES

PERF = """Samples: 12K of event 'cycles', 4000 Hz, Event count (approx.): 8123412341 lost: 0/0 drop: 0/0
Overhead  Shared Object          Symbol
  31.22%  libcuda.so.570.133.20  [.] 0x00000000002d1f3a
"""
STATS = """CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O       BLOCK I/O        PIDS
3f1c0e9d8a77   sglang    812.41%   57.9GiB / 251.5GiB    23.02%    1.2GB / 9GB   88.1GB / 4.1kB   412
"""
BTOP = "╭─┐¹cpu┌─┐menu┌─┐preset *┌──────────┐09:12:44┌────╮\n│ ▁▂▃▅▆█\n"
SHOW = "policy: default\npreferred node: current\nphyscpubind: 0 1 \ncpubind: 0 \nnodebind: 0 \nmembind: 0 \n"
INODES = {
    "en": "Filesystem      Inodes IUsed   IFree IUse% Mounted on\n/dev/vda1      3085456 91234 2994222    3% /\n",
    "cs": "Souborový systém  I-uzlů IUžito  IVolno IUži% Připojeno do\nshm              3085456      1 3085455    1% /dev/shm\n",
    "fr": "Sys. de fichiers  Inœuds IUtil.  ILibre IUti% Monté sur\nshm              3085456      1 3085455    1% /dev/shm\n",
}
HTOP = "  0[||||100.0%]   8[||   6.5%]   Tasks: 64, 213 thr; 3 running\nMem[||||41.2G/251G]   Uptime: 12 days\n"


@pytest.mark.parametrize(("text", "program"), [
    (PERF, "`perf top`"), (STATS, "`docker stats`"), (BTOP, "`btop`"), (SHOW, "`numactl --show`"), (HTOP, "`htop`"),
    ("128\n", "a number alone"), (INODES["en"], "`df -i`"), (INODES["cs"], "`df -i`"), (INODES["fr"], "`df -i`"),
    ("NAME       READY   STATUS    RESTARTS   AGE\nsglang-0   1/1     Running   0          3h\n", "`kubectl get pods`"),
    ("NAME        MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS\nnvme0n1     259:0    0  1.8T  0 disk\n", "`lsblk`"),
])  # fmt: skip
def test_a_known_form_is_named_and_never_called_unknown(text: str, program: str) -> None:
    (one,) = read_texts([("given", text.encode())], PROBES)
    assert one.probe is None
    assert one.trouble.startswith(READ_AS + program)
    assert "No rule decides by it" in one.trouble
    assert len(one.trouble) < 240


def test_the_look_says_what_it_was_read_as() -> None:
    (one,) = read_texts([("stats.txt", STATS.encode())], PROBES)
    lines = list(look(read_back(1, None, one.source, one.output, one.trouble), of_file=True))
    assert lines[0].text == "stats.txt: of a form that no rule decides by"
    assert "`docker inspect NAME`" in lines[1].text


def test_what_is_of_no_known_form_stays_unknown() -> None:
    assert known_form("hello\n") == ""
    (one,) = read_texts([("x", b"hello\n")], PROBES)
    assert one.trouble == "no probe recognises this text"


def test_a_number_below_its_command_is_read() -> None:
    (one,) = read_texts([("x", b"$ nproc\n128\n")], PROBES)
    assert type(one.probe).__name__ == "ReadMachine"
