"""The real engine started as people start it: in a shell, in tmux, by a script, by a unit, in a container."""

from __future__ import annotations

import os
from pathlib import Path

from tests.change.boxes import Box
from tests.change.engine import KEY, StandIn
from tests.change.units import Unit
from tests.lab.sshd import free_port, wait_for
from tests.real_engine.engine import STAND_INS, START_S

CPU = {"SGLANG_USE_CPU_ENGINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(STAND_INS)}


def flags(model: Path, *more: str) -> tuple[str, ...]:
    """Return what makes it serve on two cores."""
    return (
        "--device", "cpu", "--host", "127.0.0.1", "--model-path", str(model), "--sampling-backend", "pytorch",
        "--attention-backend", "torch_native", "--disable-custom-all-reduce", "--sleep-on-idle",
        "--max-total-tokens", "16384", "--chunked-prefill-size", "512", *more,
    )  # fmt: skip


def come_up(server: StandIn) -> None:
    """Wait for it; one that does not come up is ended."""
    try:
        wait_for(server.serves, "it does not answer", START_S)
    except AssertionError as why:
        told = server.text()[-2000:]
        server.clear()
        raise AssertionError(told) from why


class Served(StandIn):
    """`how`: nohup, script, tmux."""

    def __init__(self, folder: Path, venv: Path, *told: str, how: str = "nohup") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port, self.key, self.how = folder, free_port(), KEY, how
        self.log = folder / "serve.log"
        self.flags = ("--port", str(self.port), *told, "--api-key", KEY)
        self.argv = [str(venv / "bin/python"), "-m", "sglang.launch_server", *self.flags]
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm"} | CPU
        self.session = f"psl{self.port}"
        self.launch()
        come_up(self)


class ServedUnit(Unit):
    """By a unit of the systemctl that stands in."""

    def __init__(self, folder: Path, venv: Path, *told: str) -> None:
        more = "\n".join(f"Environment={name}={value}" for name, value in CPU.items())
        line = f"{venv / 'bin/python'} -m sglang.launch_server {{flags}}"
        super().__init__(folder, *told, line=line, more=more)
        come_up(self)

    def start(self) -> tuple[list[bytes], list[bytes], bytes, bytes]:
        """Leave out what systemd gives anew to each start."""
        argv, environ, cwd, exe = super().start()
        return argv, [one for one in environ if not one.startswith(b"INVOCATION_ID=")], cwd, exe


class ServedBox(Box):
    """In a container of the docker that stands in."""

    def __init__(self, folder: Path, venv: Path, *told: str) -> None:
        self.python = str(venv / "bin/python")
        options = tuple(word for name, value in CPU.items() for word in ("-e", f"{name}={value}"))
        super().__init__(folder, *told, options=options)
        come_up(self)

    def launch(self) -> None:
        os.environ["STAND_IN_PYTHON"] = self.python  # the fixture takes it back
        super().launch()
