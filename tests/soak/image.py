"""A Dockerfile carried out without a container engine: each step in a Debian root of its own, by chroot."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
_STEP_S = 900


@dataclass
class Stage:
    """What a stage is: its root, and what its instructions set."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "0"
    folder: str = "/"
    says: dict[str, str] = field(default_factory=dict)  # ENTRYPOINT, CMD, HEALTHCHECK, VOLUME


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, each on one line, without comments."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    return [(name.upper(), rest.strip()) for name, _, rest in (one.partition(" ") for one in lines)]


class Builder:
    """Builds all stages below `folder`; `base` is a Debian root with Python, for python:3.11-slim.

    That image has its Python and pip in /usr/local; a virtual environment there stands for it.
    """

    def __init__(self, base: Path, folder: Path) -> None:
        self._base, self._folder = base, folder
        self.stages: dict[str, Stage] = {}
        self._now: Stage | None = None

    def build(self, text: str) -> dict[str, Stage]:
        for name, rest in instructions(text):
            getattr(self, f"_{name.lower()}")(rest)
        return self.stages

    def run(
        self, stage: Stage, argv: Sequence[str], *, read_only: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in a stage as its user; `read_only` with nothing but /tmp and /state to write."""
        environment = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root"}
        if stage.user != "0":
            environment["HOME"] = "/home/perfsleuth"
        environment |= {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
        environment |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
        environment |= stage.environment
        settings = [f"{name}={value}" for name, value in environment.items()]
        owner = stage.user if ":" in stage.user else f"{stage.user}:{stage.user}"
        root = str(stage.root)
        inside = ["chroot", f"--userspec={owner}", root, "env", "-i", "-C", stage.folder, *settings, *argv]  # fmt: skip
        mounts = ["mount --bind /dev $1/dev", "mount -t proc proc $1/proc"]
        if read_only:
            mounts[:0] = [
                "mount --bind $1 $1",
                "mount -o remount,ro,bind $1",
                "mount -t tmpfs tmpfs $1/tmp",
                "mount -t tmpfs -o uid=10001,mode=0700 tmpfs $1/state",
            ]
        script = f'root=$1; {" && ".join(mounts)} && shift && exec "$@"'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", root, *inside],
            capture_output=True,
            text=True,
            timeout=_STEP_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def _from(self, rest: str) -> None:
        image, _, name = rest.partition(" AS ")
        root = self._folder / name
        before = self.stages.get(image)
        subprocess.run(
            ["cp", "-a", str(before.root if before else self._base), str(root)], check=True
        )
        if before:
            self._now = Stage(root, dict(before.environment), before.user, before.folder)
        else:
            assert image == "python:3.11-slim", image
            self._now = Stage(root)
            self._must("python3 -m venv /usr/local && rm -f /usr/local/pyvenv.cfg.bak")
        self.stages[name] = self._now

    def _run(self, rest: str) -> None:
        if rest.startswith("["):
            self._checked(json.loads(rest))
        else:
            self._must(rest)

    def _must(self, script: str) -> None:
        self._checked(["sh", "-c", script])

    def _checked(self, argv: Sequence[str]) -> None:
        assert self._now
        done = self.run(self._now, argv)
        assert done.returncode == 0, f"{argv}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    def _copy(self, rest: str) -> None:
        assert self._now
        words = rest.split()
        source = ROOT
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).removeprefix("--from=")].root
        *names, to = words
        target = self._now.root / self._now.folder.lstrip("/") / to if not to.startswith("/") else self._now.root / to.lstrip("/")  # fmt: skip
        for name in names:
            place = source / name.lstrip("/")
            into = target / place.name if to.endswith("/") else target
            into.parent.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                shutil.copytree(place, into, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(place, into)

    def _workdir(self, rest: str) -> None:
        assert self._now
        self._now.folder = rest
        (self._now.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _env(self, rest: str) -> None:
        assert self._now
        known = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"} | self._now.environment
        for word in rest.split():
            name, _, value = word.partition("=")
            self._now.environment[name] = re.sub(r"\$(\w+)", lambda found: known[found[1]], value)

    def _user(self, rest: str) -> None:
        assert self._now
        self._now.user = "0" if rest == "root" else rest

    def _said(self, name: str, rest: str) -> None:
        assert self._now
        self._now.says[name] = rest

    def _volume(self, rest: str) -> None:
        self._said("VOLUME", rest)

    def _entrypoint(self, rest: str) -> None:
        self._said("ENTRYPOINT", rest)

    def _cmd(self, rest: str) -> None:
        self._said("CMD", rest)

    def _healthcheck(self, rest: str) -> None:
        self._said("HEALTHCHECK", rest)


def base_root(folder: Path) -> Path:
    """Make a clean Debian root with Python 3.11, and what this machine trusts."""
    root = folder / "base"
    subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=python3,python3-venv,ca-certificates", "bookworm", str(root)],
        check=True, capture_output=True, timeout=_STEP_S,
    )  # fmt: skip
    trust(root)
    return root


def trust(root: Path) -> None:
    """Let a root reach what this machine reaches: certificates, names, settings of apt and pip."""
    shutil.copy2(f"/{_CERTIFICATES}", root / _CERTIFICATES)
    shutil.copy2("/etc/resolv.conf", root / "etc/resolv.conf")
    for place in (*Path("/etc/apt/apt.conf.d").glob("*"), Path("/etc/pip.conf")):
        if place.is_file():
            shutil.copy2(place, root / str(place).lstrip("/"))
