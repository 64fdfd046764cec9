"""A stand-in server in a container: of the docker that runs here, or of a stand-in of docker's command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.change.engine import KEY, SECRET, SITE, StandIn
from tests.change.units import forget_group

STAND_IN = SITE / "docker.py"


def real_image() -> str:
    """Return the image PERFSLEUTH_TEST_IMAGE of a docker that answers, with Python and the stand-in in /srv; or nothing."""
    image = os.environ.get("PERFSLEUTH_TEST_IMAGE", "")
    if not image or not shutil.which("docker"):
        return ""
    done = subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False)
    return image if done.returncode == 0 else ""


class Box(StandIn):
    """A container `sglang-PORT` in the host's network; `options` are those of docker run."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        image: str = "",
        options: tuple[str, ...] = (),
        shell: str = "",
    ) -> None:
        self.image, self.options, self.shell, self.root = image, options, shell, folder
        if not image:
            (folder / "bin").mkdir(parents=True)
            (folder / "docker").mkdir()
            wrapper = folder / "bin/docker"
            wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {STAND_IN} "$@"\n')
            wrapper.chmod(0o755)
            os.environ.update(  # the fixture takes them back
                STAND_IN_DOCKER=str(folder / "docker"),
                STAND_IN_PYTHON=sys.executable,
                PATH=f"{folder / 'bin'}:{os.environ['PATH']}",
            )
        super().__init__(folder, *flags)

    @property
    def name(self) -> str:
        return f"sglang-{self.port}"

    @property
    def words(self) -> list[str]:
        return (
            [self.shell] if self.shell else ["python3", "-m", "sglang.launch_server", *self.flags]
        )

    def launch(self) -> None:
        path = "/srv" if self.image else str(SITE)
        env = [
            "-e",
            f"PYTHONPATH={path}",
            "-e",
            f"HF_TOKEN={SECRET}",
            "-e",
            "NCCL_DEBUG=WARN",
            "-e",
            "ODD= #a  b=c",
        ]
        argv = [
            "run",
            "-d",
            "--name",
            self.name,
            "--network",
            "host",
            *env,
            *self.options,
            self.image or "sg:1",
        ]
        self.docker(
            *argv,
            *(
                ["sh", "-c", self.shell.format(flags=" ".join(self.flags))]
                if self.shell
                else self.words
            ),
        )

    def docker(self, *words: str) -> str:
        done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def inspect(self, name: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.docker("inspect", name or self.name))[0]
        return found

    def names(self) -> dict[str, bool]:
        """Return the containers of this port and whether they run."""
        rows = self.docker("ps", "-a", "--format", "{{.Names}} {{.State}}").splitlines()
        pairs = [row.split() for row in rows if row.startswith(self.name)]
        return {name: state == "running" for name, state in pairs}

    def text(self) -> str:
        return subprocess.run(
            ["docker", "logs", self.name], capture_output=True, text=True, check=False
        ).stdout

    def clear(self) -> None:
        rows = subprocess.run(
            ["docker", "ps", "-a", "--format", "{{.Names}}"],
            capture_output=True,
            text=True,
            check=False,
        )
        super().clear()
        for name in rows.stdout.split():
            if name.startswith(self.name):
                subprocess.run(["docker", "rm", "-f", name], capture_output=True, check=False)
        for log in (self.root / "docker").glob("*.log"):
            forget_group(f"docker/{log.stem}")


class Service(Box):
    """The service `sglang` of a compose project of its own; its file is JSON, which is YAML too."""

    @property
    def name(self) -> str:
        return f"p{self.port}-sglang-1"

    @property
    def file(self) -> Path:
        return self.root / "compose.yaml"

    def launch(self) -> None:
        env = {"PYTHONPATH": str(SITE), "HF_TOKEN": SECRET, "NCCL_DEBUG": "WARN"}
        service = {
            "image": "sg:1",
            "network_mode": "host",
            "restart": "always",
            "command": self.words,
            "environment": env,
        }
        self.file.write_text(json.dumps({"services": {"sglang": service}}, indent=2))
        self.docker("compose", "-p", f"p{self.port}", "-f", str(self.file), "up", "-d", "sglang")


__all__ = ["KEY", "SECRET", "Box", "Service", "real_image"]
