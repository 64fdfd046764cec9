"""A service of docker compose is tried with one more file of its project, and comes back without it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.change.boxes import SECRET, Service
from tests.change.engine import until
from tests.change.units import may_have_groups
from tools.change import Edit
from tools.hosts.local import LocalHost
from tools.probes.launcher import ReadLauncher

pytestmark = pytest.mark.skipif(bool(may_have_groups()), reason=may_have_groups() or "-")
MORE = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "8"))
Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    for name in ("STAND_IN_DOCKER", "STAND_IN_PYTHON", "PATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: list[Service] = []

    def begin() -> Service:
        made.append(Service(tmp_path, "--max-running-requests", "2"))
        return made[-1]

    yield begin
    for service in made:
        service.clear()


def overrides(service: Service) -> list[Path]:
    return sorted((service.root / "state/perfsleuth").glob("*.yaml"))


def test_a_service_is_recognised_with_its_project_and_files(make: Make) -> None:
    service = make()
    seen = ReadLauncher().read(LocalHost().answer([ReadLauncher(port=service.port)])[0])
    assert (seen.kind, seen.restartable, seen.compose_service) == ("compose", True, "sglang"), (
        seen.why_not
    )
    assert (seen.compose_project, seen.compose_files) == (f"p{service.port}", (str(service.file),))


def test_a_change_that_is_kept_says_where_its_file_lies(make: Make) -> None:
    service = make()
    text, keeper = service.file.read_text(), service.keeper()
    assert (
        keeper.begin(
            service.proposal(MORE, launcher="compose", env={"NCCL_DEBUG": "$x"}), "e1", 1
        ).state
        == "armed"
    )
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    assert service.info()["max_running_requests"] == 8
    assert b"NCCL_DEBUG=$x" in service.start()[1]
    keeper.keep()
    status = until(keeper, "kept")
    (override,) = overrides(service)
    assert any(str(override) in step for step in status.steps)
    assert override.stat().st_mode & 0o777 == 0o600
    assert SECRET not in override.read_text()
    assert service.file.read_text() == text
    seen = ReadLauncher().read(LocalHost().answer([ReadLauncher(port=service.port)])[0])
    assert seen.compose_files == (str(service.file), str(override))


def test_a_change_that_is_taken_back_leaves_the_project_as_it_was(make: Make) -> None:
    service = make()
    before, argv = service.inspect()["Config"]["Labels"], service.start()[0]
    keeper = service.keeper()
    keeper.begin(service.proposal(MORE, launcher="compose"), "e1", 1)
    keeper.stop()
    until(keeper, "stopped")
    keeper.start()
    until(keeper, "ready")
    keeper.restore()
    until(keeper, "restored")
    assert service.inspect()["Config"]["Labels"] == before
    assert service.start()[0] == argv
    assert not overrides(service)
    assert service.serves()


def test_files_changed_since_the_start_are_not_put_into_force_on_the_side(make: Make) -> None:
    service = make()
    service.file.write_text(service.file.read_text().replace('"always"', '"no"'))
    status = service.keeper().begin(service.proposal(MORE, launcher="compose"), "e1", 1)
    assert status.state == "withdrawn"
    assert status.trouble is not None
    assert "were changed since sglang was started" in status.trouble.sentence
    assert not overrides(service)
