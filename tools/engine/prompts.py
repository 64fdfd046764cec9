"""Lines of a serve log that hold what users wrote: they are not kept, and nothing is read in them.

`--log-requests` of SGLang (all versions: `Receive: obj=`, `Finish: obj=`; JSON events), `Received
request` of vLLM, and the grammars that a user sent and the engine could not compile.
"""

from __future__ import annotations

import re

from tools.secrets import scrub

_LOOK = 2000  # characters of a line in which its kind shows
_PRIVATE = re.compile(
    r"\b(?:Receive|Finish)\w{0,3}:? .{0,60}\bobj=|\"event\": ?\"request\.|\bReceived? (?:openai )?request\b"
    r"|Hit invalid (?:ebnf|json|regex|structural)|\binput_ids=\[|\bprompt(?:_token_ids)?[=:] ?[\['\"]|\btext='"
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
    return "\n".join(_scrubbed(line) for line in text.split("\n") if not is_private(line))


def _scrubbed(line: str) -> str:
    if " batch" not in line:
        return scrub(line)
    if _FIGURES.fullmatch(line):
        return line
    # in a wrapper of JSON: "#new-token: 103" has the shape of a secret and is none
    return scrub(line.replace("-token: ", _COUNTED)).replace(_COUNTED, "-token: ")


_COUNTED = "-t\u2063k: "
_FIGURES = re.compile(
    r"[\w\[\-: .|/]{0,120}\]? ?(?:Decode|Prefill) batch[\w\[\] #.,:()/%+-]{0,900}\r?"
)
