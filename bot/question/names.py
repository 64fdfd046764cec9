"""Which host a text names: those that are known, else what looks like a host's name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from bot.question.plain import plain

_WORD = re.compile(
    r"""(?: ^ | (?<=[\s("'`@,]) | (?<=://) )
        ( (?:[\w.-]+@)? [A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])? (?:\.[A-Za-z0-9-]+)* )
        (?: :(\d{2,5}) )?
        (?= $ | [\s,;?!)"'`/] | \.+(?:\s|$) | :(?:\s|$) )""",
    re.VERBOSE,
)
_PORTS = 65535
_LONGEST = 253  # characters of a name: RFC 1035, section 2.3.4; patterns see nothing longer
_PORT = re.compile(
    r"\bport[ :=]{1,3}(\d{4,5})(?![\d:.]*[:.]\d)|\b(\d{4,5})\s+port\b", re.IGNORECASE
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
            |ep|sm|xid|fp|int|bf|cuda|x|p|e|eagle|nvlink|python|vllm|sglang
            |ds|phi|yi|internlm|mixtral|step|minimax|ernie|hunyuan|ddr|pcie|epyc|xeon|connectx|cx|utf|sha|ipv
            |cu|torch|pytorch|py|ubuntu|debian|rocky|rhel|http|bs|batch|seq|rank|user|layer|port|top|pr|issue
            |turn|step|test|run|phase|day|week|q|w|kv|awq|gptq|nccl|sdk|ver|version|rev|build
            |qwq|fa|nvfp|mxfp|raid|ib|mlx|mlx5_|eth|sxm|nvme|md|xe|usb|cat|iso|level|stage|tier|slot|lane|numa)-?\d[^.]*
        | .*-\d+(?:\.\d+)?[bm](?:-.*)? | nvlink-\w+ | \w+-v?\d+(?:\.\d+)+
        | (?:ds|deepseek|glm|kimi|qwen|llama|gpt|gemma|mistral)-[\w-]+
        | gpu\d+ | \d+ | v?\d+(?:\.\w+){1,2} | .*\.(?:py|log|txt|json|ya?ml|csv|md|gz) | e\.g | i\.e )$""",
    re.IGNORECASE | re.VERBOSE,
)
# "GPU 1" is a card and "rank 3" a process, whatever a host is called.
_PARTS_OF_A_HOST = re.compile(r"gpu|card|rank|core|tp|dp|pp|ep|socket|worker", re.IGNORECASE)
_BEFORE_ITS_FIGURES = re.compile(r"(?<=[a-z])[-_]?(?=\d)", re.IGNORECASE)


def hosts(text: str, known: Collection[str]) -> tuple[tuple[str, ...], int | None]:
    """Return the hosts that are named, in order, and the first port given with one, or by itself."""
    text = plain(text)
    found: dict[str, int | None] = {}
    for name, port in _known(text, tuple(known)) if known else _named(text):
        found[name] = found.get(name) or port
    ports = [port for port in found.values() if port]
    ports += [int(port) for pair in _PORT.findall(text) for port in pair if _is_port(port)]
    return tuple(found), ports[0] if ports else None


def strangers(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Return what is named like one of the hosts that are known, and is none: CT131 beside CT129."""
    shaped = _shaped(tuple(known))
    if shaped is None:
        return ()
    named = dict.fromkeys(" ".join(one[0].split()) for one in shaped.finditer(plain(text)))
    return tuple(name for name in named if not any(_known(name, tuple(known))))


@lru_cache(maxsize=8)
def _shaped(known: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return the form of names that differ from those that are known by their figures alone."""
    shapes = {
        re.sub(r"\d+", r"\\d+", _way(name))
        for name in known
        if name[0].isalpha() and "." not in name
    }
    figured = sorted(shape for shape in shapes if r"\d+" in shape)
    if not figured:
        return None
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(figured)})(?![\w-]|\.\w)", re.IGNORECASE)


def _known(text: str, known: tuple[str, ...]) -> Iterator[tuple[str, int | None]]:
    by_name, form = _form(known)
    for match in form.finditer(text):
        name = by_name.get(match["name"].lower()) or by_name[_bare(match["name"])]
        yield name, int(match["port"]) if _is_port(match["port"]) else None


@lru_cache(maxsize=8)
def _form(known: tuple[str, ...]) -> tuple[dict[str, str], re.Pattern[str]]:
    """Return which name each way of writing means, and the form that finds them all."""
    by_name = {name.lower(): name for name in known}
    ways = {name: _way(name) for name in known}
    shorts = [name.partition(".")[0].lower() for name in known]
    for name, short in zip(known, shorts, strict=True):
        by_name.setdefault(_bare(name), name)
        if shorts.count(short) == 1 and not short.isdigit():
            by_name.setdefault(short, name)
            ways.setdefault(short, re.escape(short))
    any_of_them = "|".join(ways[name] for name in sorted(ways, key=len, reverse=True))
    return by_name, re.compile(
        rf"(?<![\w.-])(?:[\w.-]+@)?(?P<name>{any_of_them})(?::(?P<port>\d{{2,5}}))?(?![\w-]|\.\w)",
        re.IGNORECASE,
    )


def _way(name: str) -> str:
    """Return the form of a name: "CT129" is also written "ct-129" and "ct 129"."""
    parts = _BEFORE_ITS_FIGURES.split(name)
    stem = parts[0].rpartition("-")[2]
    if len(parts) != 2 or "." in name or len(stem) < 2 or _PARTS_OF_A_HOST.fullmatch(stem):
        return re.escape(name)
    return "[-_ ]?".join(re.escape(part) for part in parts)


def _bare(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


def _named(text: str) -> Iterator[tuple[str, int | None]]:
    for match in _WORD.finditer(text):
        port = int(match[2]) if _is_port(match[2]) else None
        if _could_be(match[1], text[: match.start()], port):
            yield match[1], port


def _is_port(figures: str | None) -> bool:
    return bool(figures) and 0 < int(figures or 0) <= _PORTS


def _could_be(name: str, before: str, port: int | None) -> bool:
    bare = name.split("@")[-1]
    if len(name) > _LONGEST or _NO_HOST.match(bare):
        return False
    if "@" in name or port:
        return True
    if not _LIKE_A_HOST.match(bare):
        return False
    return "." not in bare or bare[0].isdigit() or bool(_BEFORE_A_HOST.search(before))
