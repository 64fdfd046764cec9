"""Processes as our script tells them, and as top, ps, pidstat and numastat print them."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.machine import Process, Processes
from tools.linux.process_table import columns_of, read_row
from tools.linux.quantity import number
from tools.linux.stacks import read_stacks
from tools.linux.transcript import Section, sections

Told = dict[str, Any]
# wholly idle it is "0.0 ni,100.0 id"; in German it begins with "%CPU(s):", in Swedish with "%Cpu/er:"
_CPU = r"^%?C(?:pu|PU)(?:\(s\)|/er)?: {0,4}"
_IDLE = re.compile(_CPU + r".{0,60}?(\d{1,3}(?:[.,]\d{1,2})?)[ %]?\s?id", re.MULTILINE)
_STEAL = re.compile(_CPU + r".{0,110}?(\d{1,3}(?:[.,]\d{1,2})?)[ %]?\s?st", re.MULTILINE)
_LOAD = re.compile(r"^top - .{0,120}?load average: +(\d+[.,]\d+)", re.MULTILINE)
_AGAIN = re.compile(r"^top - ", re.MULTILINE)
_ONE = re.compile(
    r"^Per-node process memory usage \(in MBs\) for PID (\d+) \(([^)\n]{1,40})\)", re.MULTILINE
)
_MANY = re.compile(r"^Per-node process memory usage \(in MBs\)$", re.MULTILINE)
_NODES = re.compile(r"Node (\d+)")
_NUMA_ROW = re.compile(r"^(\d+) \(([^)\n]{1,40})\)? +([\d. ]+)$", re.MULTILINE)
_PRIVATE = re.compile(r"^Private +([\d. ]+)$", re.MULTILINE)


def read_script(said: Told) -> Processes:
    """Return what our script counted."""
    rows = []
    for told in said.get("rows") or ():
        known = {
            name: value
            for name, value in told.items()
            if name in Process.model_fields and value is not None
        }
        rows.append(Process(**known))
    return Processes(rows=tuple(rows), idle_pct=said.get("idle_pct"), load1=said.get("load1"))


def read_processes_text(text: str) -> Processes:
    """Return the rows of whatever tables a text holds; of several turns of top the last."""
    turns = list(_AGAIN.finditer(text))
    if len(turns) > 1:
        text = text[turns[-1].start() :]
    found = Processes()
    for part in sections(text):
        found = found.merged(Processes(rows=_table(part)))
    found = found.merged(Processes(rows=_numastat(text))).merged(read_stacks(text))
    idle, steal, load = (pattern.search(text) for pattern in (_IDLE, _STEAL, _LOAD))
    return found.merged(
        Processes(
            idle_pct=number(idle[1]) if idle else None,
            steal_pct=number(steal[1]) if steal else None,
            load1=number(load[1]) if load else None,
        )
    )


def _table(part: Section) -> tuple[Process, ...]:
    columns = (
        columns_of(part.title) if part.title else None
    )  # `ps -o` names them, a grep drops the head
    rows: dict[int, Process] = {}
    for line in part.lines:
        line = line[:4000]
        if (head := columns_of(line)) is not None:
            columns = head
        elif columns is not None and (row := read_row(columns, line)) is not None:
            rows[row.pid] = rows[row.pid].merged(row) if row.pid in rows else row
    return tuple(rows.values())


def _numastat(text: str) -> tuple[Process, ...]:
    rows: list[Process] = []
    singles = list(_ONE.finditer(text))
    for at, single in enumerate(singles):
        end = singles[at + 1].start() if at + 1 < len(singles) else len(text)
        body = text[single.end() : end]
        nodes, private = _NODES.findall(body), _PRIVATE.search(body)
        if private is not None:
            rows.append(
                Process(pid=int(single[1]), name=single[2], numa_mib=_by_node(nodes, private[1]))
            )
    if (many := _MANY.search(text)) is not None:
        nodes = _NODES.findall(text[many.end() : many.end() + 4000].split("\n---")[0])
        for pid, name, values in _NUMA_ROW.findall(text[many.end() :]):
            rows.append(Process(pid=int(pid), name=name, numa_mib=_by_node(nodes, values)))
    return tuple(rows)


def _by_node(nodes: list[str], values: str) -> dict[str, float]:
    mib = [float(word) for word in values.split() if number(word) is not None]
    return dict(zip(nodes, mib, strict=False))  # the total comes last
