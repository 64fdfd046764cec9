"""Lines of a serve log that hold what users wrote: they are not kept, and nothing is read in them.

`--log-requests` of SGLang (all versions: `Receive: obj=`, `Finish: obj=`; JSON events), `Received
request` of vLLM, and the grammars that a user sent and the engine could not compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from tools.secrets import scrub

_LOOK = 2000  # characters of a line in which its kind shows
_PRIVATE = re.compile(
    r"\b(?:Receive|Finish)\w{0,3}:? .{0,60}\bobj=|\"event\": ?\"request\.|\bReceived? (?:openai )?request\b"
    r"|Hit invalid (?:ebnf|json|regex|structural)|\binput_ids=\[|\bprompt(?:_token_ids)?[=:] ?[\['\"]|\btext='"
)
_CLOSED = frozenset(")}]'\",;.")
_RECORD = re.compile(
    r"\W{0,3}(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)|INFO|WARNING|ERROR|DEBUG|\{|\(\w+ pid="
)
_WORDS = re.compile(
    r"(\\{0,4}\"(?:content|text|prompt|input|query|output|output_text|generated_texts?|reasoning_content)"
    r"\\{0,4}\"\s{0,4}:\s{0,4}\[?\s{0,4}\\{0,4}\")(?:[^\"\\\n]|\\[^\n])*+"
)
_SIGNS = ("obj=", "request", "Hit invalid", "input_ids=", "prompt", "text='")


def is_private(line: str) -> bool:
    """Say whether a line of a log holds what a user wrote."""
    head = line[:_LOOK]
    return (
        any(sign in head for sign in _SIGNS)
        and "server_args=" not in head
        and bool(_PRIVATE.search(head))
    )


def cleaned(text: str) -> str:
    """Return a log without prompts and without what has the shape of a secret.

    Traffic lines are most of a log and hold figures alone; they are let through as they are.
    """
    lines: Iterable[str] = text.split("\n")
    if any(sign in text for sign in _SIGNS):
        lines = _public(lines)
    runs = groupby(lines, key=lambda line: " batch" in line)
    return "\n".join(
        "\n".join(map(_scrubbed, run)) if traffic else scrub("\n".join(run))
        for traffic, run in runs
    )


def without_words(text: str) -> str:
    """Return a text that nobody knows, cleaned, and without what JSON calls a prompt or an answer."""
    return cleaned(_WORDS.sub(r"\1<dropped>", text) if '"' in text else text)


def _public(lines: Iterable[str]) -> Iterator[str]:
    """Leave out private lines, and what follows one that breaks off in the middle of a text."""
    open_ = False
    for line in lines:
        if is_private(line):
            open_ = line.rstrip()[-1:] not in _CLOSED
        elif not open_ or _RECORD.match(line):
            open_ = False
            yield line


def _scrubbed(line: str) -> str:
    if _FIGURES.fullmatch(line):
        return line
    # in a wrapper of JSON: "#new-token: 103" has the shape of a secret and is none
    return scrub(line.replace("-token: ", _COUNTED)).replace(_COUNTED, "-token: ")


_COUNTED = "-t\u2063k: "
_FIGURES = re.compile(
    r"[\w\[\-: .|/]{0,120}\]? ?(?:Decode|Prefill) batch[\w\[\] #.,:()/%+-]{0,900}\r?"
)
