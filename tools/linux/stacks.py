"""Stacks of Python threads as py-spy prints them: which function each stands in."""

from __future__ import annotations

import json
import re
from typing import Any

from tools.linux.machine import Process, Processes, Stack, joined_stacks
from tools.linux.quantity import number

# py-spy 0.3 and 0.4: `dump`, `dump --json`, and what is copied from `top`
_PROCESS = re.compile(r"^Process (\d{1,8}): (.*)$")
_VERSION = re.compile(r"^Python v\d+\.\d+")
_THREAD = re.compile(r'^ ?Thread ((?:0x)?[0-9A-Fa-f]{1,16}) \(([a-z+]{2,20})\)(?:: "(.*)")?$')
_FRAME = re.compile(r"^ {4}(\S.{0,300})$")
_TOP = re.compile(r"^Collecting samples from '(.{0,2000}?)' \(python v\d", re.MULTILINE | re.DOTALL)
_SHARES = re.compile(r"^GIL: ([\d.]+)%, Active: ([\d.]+)%, Threads: (\d{1,5})", re.MULTILINE)
_FRAMES = 40  # of one thread; an engine's loop is some ten calls deep
_STACKS = 2000
_TITLE = 200


def is_stacks(text: str) -> bool:
    """Say whether a text holds what py-spy prints."""
    if text.lstrip()[:1] == "[":
        return '"os_thread_id"' in text[:20_000] and '"frames"' in text[:20_000]
    if "Collecting samples from '" in text and _SHARES.search(text):
        return True
    return "\nThread " in text and any(_VERSION.match(line) for line in text[:200_000].split("\n"))


def read_stacks(text: str) -> Processes:
    """Return the stacks of a dump, or the one process that `py-spy top` looks at.

    Raises nothing: what is no stack is passed over.
    """
    if text.lstrip()[:1] == "[":
        return Processes(stacks=_of_json(text))
    return Processes(rows=_of_top(text), stacks=joined_stacks(_of_lines(text)))


def _of_lines(text: str) -> list[Stack]:
    stacks: list[Stack] = []
    pid, title = 0, ""
    for line in text.split("\n"):
        if (process := _PROCESS.match(line)) is not None:
            pid, title = int(process[1]), process[2].strip()[:_TITLE]
        elif (thread := _THREAD.match(line)) is not None and len(stacks) < _STACKS:
            state = thread[2]
            stacks.append(
                Stack(
                    pid=pid,
                    process=title,
                    tid=thread[1],
                    thread=(thread[3] or "")[:_TITLE],
                    active=state.startswith("active"),
                    gil="gil" in state,
                )
            )
        elif (frame := _FRAME.match(line)) is not None and stacks:
            _add(stacks, frame[1])
    return stacks


def _add(stacks: list[Stack], frame: str) -> None:
    if len(stacks[-1].frames) < _FRAMES:
        frames = (*stacks[-1].frames, frame)
        stacks[-1] = stacks[-1].model_copy(update={"frames": frames})


def _of_json(text: str) -> tuple[Stack, ...]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    threads = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return tuple(
        Stack(
            pid=one["pid"] if isinstance(one.get("pid"), int) else 0,
            process=str((one.get("process_info") or {}).get("command_line") or "")[:_TITLE],
            tid=str(one.get("os_thread_id") or ""),
            thread=str(one.get("thread_name") or "")[:_TITLE],
            active=one.get("active") is True,
            gil=one.get("owns_gil") is True,
            frames=tuple(_framed(frame) for frame in (one.get("frames") or ())[:_FRAMES]),
        )
        for one in threads[:_STACKS]
    )


def _framed(frame: dict[str, Any]) -> str:
    file = frame.get("short_filename") or frame.get("filename")
    return f"{frame.get('name')} ({file}:{frame.get('line')})"[:300]


def _of_top(text: str) -> tuple[Process, ...]:
    """Return the process with the share of samples in which a thread of it was at work."""
    titles, shares = _TOP.findall(text), _SHARES.findall(text)
    if not titles or not shares:
        return ()
    title = " ".join(titles[-1].split())[:_TITLE]
    name = title.split(" ")[0].rpartition("/")[2] if "::" not in title else title.split(" ")[0]
    _, active, threads = shares[-1]
    return (Process(pid=0, name=name, command=title, cpu_pct=number(active), threads=int(threads)),)
