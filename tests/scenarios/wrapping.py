"""What collectors and terminals do to a log, done on purpose: the same lines in each wrapper."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

Wrap = Callable[[str], str]
AT = "2026-09-02T07:00:{:02d}.{:09d}Z"


def docker_json(text: str) -> str:
    """Docker's json-file driver: one object a line, long lines cut at 16 KiB."""
    out = []
    for number, line in enumerate(text.splitlines()):
        pieces = [line[at : at + 16384] for at in range(0, len(line), 16384)] or [""]
        for last, piece in enumerate(pieces, start=1):
            said = piece + ("\n" if last == len(pieces) else "")
            out.append(json.dumps({"log": said, "stream": "stderr", "time": _at(number)}))
    return "\n".join(out) + "\n"


def docker_stamped(text: str) -> str:
    """`docker logs -t`."""
    return _each(text, lambda number, line: f"{_at(number)} {line}")


def cri(text: str) -> str:
    """containerd's files under /var/log/pods."""
    return _each(text, lambda number, line: f"{_at(number)} stderr F {line}")


def kubectl(text: str) -> str:
    """`kubectl logs --prefix`."""
    return _each(text, lambda _, line: f"[pod/llm-0/engine] {line}")


def compose(text: str) -> str:
    """`docker compose logs`, without colours."""
    return _each(text, lambda _, line: f"engine-1  | {line}")


def journal(text: str) -> str:
    """`journalctl -u`."""
    return _each(text, lambda _, line: f"Sep 02 07:00:01 host llm[4711]: {line}")


def journal_iso(text: str) -> str:
    """`journalctl -u -o short-iso`."""
    return _each(text, lambda _, line: f"2026-09-02T07:00:01+0200 host llm[4711]: {line}")


def logger_json(text: str) -> str:
    """A JSON logger that keeps level and time in fields of their own."""
    return _each(
        text,
        lambda number, line: json.dumps({"ts": _at(number), "level": "info", "message": line}),
    )


def coloured(text: str) -> str:
    """A terminal's colours at the start of each line."""
    return _each(text, lambda _, line: f"\x1b[32m{line[:24]}\x1b[0m{line[24:]}")


def crlf(text: str) -> str:
    """A file that went over Windows."""
    return "\ufeff" + text.replace("\r\n", "\n").replace("\n", "\r\n")


def progress(text: str) -> str:
    """Progress bars that end in a carriage return before every twentieth line."""
    bar = "".join(
        f"\rLoading safetensors checkpoint shards: {at:3d}% Completed" for at in (0, 50, 100)
    )
    return _each(text, lambda number, line: line if number % 20 else f"{bar}\r\n{line}")


def nested(text: str) -> str:
    """Compose around docker's time stamps."""
    return compose(docker_stamped(text))


def cut_lines(text: str) -> str:
    """A window that begins and ends in the middle of a line."""
    lines = text.splitlines()
    middle = len(lines[-1]) // 2
    return "\n".join([lines[-1][middle:], *lines, lines[-1][:middle]])


WRAPS: dict[str, Wrap] = {
    one.__name__: one
    for one in (
        docker_json, docker_stamped, cri, kubectl, compose, journal, journal_iso, logger_json, coloured, crlf, progress, nested, cut_lines,
    )
}  # fmt: skip


def shuffled(texts: list[tuple[str, bytes]], seed: int) -> list[tuple[str, bytes]]:
    """Return the files in another order, under names that tell nothing."""
    chance = random.Random(seed)
    order = list(texts)
    chance.shuffle(order)
    names = chance.sample(range(1000, 9999), len(order))
    return [(f"{name}.txt", data) for name, (_, data) in zip(names, order, strict=True)]


def _each(text: str, form: Callable[[int, str], str]) -> str:
    return "\n".join(form(number, line) for number, line in enumerate(text.splitlines())) + "\n"


def _at(number: int) -> str:
    return AT.format(number // 50 % 60, number % 50 * 20_000_000)
