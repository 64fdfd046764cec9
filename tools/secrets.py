"""Secrets leave a text before it is kept: what has the shape of one, whatever it stands in.

This is the second net. The first are the allow-lists of names in tools/knowledge/fields.py, which
the probes use while they read. Every pattern here is linear: quantifiers are bounded or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Callable

DROPPED = "<dropped>"

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
_HINTS = ("key", "secret", "pass", "pwd", "credential", "token", "webhook", "header", "auth")
_BENIGN = (
    r"(?!\\{0,4}[\"']?(?:None|null|True|true|False|false|<dropped>)(?![\w-]))"
    r"(?!\\{0,4}[\"']?<dropped>|\"\"|''|[{\[])"
)
_VALUE = r"(?:(?P<q>\\{0,4}[\"'])(?:(?!(?P=q)|[\r\n]).)*+|[^\s,;)}\]\"'\\&\0]++)"
_END = r"\\{0,4}[\"']?\s{0,8}+[:=]\s{0,8}+"  # of a name: quote, colon or equals sign

_LIST = r"(?:\[\s{0,4}+(?=\\{0,4}[\"']))?"  # vLLM takes several keys

_NAMED = re.compile(rf"(?i)({_NAME}[\w.-]{{0,40}}{_END}{_LIST}){_BENIGN}{_VALUE}")
_FLAG = re.compile(
    rf"(?i)((?<![\w-])--?[\w-]{{0,40}}(?:{_NAME}|(?<=-)token{_TAIL}|(?<=-)header)[\w-]{{0,20}}"
    r"(?:=|\s{1,8}+(?:-\s{1,4}+)?+|\0|\\{0,4}[\"']\s{0,8}+,\s{0,8}+(?=\\{0,4}[\"'])))"
    rf"(?!--|\|){_BENIGN}{_VALUE}"
)
_PAIR = re.compile(  # Kubernetes and docker: name: HF_TOKEN, value: ...
    rf"(?i)(name{_END}\\{{0,4}}[\"']?[\w.-]{{0,60}}{_NAME}[\w.-]{{0,40}}"
    rf"\\{{0,4}}[\"']?\s{{0,8}}+,?\s{{0,80}}+\\{{0,4}}[\"']?value{_END}){_BENIGN}{_VALUE}"
)
_QUOTED_TOKEN = re.compile(
    rf"(?i)([\"'](?:token|auth|pwd|bearer)\\{{0,4}}[\"']\s{{0,8}}+:\s{{0,8}}+)"
    rf"(?=\\{{0,4}}[\"'][^\"']{{12}}){_VALUE}"
)
_BARE_TOKEN = re.compile(rf"(?i)((?<![\w#-])(?:token|pwd)=)(?=[^\s,;&]{{8}})(?!/){_VALUE}")
_SHORT = re.compile(  # what argparse takes for --api-key, --admin-api-key and --ssl-keyfile-password
    r"(?i)((?<![\w-])--(?:api?-?(?:ke?)?|adm(?:in?(?:-(?:api?(?:-(?:ke?)?)?)?)?)?|ssl-keyfile-[a-z]{1,8})"
    r"(?:=|\s{1,8}+|\0|\\{0,4}[\"']\s{0,8}+,\s{0,8}+(?=\\{0,4}[\"'])))"
    rf"(?!--|\|){_BENIGN}{_VALUE}"
)
_TOOL = re.compile(  # what programs take on their command line without a name that tells
    r"((?:\b(?:mysql|mariadb)\w{0,12}+(?: [^\s|]{1,80}+){0,6}? -p|\bsshpass -p ?"
    r"|\bredis-cli(?: [^\s|]{1,80}+){0,6}? -a "
    r"|\bcurl(?: [^\s|]{1,200}+){0,8}? (?:-u|--user|--proxy-user)[ =][^\s:]{1,80}+:"
    r"|\b(?:docker|podman) login(?: [^\s|]{1,80}+){0,6}? (?:-p|--password)[ =]))(?!<dropped>)[^\s]++"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s{1,4}+|%20)[\w.~+/=-]{8,}+")
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization(?=\\{0,4}[\"']?\s{0,4}[:=])|(?:cookie|x-api-key|api-key)(?=\\{0,4}[\"']?\s{0,4}:))"
    r"(\\{0,4}[\"']?\s{0,4}+[:=]\s{0,4}+\\{0,4}[\"']?)"
    r"(?!\\{0,4}[\"']?<dropped>|None|null)[^\r\n\"'\\]++"
)
_PARAMETER = re.compile(
    r"(?i)([?&][\w-]{0,30}(?:token|key|secret|password|sig|signature|credential|code)=)[^&\s\"'<>]++"
)
_USERINFO = re.compile(
    r"(?<=://)(?:[^/\s:@\"']{0,200}+:[^/\s@\"']{1,400}+|[^/\s:@\"']{16,200}+)(?=@)",
)
_BARE = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\[\dm)|(?<=[\[;]\d\dm))(?:"  # or a colour, which ends in a letter
    r"(?:hf|api_org|npm|dckr_pat|github_pat|glpat|nvapi|pypi|gsk|lsv2)[_-][A-Za-z0-9_-]{16,}+"
    r"|sk[-_][A-Za-z0-9_-]{12,}+|xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+"
    r"|gh[a-z]_[A-Za-z0-9]{16,}+|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}+|ya29\.[\w-]{20,}+)"
    r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{4,}+(?:\.[\w-]*+)?"
)
_WEBHOOK = re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)[\w/-]++")
_BLOCK = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)(?!<dropped>)[^-]*+(?:-(?!----END)[^-]*+)*+"
)


def scrub(text: str) -> str:
    """Replace what has the shape of a secret; the text around it stays as it was."""
    low = text.lower()
    for hints, pattern, instead in _NETS:
        if any(hint in low for hint in hints):
            text = pattern.sub(instead, text)
    return _BARE.sub(DROPPED, text)


def _dropped(found: re.Match[str]) -> str:
    return f"{found[1]}{found['q'] or ''}{DROPPED}"


_FIRST = rf"\1{DROPPED}"
# What must be in a text in lower case for a pattern to be tried, the pattern, and what it leaves.
_NETS: tuple[tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (("private key-----",), _BLOCK, _FIRST),
    (("authorization", "cookie", "api-key"), _HEADER, rf"\1\2{DROPPED}"),
    (("bearer", "basic"), _BEARER, rf"\1\2{DROPPED}"),
    (_HINTS, _PAIR, _dropped),
    (_HINTS, _FLAG, _dropped),
    (_HINTS, _NAMED, _dropped),
    (_HINTS, _QUOTED_TOKEN, _dropped),
    (_HINTS, _BARE_TOKEN, _dropped),
    (("--ap", "--adm", "--ssl-k"), _SHORT, _dropped),
    ((" -p", " -a ", " -u ", "-user", "--password"), _TOOL, _FIRST),
    (("://",), _USERINFO, DROPPED),
    (("hooks.slack.com",), _WEBHOOK, _FIRST),
    (("&", "?"), _PARAMETER, _FIRST),
)
