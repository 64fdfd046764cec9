"""The lab's sshd, one for the whole session, and the hosts that behave alike."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.asks import batches_seen
from tests.lab import sshd
from tests.lab.sshd import Lab, wait_for
from tools.batch import Batch
from tools.host import Host
from tools.hosts.local import LocalHost
from tools.hosts.ssh import SshHost


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if not sshd.SSHD:
        pytest.skip(sshd.MISSING)
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.stop()


@pytest.fixture
def own_lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab that a test may break."""
    if not sshd.SSHD:
        pytest.skip(sshd.MISSING)
    lab = Lab(tmp_path)
    yield lab
    lab.stop()


@pytest.fixture(scope="session")
def over_ssh(lab: Lab) -> Iterator[SshHost]:
    with SshHost("lab", config_file=lab.config) as host:
        yield host


@pytest.fixture(params=["ssh", "local"])
def host(request: pytest.FixtureRequest) -> Host:
    return LocalHost() if request.param == "local" else request.getfixturevalue("over_ssh")


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    return batches_seen(monkeypatch)


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An agent of our own, empty; its environment."""
    socket = tmp_path_factory.mktemp("a") / "s"
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL
    ) as process:
        wait_for(socket.exists, "the agent did not start")
        yield {"SSH_AUTH_SOCK": str(socket)}
        process.terminate()
