"""The flags read from a version's source are those that its own parser lists when it is really run."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.source.folder import SourceFolder
from tests.provenance.engines import wheel_or_skip
from tools.provenance.flags import Flag, flags_of
from tools.provenance.tree import Tree

# How many options each version's own parser has, `-h` not counted.
OPTIONS = {
    "0.5.9": 331, "0.5.10": 354, "0.5.11": 374, "0.5.12": 387, "0.5.13": 406, "0.5.14": 420, "0.5.16": 460,
    "0.5.18": 488, "0.5.20": 494, "0.5.22": 521, "0.5.23": 531,
}  # fmt: skip


@cache
def _records(beside: Path) -> Path | None:
    """Return a folder with msgspec, which later versions build their record with; None where it cannot be had."""
    folder = beside / "msgspec"
    if not folder.is_dir():
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(beside)]
        done = subprocess.run([*fetch, "msgspec"], capture_output=True, timeout=120, check=False)
        wheels = list(beside.glob("msgspec-*.whl"))
        if done.returncode or not wheels:
            return None
        with zipfile.ZipFile(wheels[0]) as archive:
            archive.extractall(beside)
    return beside


def _listed(version: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return what argparse lists in this version, by names."""
    folder = wheel_or_skip(version)
    records = _records(folder.parent)
    if records is None:
        pytest.skip("msgspec cannot be fetched here")
    script = Path(__file__).with_name("real_parser.py")
    done = subprocess.run(
        [sys.executable, "-I", str(script), str(folder), str(records)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {tuple(one["names"]): one for one in json.loads(done.stdout)}


def _as_listed(flag: Flag) -> dict[str, Any]:
    return {
        "names": list(flag.names),
        "dest": flag.dest,
        "default": flag.default,
        "choices": sorted(map(str, flag.choices)) or None,
        "help": flag.help,
        "nothing": flag.takes == "nothing",
    }


@pytest.mark.parametrize("version", OPTIONS)
def test_names_defaults_choices_and_age_are_those_of_argparse(version: str) -> None:
    listed = _listed(version)
    flags = {flag.names: flag for flag in flags_of(Tree(SourceFolder(wheel_or_skip(version))))}
    assert len(listed) == OPTIONS[version]
    assert list(flags) == list(listed)
    for names, real in listed.items():
        said = _as_listed(flags[names])
        quoted = said.pop("help"), real["help"]
        if real["choices"] == []:  # of a stand-in for a part of the engine: it has none to list
            del said["choices"]
        assert said == {key: real[key] for key in said}
        assert _plain(quoted[0]) == _plain(quoted[1])
        old = real["action"].startswith("Deprecated") or "deprecated" in real["help"].lower()[:40]
        assert flags[names].deprecated is old


def _plain(text: str) -> str:
    return text.replace("%%", "%")
