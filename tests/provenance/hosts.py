"""A host over a real sshd on which an engine of our own writing runs, with the source it was started from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.lab.engine import SITE, Engine
from tests.lab.sshd import Lab
from tests.provenance.engines import VISION, direct
from tools.host import Asks, Host, Output

ARGS = "sglang/srt/server_args.py"
PACKAGE = {"sglang/srt/__init__.py": ""}
SHAPE = {"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4}


class Served:
    """One server: its folder, its site-packages, and the hosts.toml in which its host is called `lab`."""

    def __init__(
        self, folder: Path, lab: Lab, texts: Mapping[str, str], *more: str, boxed: bool = False
    ) -> None:
        self.site, self.model = folder / ("inside" if boxed else "site"), folder / "model"
        shutil.copytree(SITE, self.site)
        shutil.copytree(SITE.parent / "server", folder / "server")
        write(self.site, texts)
        self.model.mkdir()
        (self.model / "config.json").write_text(json.dumps(VISION | SHAPE))
        self.info = folder / "server" / "server_info.json"
        own = {"site": self.site}
        if boxed:
            (folder / "site").mkdir()
            own = {"site": folder / "site", "python": boxed_python(folder)}
        self.engine = Engine(folder, model=str(self.model), more=more, **own)
        self.hosts = folder / "hosts.toml"
        self.hosts.write_text(
            f'[hosts.lab]\nssh = "lab"\nssh_config = "{lab.config}"\nport = {self.engine.port}\n'
            f'[hosts.gone]\nssh = "lab"\nssh_config = "{lab.configure("gone", Port="1")}"\n'
        )

    def says(self, **told: Any) -> None:
        """Let the server answer this of itself from now on."""
        self.info.write_text(json.dumps({"model_path": str(self.model), "port": 1, **told}))


class Counted:
    """A host that counts: how often it was asked, for which files, and what came."""

    def __init__(self, host: Host) -> None:
        self.name, self._host = host.name, host
        self.asked: list[list[Asks]] = []

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self.asked.append(list(probes))
        return self._host.answer(probes)

    def close(self) -> None:
        self._host.close()


def boxed_python(folder: Path) -> str:
    """A Python with mounts of its own: what it sees at `site` is not there for anybody else."""
    script = folder / "python3"
    mount = f'mount --bind {folder}/inside {folder}/site && exec /usr/bin/python3 "$@"'
    script.write_text(f"#!/bin/sh\nexec unshare -m sh -c '{mount}' sh \"$@\"\n")
    script.chmod(0o755)
    return str(script)


def small(**more: str) -> dict[str, str]:
    """The engine that assigns where it decides, with the flags that the lab's server is started with."""
    texts = {**direct().texts, **PACKAGE, **more}
    added = '"--api-key")\n        parser.add_argument("--port")\n        parser.add_argument("--mem-fraction-static")'
    texts[ARGS] = texts[ARGS].replace('"--api-key")', added)
    return texts


def write(site: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    return site
