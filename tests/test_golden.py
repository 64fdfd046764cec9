"""Every probe reads real answers: golden/<Probe>/<situation>.out beside a .json that says what is in it.

The .json holds `origin` (where and when the text was printed, or "synthetic"), optionally `probe`
(arguments), `status` and `stderr`, and then either `facts` (None left out) or `error` (the kind
and a part of its sentence). `pytest --update-golden` rewrites `facts` and `error`, nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.errors import ProbeError
from tools.host import Output
from tools.probe import facts_of
from tools.probes import PROBES

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(FOLDER.glob("*/*.json"))


def slim(value: Any) -> Any:
    """Leave out what says nothing, so that a golden file can be read."""
    if isinstance(value, dict):
        return {key: slim(part) for key, part in value.items() if part not in (None, [], {}, "")}
    return [slim(part) for part in value] if isinstance(value, list) else value


def read(case: Path) -> dict[str, Any]:
    told = json.loads(case.read_text(encoding="utf-8"))
    probe = PROBES[case.parent.name](**told.get("probe", {}))
    stdout = case.with_suffix(".out").read_bytes().decode("utf-8", "replace")
    output = Output(
        stdout=probe.clean(stdout), stderr=told.get("stderr", ""), status=told.get("status", 0)
    )
    try:
        facts = probe.read(output)
    except ProbeError as why:
        return {"error": {"kind": type(why).__name__, "says": str(why)}}
    dumped = facts.model_dump(mode="json", exclude_defaults=True)
    return {"facts": slim(json.loads(json.dumps(dumped, default=sorted)))}


def unordered(value: Any) -> Any:
    """Sort what came from sets, which have no order of their own."""
    if isinstance(value, dict):
        return {
            key: sorted(part) if key == "reasons" and part else unordered(part)
            for key, part in value.items()
        }
    return [unordered(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_an_answer_is_read_as_it_was_before(case: Path, request: pytest.FixtureRequest) -> None:
    told, now = json.loads(case.read_text(encoding="utf-8")), unordered(read(case))
    assert told.get("origin"), "say where the text was printed, or that it is synthetic"
    if request.config.getoption("--update-golden"):
        kept = {key: value for key, value in told.items() if key not in ("facts", "error")}
        case.write_text(
            json.dumps(kept | now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        return
    assert now == {key: unordered(told[key]) for key in ("facts", "error") if key in told}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_each_probe_has_an_answer_and_an_absence(name: str) -> None:
    kinds = {
        key for case in FOLDER.glob(f"{name}/*.json") for key in json.loads(case.read_text("utf-8"))
    }
    assert {"facts", "error"} <= kinds


@pytest.mark.parametrize("name", sorted(PROBES))
def test_each_probe_recognises_its_own_answers_and_knows_its_facts(name: str) -> None:
    probe = PROBES[name]()
    assert facts_of(PROBES[name])
    for case in FOLDER.glob(f"{name}/*.json"):
        if "facts" in json.loads(case.read_text("utf-8")):
            assert probe.recognises(
                case.with_suffix(".out").read_bytes().decode("utf-8", "replace")
            ), case.stem
