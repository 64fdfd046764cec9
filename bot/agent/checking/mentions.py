"""Names in a text: flags, variables, files and lines, versions, cards, models, and what stands in quotes."""

# ruff: noqa: SIM905 (patterns and lists of words)

from __future__ import annotations

import re
from collections.abc import Iterator

QUOTED = re.compile(
    r"“([^”]{1,300})”|\"([^\"]{1,300})\"|‘([^’]{1,300})’|«([^»]{1,300})»|`+([^`]{1,300})`+"
    r"|(?<![\w'])'([^']{1,300})'(?!\w)"
)
FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[^\s,;)]+)?")
_TOKEN = re.compile(r"#?[A-Za-z0-9_][\w./:#@+-]*\w|\w")
_FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,4}(?::\d+)?")
_CAMEL = re.compile(r"[a-z]+[A-Z]|[A-Z]{2}|[A-Z][a-z]+[A-Z]")
_PLAIN = re.compile(r"[A-Za-z][a-z']*")
# What everybody calls so, on every host; a name of a product, model or card is not among them.
_COMMON = frozenset(
    "gpu gpus cpu cpus pcie nccl sglang cuda ttft kv tp p2p io os id ids ok i linux nvidia nvlink nvlinks ram dram vram"
    " hbm gddr ecc bios llm llms api tok english e.g i.e a/b vs".split()
)


def quoted(text: str) -> Iterator[str]:
    """Yield what stands in quotes."""
    for found in QUOTED.finditer(text):
        yield next(one for one in found.groups() if one is not None)


def unquoted(text: str) -> str:
    """Return a text with its quotations blanked."""
    return QUOTED.sub(" … ", text)


def flags(text: str) -> Iterator[str]:
    """Yield the flags, with the value where one is given by an equals sign."""
    yield from (found[0].rstrip(".:") for found in FLAG.finditer(text))


def names(text: str) -> Iterator[str]:
    """Yield what is no word: with digits in it, capitals, underscores, a path; and proper names."""
    text = FLAG.sub(" ", text)
    first = True
    for found in _TOKEN.finditer(text):
        token = found[0].rstrip(".:")
        begins, first = first, text[found.end() : found.end() + 1] in (".", "!", "?", ":")
        for one in _pieces(token):
            if _is_name(one, begins=begins):
                yield one


def _pieces(token: str) -> list[str]:
    """Return the parts of a compound of words ("GPU-to-GPU"), or the token where it is a name."""
    if any(char in token for char in "_:@#") or any(char.isdigit() for char in token):
        return [token]
    if "/" in token or "." in token:
        return [token]
    return token.split("-")


def _is_name(one: str, *, begins: bool) -> bool:
    if one.lower() in _COMMON or one.isdigit():
        return False
    if any(char.isdigit() for char in one) and any(char.isalpha() for char in one):
        return True
    if any(char.isdigit() for char in one) and (one.count(".") > 1 or ":" in one or "-" in one):
        return True
    if any(char in one for char in "_#@") or _FILE.fullmatch(one):
        return True
    if "/" in one:
        return any(map(_CAMEL.search, one.split("/"))) or one.startswith("/")
    return bool(_CAMEL.search(one)) or (
        not begins and one[:1].isupper() and bool(_PLAIN.fullmatch(one))
    )
