"""What collectors put around a log line: docker, CRI, kubectl, compose, journald, JSON loggers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence

from tools.linux.terminal import shown

Strip = Callable[[Sequence[str]], list[str]]

_LOOK = 400  # lines of either end that decide which wrapper a text has
_KUBECTL = re.compile(r"\[pod/[^\]/\s]{1,253}/[^\]\s]{1,253}\] ?")
_COMPOSE = re.compile(r"([A-Za-z0-9][\w.-]{0,127}) {1,64}\| ?")
_NUMBERED = re.compile(r"[-_]\d+$")  # compose numbers the replicas of a service
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z ")  # `docker logs -t`
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_CRI = re.compile(_ISO + r" (stdout|stderr) ([FP])(?:[: ]|$)")
_JOURNAL = re.compile(
    rf"(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_ISO})"
    r" [\w.:-]{1,253} ([^\s\[:]{1,64})(?:\[\d+\])?: ?"
)
_SYSTEM = frozenset({"kernel", "systemd", "systemd-coredump", "systemd-logind", "audit", "CRON"})
_APPLICATION = re.compile(
    r"(?:\([^()\n]{1,64}\) )?(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"
    r"|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|server_args=|Traceback \(most recent)"
)
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "textPayload", "line", "event")
_BESIDE_KEYS = frozenset({
    "stream", "time", "timestamp", "@timestamp", "ts", "asctime", "__REALTIME_TIMESTAMP", "level",
    "levelname", "severity", "logger", "name", "kubernetes", "container_name",
})  # fmt: skip
_TIME_KEYS = ("asctime", "timestamp", "time", "@timestamp", "ts")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")


def unwrap(text: str) -> str:
    """Return the lines as the program printed them, without what collectors put around them.

    Escapes, CRLF, NULs and progress bars go too. A plain text stays as it is, and so do kernel
    logs: their time belongs to them. Linear in the length of the text; raises nothing.
    """
    text = shown(text)
    lines = text.split("\n")
    for _ in range(4):  # wrappers nest: compose around a time stamp around JSON
        strip = _wrapper(lines)
        if strip is None:
            break
        lines = shown("\n".join(strip(lines))).split("\n")
    return "\n".join(lines)


def _wrapper(lines: Sequence[str]) -> Strip | None:
    ends = lines if len(lines) <= 2 * _LOOK else [*lines[:_LOOK], *lines[-_LOOK:]]
    look = [line for line in ends if line.strip()]
    if not look:
        return None
    for fits, strip in _WRAPPERS:
        if fits(look):
            return strip
    return None


def _mostly(pattern: re.Pattern[str], look: Sequence[str]) -> bool:
    return 5 * sum(1 for line in look if pattern.match(line)) >= 4 * len(look)


def _dropping(pattern: re.Pattern[str]) -> Strip:
    def strip(lines: Sequence[str]) -> list[str]:
        return [line[found.end() :] if (found := pattern.match(line)) else line for line in lines]

    return strip


def _is_kubectl(look: Sequence[str]) -> bool:
    return _mostly(_KUBECTL, look)


def _is_compose(look: Sequence[str]) -> bool:
    heads = [found for line in look if (found := _COMPOSE.match(line))]
    if not heads or 5 * len(heads) < 4 * len(look):
        return False
    names = {head[1] for head in heads}
    if len(heads) >= 3 and 3 * len(names) <= len(heads):  # a table has another name in each row
        return True
    bodies = any(_APPLICATION.match(head.string, head.end()) for head in heads)
    return bodies and all(_NUMBERED.search(name) for name in names)


def _is_stamped(look: Sequence[str]) -> bool:
    return _mostly(_STAMP, look) and not _mostly(_CRI, look) and not _mostly(_JOURNAL, look)


def _is_cri(look: Sequence[str]) -> bool:
    return _mostly(_CRI, look)


def _is_journal(look: Sequence[str]) -> bool:
    if 2 * sum(1 for line in look if _JOURNAL.match(line)) < len(look):
        return False
    said = [found for line in look if (found := _JOURNAL.match(line))]
    if any(found[1] == "kernel" for found in said):
        return False
    return any(
        found[1] not in _SYSTEM and _APPLICATION.match(found.string, found.end()) for found in said
    )


def _strip_journal(lines: Sequence[str]) -> list[str]:
    kept = []
    for line in lines:
        found = _JOURNAL.match(line)
        kept.append(line[found.end() :] if found and found[1] not in _SYSTEM else line)
    return kept


def _joined(parts: Iterable[tuple[str, str, bool]]) -> list[str]:
    """Join the parts of long lines, a stream by itself: (stream, text, whether the line ends)."""
    whole: list[str] = []
    waiting: dict[str, list[str]] = {}
    for stream, text, ends in parts:
        if not ends:
            waiting.setdefault(stream, []).append(text)
        elif stream in waiting:
            whole.append("".join([*waiting.pop(stream), text]))
        else:
            whole.append(text)
    return whole + ["".join(texts) for texts in waiting.values()]


def _strip_cri(lines: Sequence[str]) -> list[str]:
    def parts() -> Iterable[tuple[str, str, bool]]:
        for line in lines:
            found = _CRI.match(line)
            if found is None:
                yield "", line, True
            else:
                body = line[found.end() :]
                if line[found.end() - 1 : found.end()] == ":":  # tags after the F or P
                    body = body.partition(" ")[2]
                yield found[1], body, found[2] == "F"

    return _joined(parts())


def _record(line: str) -> dict[str, object] | None:
    """Return the logger's record that a line holds, if it is one and not some other JSON."""
    if not line.startswith("{") or not line.rstrip().endswith("}"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or _BESIDE_KEYS.isdisjoint(said):
        return None
    return said if any(isinstance(said.get(key), str) for key in _MESSAGE_KEYS) else None


def _is_json(look: Sequence[str]) -> bool:
    objects = sum(1 for line in look if line.startswith("{"))
    return 5 * objects >= 4 * len(look) and 2 * sum(1 for line in look if _record(line)) >= len(
        look
    )


def _message(record: dict[str, object]) -> str:
    """Return what was logged; a logger that kept the time in a field of its own gets it back."""
    key = next(key for key in _MESSAGE_KEYS if isinstance(record.get(key), str))
    said = str(record[key])
    if key == "log" or _APPLICATION.match(said):
        return said
    when = next(
        (found for key in _TIME_KEYS if (found := _TIME.match(str(record.get(key, ""))))), None
    )
    return f"[{when[1]} {when[2]}] {said}" if when else said


def _strip_json(lines: Sequence[str]) -> list[str]:
    records = [(line, _record(line)) for line in lines]
    said = [
        (str(record.get("stream", "")), _message(record)) if record else ("", line)
        for line, record in records
    ]
    # docker ends each whole line with a newline and cuts long ones at 16 KiB; others strip it
    ending = any(
        record and text.endswith("\n") for (_, record), (_, text) in zip(records, said, strict=True)
    )

    def parts() -> Iterable[tuple[str, str, bool]]:
        for (stream, text), (_, record) in zip(said, records, strict=True):
            yield (
                stream,
                text.removesuffix("\n"),
                text.endswith("\n") or not ending or record is None,
            )

    return _joined(parts())


_WRAPPERS: tuple[tuple[Callable[[Sequence[str]], bool], Strip], ...] = (
    (_is_kubectl, _dropping(_KUBECTL)),
    (_is_compose, _dropping(_COMPOSE)),
    (_is_cri, _strip_cri),
    (_is_json, _strip_json),
    (_is_stamped, _dropping(_STAMP)),
    (_is_journal, _strip_journal),
)
