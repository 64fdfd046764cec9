"""A server under systemd is restarted with a drop-in, and comes back without one; the vendor's file stays."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.change.engine import BOUNDS, KEY, SECRET, until
from tests.change.units import Unit, may_have_groups
from tests.lab.sshd import wait_for
from tools.change import Edit
from tools.host import Output
from tools.hosts.local import LocalHost
from tools.probes.launcher import ReadLauncher

pytestmark = pytest.mark.skipif(bool(may_have_groups()), reason=may_have_groups() or "-")

MORE = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "8"))
UNKNOWN = Edit(add=("--no-such-flag",))
Make = Callable[..., Unit]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    for name in ("STAND_IN_SYSTEMD", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "PATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    made: list[Unit] = []

    def begin(*flags: str, **more: str) -> Unit:
        made.append(Unit(tmp_path, *(flags or ("--max-running-requests", "2")), **more))
        return made[-1]

    yield begin
    for unit in made:
        unit.clear()


def test_a_unit_is_recognised_with_its_drop_ins_and_what_it_takes_from_variables(
    make: Make,
) -> None:
    unit = make(
        line="{python} -m sglang.launch_server {flags} $MORE", more='Environment="MORE=--tp 2"'
    )
    output: Output = LocalHost().answer([ReadLauncher(port=unit.port)])[0]
    seen = ReadLauncher().read(output)
    assert (seen.kind, seen.restartable, seen.unit, seen.unit_user) == (
        "systemd",
        True,
        unit.unit,
        os.getuid(),
    )
    assert (seen.unit_file, seen.restart_policy, seen.flags_elsewhere) == (
        str(unit.file),
        "always",
        ("--tp",),
    )
    assert SECRET not in output.stdout
    assert KEY not in output.stdout


def test_a_change_is_tried_with_a_drop_in_that_a_reboot_removes_and_kept_with_one_that_stays(
    make: Make,
) -> None:
    unit = make()
    vendor, before = unit.file.read_text(), unit.start()
    keeper = unit.keeper()
    status = keeper.begin(unit.proposal(MORE, launcher="systemd"), "e1", 1)
    assert status.state == "armed", status
    assert status.new is not None
    digest = status.new.digest
    keeper.stop()
    until(keeper, "stopped")
    assert not unit.pids()
    keeper.start()
    status = until(keeper, "ready")
    assert unit.trial.is_file()
    assert not unit.kept.exists()
    assert stat.S_IMODE(unit.trial.stat().st_mode) == 0o600
    assert status.new is not None
    assert (status.new.pid, status.new.digest) == (unit.pid, digest)
    assert unit.info()["max_running_requests"] == 8
    keeper.keep()
    status = until(keeper, "kept")
    assert unit.kept.is_file()
    assert not unit.trial.exists()
    assert unit.ctl("show", "-p", "Restart", unit.unit) == "Restart=always\n"
    assert any(str(unit.kept) in step for step in status.steps)
    assert unit.file.read_text() == vendor
    assert SECRET not in unit.kept.read_text()
    assert unit.start()[0] != before[0]


def test_a_change_that_is_taken_back_leaves_nothing_behind(make: Make) -> None:
    unit = make()
    argv, environ, cwd, exe = unit.start()
    keeper = unit.keeper()
    keeper.begin(unit.proposal(MORE, launcher="systemd", env={"NCCL_DEBUG": "INFO"}), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    assert b"NCCL_DEBUG=INFO" in unit.start()[1]
    keeper.restore()
    until(keeper, "restored")
    now = unit.start()
    assert (now[0], now[2], now[3]) == (argv, cwd, exe)
    assert stable(now[1]) == stable(environ)
    assert not unit.trial.parent.exists()
    assert not unit.kept.parent.exists()
    assert unit.serves()


def stable(environ: list[bytes]) -> list[bytes]:
    return [line for line in environ if not line.startswith(b"INVOCATION_ID=")]


def test_a_flag_that_is_unknown_is_named_though_systemd_would_start_it_again_and_again(
    make: Make,
) -> None:
    unit = make(more="RestartSec=0")
    keeper = unit.keeper()
    keeper.begin(unit.proposal(UNKNOWN, launcher="systemd"), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    status = until(keeper, "restored")
    assert status.trouble is not None
    assert status.trouble.kind == "unknown_flag", status.trouble
    assert unit.text().count("unrecognized arguments: --no-such-flag") == 1
    assert unit.serves()
    assert unit.ctl("show", "-p", "DropInPaths", unit.unit) == "DropInPaths=\n"


def test_words_that_systemd_would_change_arrive_as_they_are_meant(make: Make) -> None:
    unit = make()
    hard = ("--served-model-name", "a \"b\" $HOME ${X} 100% %i \\n 'c' ; d")
    keeper = unit.keeper()
    keeper.begin(unit.proposal(Edit(add=hard), launcher="systemd"), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    assert unit.start()[0][-1].decode() == hard[1]
    keeper.restore()
    until(keeper, "restored")


def test_a_flag_from_a_variable_of_the_unit_is_refused_before_anything_is_touched(
    make: Make,
) -> None:
    unit = make("--tp", "2", line="{python} -m sglang.launch_server {flags} $MORE",
                more='Environment="MORE=--max-running-requests 2"')  # fmt: skip
    status = unit.keeper().begin(unit.proposal(MORE, launcher="systemd"), "e1", 1)
    assert status.state == "withdrawn"
    assert status.trouble is not None
    assert "--max-running-requests from a variable" in status.trouble.sentence
    assert unit.serves()


def test_variables_of_the_unit_stay_variables_in_the_drop_in(make: Make) -> None:
    unit = make(line="{python} -m sglang.launch_server {flags} --tp ${{TP}} $MORE",
                more='Environment=TP=2 "MORE=--served-model-name x"')  # fmt: skip
    keeper = unit.keeper()
    keeper.begin(unit.proposal(MORE, launcher="systemd"), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    assert "--tp ${TP} $MORE --max-running-requests 8" in unit.trial.read_text()
    keeper.restore()
    until(keeper, "restored")


def test_a_variable_that_a_file_gives_is_refused_for_it_would_win(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "env").write_text("NCCL_ALGO=Ring\n")
    unit = make(more=f"EnvironmentFile={tmp_path}/env")
    status = unit.keeper().begin(
        unit.proposal(MORE, launcher="systemd", env={"NCCL_ALGO": "Tree"}), "e1", 1
    )
    assert status.trouble is not None
    assert "which wins over a drop-in" in status.trouble.sentence


def test_files_changed_since_systemd_read_them_are_not_put_into_force_on_the_side(
    make: Make,
) -> None:
    unit = make()
    unit.file.write_text(unit.file.read_text().replace("Restart=always", "Restart=no"))
    seen = ReadLauncher().read(LocalHost().answer([ReadLauncher(port=unit.port)])[0])
    assert not seen.restartable
    assert "daemon-reload" in (seen.why_not or "")
    status = unit.keeper().begin(unit.proposal(MORE, launcher="systemd"), "e1", 1)
    assert status.state == "withdrawn"


def test_a_unit_that_would_be_stopped_along_is_named_before(make: Make) -> None:
    unit = make(more="StandInConsistsOf=router.service")
    seen = ReadLauncher().read(LocalHost().answer([ReadLauncher(port=unit.port)])[0])
    assert "router.service depends on" in (seen.why_not or "")
    status = unit.keeper().begin(unit.proposal(MORE, launcher="systemd"), "e1", 1)
    assert status.state == "withdrawn"
    assert status.trouble is not None
    assert "router.service depends on it" in status.trouble.sentence


def test_nobody_speaking_brings_the_old_unit_back(make: Make) -> None:
    unit = make()
    bounds = BOUNDS.model_copy(update={"silence_s": 10.0})
    keeper = unit.keeper()
    keeper.begin(unit.proposal(MORE, launcher="systemd", bounds=bounds), "e1", 1)
    old = unit.pid
    keeper.stop()
    unit_is_back(unit, old)
    assert not unit.trial.exists()


def unit_is_back(unit: Unit, old: int) -> None:
    wait_for(
        lambda: bool(unit.pids()) and unit.pids() != [old] and unit.serves(),
        "the old server does not come back",
    )
