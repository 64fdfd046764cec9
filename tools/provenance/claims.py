"""What log lines claim: "because --flag is set", whoever set it."""

from __future__ import annotations

import ast
import re

from tools.errors import Unreadable
from tools.provenance.tree import Tree
from tools.provenance.words import literal, log_text


def claims_of(tree: Tree, flag: str) -> dict[str, str]:
    """Return log texts that say a flag was set by somebody, with file and line of each."""
    found: dict[str, str] = {}
    said = re.compile(rf"(?:because|since|due to|as)\s+{re.escape(flag)}(?![\w-])", re.IGNORECASE)
    paths = sorted(tree.where(flag))
    tree.bring(paths)
    for path in paths:
        try:
            parsed = tree.parsed(path)
        except Unreadable:
            continue
        for node in ast.walk(parsed):
            line = _claim(node, said)
            if line is not None:
                found[line] = f"{path}:{node.lineno}"  # type: ignore[attr-defined]
    return found


def _claim(node: ast.AST, said: re.Pattern[str]) -> str | None:
    if isinstance(node, ast.Call):
        text = log_text(node)
        if text is not None and said.search(text):
            return text
    return None


__all__ = ["claims_of", "literal"]
