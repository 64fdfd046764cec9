"""Which host a text names: those that are known, else what looks like a host's name."""

from __future__ import annotations

import re
from collections.abc import Collection

_WORD = re.compile(
    r"""(?: ^ | (?<=[\s("'`@]) | (?<=://) )
        ( (?:[\w.-]+@)? [A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])? (?:\.[A-Za-z0-9-]+)* )
        (?: :(\d{2,5}) )?
        (?= $ | [\s,;?!)"'`/] | \.(?:\s|$) )""",
    re.VERBOSE,
)
_PORTS = 65535
_PORT = re.compile(
    r"\bport[ :=]{1,3}(\d{4,5})(?![\d:.]*[:.]\d)", re.IGNORECASE
)  # no PCIe port 0000:80:01.1
_BEFORE_A_HOST = re.compile(
    r"\b(?:on|at|host|server|node|box|machine|for|of|check|diagnose|is)\s+$", re.IGNORECASE
)
_LIKE_A_HOST = re.compile(
    r"^(?:[a-z]{2,}[a-z-]*-?\d{1,4}[a-z]?|[a-z][\w-]*(?:\.[\w-]+){1,}|\d{1,3}(?:\.\d{1,3}){3})$",
    re.IGNORECASE,
)
_NO_HOST = re.compile(
    r"""^(?: (?:rtx|gtx|[abhlvt]|gh|gb|mi|qwen|llama|gpt|glm|kimi|deepseek|gemma|mistral|gen|tp|dp|pp
            |ep|sm|xid|fp|int|bf|cuda|x|p|e|eagle|nvlink|python|vllm|sglang)-?\d[^.]*
        | gpu\d+ | \d+ | v?\d+(?:\.\w+){1,2} | .*\.(?:py|log|txt|json|ya?ml|csv|md|gz) | e\.g | i\.e )$""",
    re.IGNORECASE | re.VERBOSE,
)


def hosts(text: str, known: Collection[str]) -> tuple[tuple[str, ...], int | None]:
    """Return the hosts that are named, in order, and the first port given with one, or by itself."""
    by_name = {name.lower(): name for name in known}
    found: dict[str, int | None] = {}
    for match in _WORD.finditer(text):
        port = int(match[2]) if match[2] and 0 < int(match[2]) <= _PORTS else None
        name = match[1]
        if name.lower() in by_name:
            found.setdefault(by_name[name.lower()], port)
        elif not known and _could_be(name, text[: match.start()], port):
            found.setdefault(name, port)
    ports = [port for port in found.values() if port]
    ports += [int(port) for port in _PORT.findall(text) if 0 < int(port) <= _PORTS]
    return tuple(found), ports[0] if ports else None


def _could_be(name: str, before: str, port: int | None) -> bool:
    bare = name.split("@")[-1]
    if _NO_HOST.match(bare):
        return False
    if "@" in name or port:
        return True
    if not _LIKE_A_HOST.match(bare):
        return False
    return "." not in bare or bare[0].isdigit() or bool(_BEFORE_A_HOST.search(before))
