"""Forms that are known and that no rule decides by: what each was read as, and what would help more."""

from __future__ import annotations

import re

READ_AS = "read as "  # how such a sentence begins
_LOOK = 1 << 16
_M = re.MULTILINE
_TOP = "`top -b -H -n 2 -w 200` as text"
# pattern, the program, what it tells, what would be of more use
_FORMS: tuple[tuple[re.Pattern[str], str, str, str], ...] = (
    (
        re.compile(
            r"^ {0,4}PerfTop: +\d+ irqs/sec|^Samples: [\d.]+[KMG]? +of event '|^# Overhead +(?:Command|Shared)",
            _M,
        ),
        "`perf top` or `perf report`",
        "which functions burn CPU",
        "`py-spy dump --pid PID` of the busy process tells where the engine stands.",
    ),
    (
        re.compile(r"^CONTAINER ID +NAME +CPU % +MEM USAGE / LIMIT", _M),
        "`docker stats`",
        "CPU and memory of containers at one moment",
        "`docker inspect NAME` has the limits, and `cat /sys/fs/cgroup/cpu.stat` twice tells whether they bite.",
    ),
    (
        re.compile(r"^CONTAINER ID +IMAGE +COMMAND +CREATED", _M),
        "`docker ps`",
        "which containers run",
        "`docker inspect NAME` of the server's has its arguments and limits.",
    ),
    (
        re.compile(
            r"^(?:NAMESPACE +)?NAME +(?:READY +STATUS +RESTARTS|CPU\(cores\) +MEMORY\(bytes\))", _M
        ),
        "`kubectl get pods` or `kubectl top`",
        "which pods run, and what they use",
        "`kubectl get pod NAME -o yaml` has the arguments and limits.",
    ),
    (
        re.compile(
            r"^\S.{2,30}? +(?:Inodes|I-uzl\S*|Inœuds|I-nodos) +\S*I\S*(?: +\S+)+$|^文件系统 +Inodes ",
            _M,
        ),
        "`df -i`",
        "how many files a file system still takes",
        "`df -h` shows /dev/shm and what is full.",
    ),
    (
        re.compile(
            r"^policy: (?:default|bind|interleave|preferred|local)\b[^\n]*\npreferred node: ", _M
        ),
        "`numactl --show`",
        "the memory policy of the shell that asked",
        "`numastat -p PID` of each rank tells where the server's memory lies.",
    ),
    (
        re.compile(r"^NAME +MAJ:MIN +RM +SIZE ", _M),
        "`lsblk`",
        "which disks there are",
        "`iostat -xy 1 5` while the weights load tells whether one of them is the limit.",
    ),
    (
        re.compile(r"^(?:Netid +)?State +Recv-Q +Send-Q +Local Address:Port", _M),
        "`ss`",
        "which ports are open",
        "the end of the server's log names the port that it could not have.",
    ),
    (
        re.compile(r"^\d{1,3}: [\w.@-]{1,40}: <[A-Z_,-]{2,120}> mtu \d+", _M),
        "`ip addr` or `ip link`",
        "which network cards are up",
        "`ibstat`, and the server's log with NCCL_DEBUG=INFO, tell what NCCL can use.",
    ),
    (
        re.compile(r"[┌╭][─┐╮]?[^\n]{0,20}(?:¹|cpu|menu|preset)", re.IGNORECASE),
        "`btop`",
        "what its screen shows, drawn in boxes",
        f"{_TOP} can be read.",
    ),
    (
        re.compile(r"^ {0,4}(?:\d{1,3}|Mem|Swp) ?\[[|#* ]{2,120}[\d.,%/KMGT]{2,24}\]", _M),
        "`htop`",
        "the bars of its screen, without the table below them",
        f"{_TOP} can be read.",
    ),
    (
        re.compile(r"^(?:# (?:HELP|TYPE) )?node_[a-z]\w{2,60}[ {]", _M),
        "a page of node_exporter",
        "counters of CPU, memory and pressure since the machine was started",
        "`vmstat 1 5` and `cat /proc/pressure/*` twice under load tell what happens now.",
    ),
    (
        re.compile(r"\A\s*\d{1,9}\s*\Z"),
        "a number alone",
        "nothing, as long as its command is not told",
        "Put the line with the command above it: `$ nproc`.",
    ),
)


def known_form(text: str) -> str:
    """Return a sentence that says what a text was read as; empty where it is of no known form."""
    look = text[:_LOOK]
    for pattern, program, tells, instead in _FORMS:
        if pattern.search(look):
            return f"{READ_AS}{program}: {tells}. No rule decides by it; {instead[0].lower()}{instead[1:]}"
    return ""
