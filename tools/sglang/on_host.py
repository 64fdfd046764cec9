"""Scripts for the host that apply the allow-lists of names there, before they print anything."""

from __future__ import annotations

from tools.host import Command, script
from tools.knowledge import fields
from tools.sglang import environment
from tools.sglang.endpoints import COUNTED


def script_with_names(
    name: str,
    *arguments: str,
    after: tuple[str, ...],
    limit_s: float = 15.0,
    max_bytes: int = 4 << 20,
) -> Command:
    """Return the command that runs a script of tools/remote with the allow-lists before its text."""
    command = script(name, *arguments, after=after, limit_s=limit_s, max_bytes=max_bytes)
    counted = f'COUNTED_NAMES = frozenset("""{" ".join(sorted(COUNTED))}""".split())\n'
    names = fields.prelude() + counted + environment.prelude()
    return command.model_copy(update={"stdin": names + command.stdin})
