"""Parts of one script share one namespace on the host: none may hide a name of another."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pytest

from tools.change.keeper import _begin
from tools.probes.launcher import ReadLauncher

SCRIPTS = {"begin": _begin({}).stdin, "launcher": ReadLauncher().command().stdin}


def names_in(part: str) -> set[str]:
    found = set()
    for node in ast.parse(part).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_part_of_a_script_hides_a_name_of_another(name: str) -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    parts = [
        part
        for part in re.split(r"(?m)^(?=# part: )", SCRIPTS[name])
        if part.startswith("# part: ")
    ]
    for part in parts:
        for defined in names_in(part):
            owners[defined].append(part.splitlines()[0])
    assert len(parts) > 4
    assert not {defined: files for defined, files in owners.items() if len(files) > 1}
