"""The variables of the server's environment that bear on speed."""

from __future__ import annotations

from pydantic import Field

from tools.engine import Environment
from tools.errors import Unreadable
from tools.host import Command
from tools.probe import Probe, told
from tools.sglang.environment import allowed as bears_on_speed
from tools.sglang.environment import clean_environment, kept, read_environment, variables
from tools.sglang.on_host import script_with_names


class ReadEnvironment(Probe[Environment]):
    """Read the environment: the server's variables that bear on speed, NCCL_*, SGLANG_*, CUDA_* and so on.

    A person would type: tr '\\0' '\\n' < /proc/PID/environ | grep -E '^(NCCL|SGLANG|CUDA)_'.
    """

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Read /proc/PID/environ; other names than those of the allow-list never leave the host."""
        port = (str(self.port),) if self.port else ()
        return script_with_names("environment", *port, after=("find_server",), limit_s=10)

    def recognises(self, text: str, /) -> bool:
        """A listing of variables, `docker -e`, `environment:` of a compose file, a pod's `env:`."""
        if text.lstrip().startswith("{") and '"values"' in text[:100] and '"dropped"' in text:
            return True
        return any(bears_on_speed(name) for name in variables(text))

    def clean(self, text: str, /) -> str:
        """Drop the values of other variables, then all that looks like a secret."""
        return clean_environment(text)

    def parse(self, stdout: str, /) -> Environment:
        """Read our script's object, or any listing."""
        if not stdout.lstrip().startswith(('{"values"', '{"absent"', '{"failed"')):
            return read_environment(stdout)
        said = told(stdout)
        values, dropped = said.get("values"), said.get("dropped")
        if not isinstance(values, dict):
            raise Unreadable("the answer holds no variables")
        named = {str(name): str(value) for name, value in values.items()}
        return kept(named, dropped if isinstance(dropped, int) else 0)
