"""Text of hosts, files and people as a model may read it: marked as data, capped, and defused."""

from __future__ import annotations

import re
from secrets import token_hex

from tools.harmless import harmless
from tools.secrets import scrub

LINE = 400  # characters of one line
CUT = "[…]"

# What chat templates read as the end of one speaker and the begin of another. A server that we ask
# may run such a template over text, so these never reach it whole. Taken from the templates of
# Qwen, Llama, DeepSeek, Gemma, Mistral, GLM, Kimi and gpt-oss.
_OPENERS = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>"
    r"|<(?=/?(?:s|sys|system|user|assistant|tool|bos|eos|think|tools?|tool_\w{1,20}|function\w{0,12}"
    r"|start_of_turn|end_of_turn|start_header_id|end_header_id|unused\d{1,3}|invoke|parameter)\b)"
    r"|<(?=<SYS>>|</SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|gMASK|sMASK|SEP)\])",
    re.IGNORECASE,
)


class Fence:
    """One boundary that nobody outside can know; a new one for each conversation."""

    def __init__(self, boundary: str = "") -> None:
        self.boundary = boundary or token_hex(4)

    def around(self, name: str, text: str, most: int) -> str:
        """Return a text as a marked block of at most about `most` characters; `name` says whose it is."""
        inner = defused(text, most).replace(self.boundary, CUT)
        return f"<<{self.boundary} {defused(name, 60)}\n{inner}\n{self.boundary}>>"


def defused(text: str, most: int) -> str:
    """Return a text without secrets, control characters and marks of chat templates, capped.

    What is too long loses its middle, whole lines of it: a log says most at its two ends.
    """
    lines = [_line(line) for line in scrub(text).splitlines()]
    whole = "\n".join(line for line in lines if line)
    if len(whole) <= most:
        return whole
    kept = max(most - len(CUT) - 2, 2)
    head, tail = whole[: kept // 2], whole[-(kept - kept // 2) :]
    return f"{_whole(head)}\n{CUT}\n{_whole(tail[::-1])[::-1]}"


def _line(line: str) -> str:
    plain = harmless(line.expandtabs(2)).rstrip()
    shorter = plain if len(plain) <= LINE else plain[: LINE - len(CUT)] + CUT
    return _OPENERS.sub(lambda found: f"{found[0]} " if found[0] != ">" else " >", shorter)


def _whole(part: str) -> str:
    """Drop a broken line from the end of a part, unless it is all there is."""
    kept, newline, _ = part.rpartition("\n")
    return kept if newline else part
