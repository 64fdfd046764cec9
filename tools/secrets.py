"""Secrets leave a text before it is kept: what has the shape of one, whatever it stands in.

This is the second net. The first are the allow-lists of names in tools/knowledge/fields.py, which
the probes use while they read. Every pattern here is linear: quantifiers are bounded or possessive.
A pattern is tried only where a word stands that all its finds begin with: words are found many
times faster than patterns, and most texts hold few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tools.anchored import finds

DROPPED = "<dropped>"

# Patterns are of lower case and read the text in lower case, but for those that are of cased texts.
_TAIL = (
    r"(?![a-z]|[_-](?:id|ids|index|idx|type|len|length|size|map|ratio|rate|usage|capacity"
    r"|distribution|bucket|num|limit|count|weight|latency|seconds))"
)
_NAME = (
    r"(?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passphrase|credential|webhook"
    r"|private[_-]?key|watermark[_-]key|auth[_-]?key|encryption[_-]?key"
    r"|(?<!eos[_-])(?<!bos[_-])(?<!pad[_-])(?<!unk[_-])(?<!per[_-])(?<!stop[_-])(?<!image[_-])"
    rf"(?<=[_-])token{_TAIL}|(?<=[_-])(?:pwd|pass)(?!\w))"
)
_NAMES = (
    "api", "access", "secret", "pass", "credential", "webhook", "private", "watermark", "auth",
    "encryption", "token", "pwd",
)  # fmt: skip
_BENIGN = (
    r"(?!\\{0,4}[\"']?(?:none|null|true|false|<dropped>)(?![\w-]))"
    r"(?!\\{0,4}[\"']?<dropped>|\"\"|''|[{\[])"
)
_VALUE = r"(?:(?P<q>\\{0,4}[\"'])(?:(?!(?P=q)|[\r\n]).)*+|[^\s,;)}\]\"'\\&\0]++)"
_END = r"\\{0,4}[\"']?\s{0,8}+[:=]\s{0,8}+"  # of a name: quote, colon or equals sign
_LIST = r"(?:\[\s{0,4}+(?=\\{0,4}[\"']))?"  # vLLM takes several keys
_COLOUR = r"(?<=\[\dm)|(?<=[\[;]\d\dm)"  # before what it colours, and it ends in a letter
_QUOTE_OF_TWO = r"\\{0,4}[\"']\s{0,8}+,\s{0,8}+(?=\\{0,4}[\"'])"  # between two words of a list


@dataclass(frozen=True)
class _Net:
    """A pattern, words of which each of its finds begins with one, and some of which it holds one.

    Of a find the groups stay, and what comes after them is dropped. A net that is `cased` reads the
    text as it is.
    """

    begins: frozenset[str]
    pattern: re.Pattern[str]
    cased: bool
    holds: frozenset[str]

    def finds(self, text: str, there: frozenset[str]) -> Iterator[re.Match[str]]:
        """Yield what `finditer` does, given which words are there at all."""
        if self.holds and self.holds.isdisjoint(there):
            return
        if len(self.begins) == 1:  # which the pattern itself looks for first, as fast
            yield from self.pattern.finditer(text)
        else:
            yield from finds(self.pattern, self.begins & there, text)


def _net(begins: str, pattern: str, *, cased: bool = False, holds: Iterable[str] = ()) -> _Net:
    return _Net(frozenset(begins.split("|")), re.compile(pattern), cased, frozenset(holds))


_NETS = (
    _net(
        "-----BEGIN ",
        r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)(?!<dropped>)"
        r"[^-]*+(?:-(?!----END)[^-]*+)*+",
        cased=True,
    ),
    _net(  # headers
        "auth|cookie|api",
        r"(\b(?:authorization(?=\\{0,4}[\"']?\s{0,4}[:=])|(?:cookie|api-key)(?=\\{0,4}[\"']?\s{0,4}:))"
        r"\\{0,4}[\"']?\s{0,4}+[:=]\s{0,4}+\\{0,4}[\"']?)"
        r"(?!\\{0,4}[\"']?<dropped>|none|null)[^\r\n\"'\\]++",
    ),
    _net("bearer|basic", r"(\b(?:bearer|basic)(?:\s{1,4}+|%20))[\w.~+/=-]{8,}+"),
    _net(  # Kubernetes and docker: name: HF_TOKEN, value: ...
        "name",
        rf"(name{_END}\\{{0,4}}[\"']?[\w.-]{{0,60}}{_NAME}[\w.-]{{0,40}}"
        rf"\\{{0,4}}[\"']?\s{{0,8}}+,?\s{{0,80}}+\\{{0,4}}[\"']?value{_END}){_BENIGN}{_VALUE}",
        holds=["value"],
    ),
    _net(  # flags
        "-",
        rf"(-(?<![\w-]-)-?[\w-]{{0,40}}(?:{_NAME}|(?<=-)token{_TAIL}|(?<=-)header)[\w-]{{0,20}}"
        rf"(?:=|\s{{1,8}}+(?:-\s{{1,4}}+)?+|\0|{_QUOTE_OF_TWO}))(?!--|\|){_BENIGN}{_VALUE}",
        holds=[*_NAMES, "header"],
    ),
    _net("|".join(_NAMES), rf"({_NAME}[\w.-]{{0,40}}{_END}{_LIST}){_BENIGN}{_VALUE}"),
    _net(  # names that are none elsewhere, in quotes
        "token|auth|pwd|bearer",
        r"((?<=[\"'])(?:token|auth|pwd|bearer)\\{0,4}[\"']\s{0,8}+:\s{0,8}+)"
        rf"(?=\\{{0,4}}[\"'][^\"']{{12}}){_VALUE}",
    ),
    _net(
        "token|pwd",
        rf"((?<![\w#-])(?:token|pwd)=)(?=[^\s,;&]{{8}})(?!/){_VALUE}",
    ),
    _net(  # what argparse takes for --api-key, --admin-api-key and --ssl-keyfile-password
        "--ap|--adm|--ssl-keyfile-",
        r"((?<![\w-])--(?:api?-?(?:ke?)?|adm(?:in?(?:-(?:api?(?:-(?:ke?)?)?)?)?)?|ssl-keyfile-[a-z]{1,8})"
        rf"(?:=|\s{{1,8}}+|\0|{_QUOTE_OF_TWO}))(?!--|\|){_BENIGN}{_VALUE}",
    ),
    _net(  # what programs take on their command line without a name that tells
        "mysql|mariadb|sshpass -p|redis-cli|curl |docker login|podman login",
        r"(\b(?:mysql|mariadb)\w{0,12}+(?: [^\s|]{1,80}+){0,6}? -p|\bsshpass -p ?"
        r"|\bredis-cli(?: [^\s|]{1,80}+){0,6}? -a "
        r"|\bcurl(?: [^\s|]{1,200}+){0,8}? (?:-u|--user|--proxy-user)[ =][^\s:]{1,80}+:"
        r"|\b(?:docker|podman) login(?: [^\s|]{1,80}+){0,6}? (?:-p|--password)[ =])(?!<dropped>)[^\s]++",
        cased=True,
    ),
    _net(
        "://",
        r"(://)(?:[^/\s:@\"']{0,200}+:[^/\s@\"']{1,400}+|[^/\s:@\"']{16,200}+)(?=@)",
    ),
    _net("hooks.slack.com/", r"(hooks\.slack\.com/(?:services|workflows)/)[\w/-]++", cased=True),
    _net(
        "?|&",
        r"([?&][\w-]{0,30}(?:token|key|secret|password|sig|signature|credential|code)=)[^&\s\"'<>]++",
    ),
    _net(  # tokens that are known by their beginning
        "hf|api_org|npm|dckr_pat|github_pat|glpat|nvapi|pypi|gsk|lsv2|sk-|sk_|xox|xapp-|gh|AKIA|ASIA|AIza|ya29.|eyJ",
        r"()(?:"
        rf"(?:(?<![A-Za-z0-9])|{_COLOUR})(?:"
        r"(?:hf|api_org|npm|dckr_pat|github_pat|glpat|nvapi|pypi|gsk|lsv2)[_-][A-Za-z0-9_-]{16,}+"
        r"|sk[-_][A-Za-z0-9_-]{12,}+|xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+"
        r"|gh[a-z]_[A-Za-z0-9]{16,}+|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}+|ya29\.[\w-]{20,}+)"
        rf"|(?:(?<![\w-])|{_COLOUR})"
        r"eyJ[\w-]{8,}+\.[\w-]{4,}+(?:\.[\w-]*+)?)",
        cased=True,
    ),
)  # fmt: skip
_LOW, _CASED = (
    tuple(sorted({word for net in _NETS if net.cased is cased for word in net.begins | net.holds}))
    for cased in (False, True)
)
# What a pattern takes for one of our letters where case does not count, and `lower` does not.
_ODD = {"\u0130": "i", "\u0131": "i", "\u017f": "s"}


# Shorter than any token, and without what stands between a name and its value.
_NONE = re.compile(r"[\w./-]{0,14}")


def scrub(text: str) -> str:
    """Replace what has the shape of a secret; the text around it stays as it was."""
    if _NONE.fullmatch(text):
        return text
    low = _lowered(text)
    there = _words(text, low)
    for net in _NETS:
        if net.begins.isdisjoint(there):
            continue
        parts, done = [], 0
        for found in net.finds(text if net.cased else low, there):
            parts += [text[done : max(map(found.end, range(1, found.re.groups + 1)))], DROPPED]
            done = found.end()
        if parts:
            text = "".join([*parts, text[done:]])
            low = _lowered(text)
    return text


def _words(text: str, low: str) -> frozenset[str]:
    """Return which words of the nets are in a text, and in the same in lower case."""
    return frozenset(
        [word for word in _LOW if word in low] + [word for word in _CASED if word in text]
    )


def _lowered(text: str) -> str:
    """Return a text in lower case, of the same length."""
    if not text.isascii():
        for odd, plain in _ODD.items():
            text = text.replace(odd, plain)
    return text.lower()
