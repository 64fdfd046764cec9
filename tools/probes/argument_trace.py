"""A dry run of the argument resolution in the server's own environment: asked once a person approved it."""

from __future__ import annotations

import json
from typing import ClassVar

from pydantic import Field

from tools.engine.argument_trace import ArgumentTrace
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told
from tools.sglang.on_host import script_with_names

RUN_S = 100  # as trace_arguments.py has it; importing SGLang takes 10 to 30 s on a busy host
_PARTS = "trace_run"


class TraceArguments(Probe[ArgumentTrace]):
    """Resolve the server's arguments once more, without serving, and record every write to them.

    It runs the engine's code, so it is among no table of questions: a person approves each. The
    process is shut in by the kernel (tools/remote/fence.py): no device, no network, no file written.
    What the code asks of the GPU is answered with the facts given here, or refused.
    """

    routine: ClassVar[bool] = False
    takes_s: ClassVar[float] = 30.0

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")
    gpu: str | None = Field(None, max_length=100, description="the GPU's name; None: there is none")
    capability: tuple[int, int] | None = None
    memory_mib: int | None = Field(None, ge=1)
    gpus: int | None = Field(None, ge=0)
    driver: str | None = Field(None, max_length=100)

    def command(self) -> Command:
        """Start it from /proc/PID as the server was started; only allow-listed values are printed."""
        facts = self.model_dump(exclude={"port"})
        asked = {"port": self.port, "gpu": facts if self.gpu else None}
        own = script_with_names(
            "trace_arguments",
            json.dumps(asked),
            after=("find_server", "fence"),
            limit_s=RUN_S + 15.0,
            max_bytes=8 << 20,
        )
        return own.model_copy(update={"stdin": f"TRACED = {traced_text()!r}\n{own.stdin}"})

    def recognises(self, text: str, /) -> bool:
        """Only our script prints such an object."""
        return text.lstrip().startswith('{"argument_trace"')

    def parse(self, stdout: str, /) -> ArgumentTrace:
        """Read our script's object."""
        said = told(stdout)
        if "argument_trace" not in said:
            raise Unreadable("the answer holds no dry run")
        return ArgumentTrace.model_validate({k: said.get(k) for k in ArgumentTrace.model_fields})


def traced_text() -> str:
    """Return the text that the server's own Python runs."""
    return script(_PARTS).stdin
