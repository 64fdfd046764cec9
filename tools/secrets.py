"""Secrets leave a text before it is kept: named fields by an allow-list, the rest by known shapes."""

from __future__ import annotations

import re

DROPPED = "<dropped>"

_SHAPES = (
    re.compile(r"(?i)(--(?:admin-)?api-key|--hf-token|--ssl-keyfile-password|--\S*(?:password|secret|token-file))(=|\s+)(?!--)(\S+)"),
    re.compile(r"(?i)\b(authorization\s*[:=]\s*[\"']?(?:bearer|basic))(\s+)([\w.~+/=-]+)"),
    re.compile(r"(?i)([\"']?\b\w*(?:api_?key|password|passwd|secret|access_?token|auth_?token|hf_token)\b[\"']?)(\s*[:=]\s*)(?!None\b|null\b|False\b|True\b)(\"[^\"]*\"|'[^']*'|[^\s,;)}\]]+)"),
)
_BARE = (
    re.compile(r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})\b"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)


def scrub(text: str) -> str:
    """Replace what has the shape of a secret; the second net, behind the allow-lists of the probes."""
    for shape in _SHAPES:
        text = shape.sub(rf"\1\2{DROPPED}", text)
    for shape in _BARE:
        text = shape.sub(DROPPED, text)
    return text
