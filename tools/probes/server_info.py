"""What a running server says of itself: resolved arguments, and those in effect."""

from __future__ import annotations

from pydantic import Field

from tools.engine import ServerInfo
from tools.host import Command
from tools.probe import Probe, told
from tools.sglang.endpoints import clean_server_info, is_server_info, read_server_info
from tools.sglang.on_host import script_with_names


class ReadServerInfo(Probe[ServerInfo]):
    """Read SGLang's arguments: as resolved, and as in effect in each scheduler; keys are dropped.

    A person would type: curl -s http://127.0.0.1:PORT/server_info (before 0.5.6: /get_server_info).
    """

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Ask over loopback, on the host, without a key."""
        before = ("allow", "find_server", "ask_server")
        port = (str(self.port),) if self.port else ()
        return script_with_names("server_info", *port, after=before, limit_s=25)

    def recognises(self, text: str, /) -> bool:
        """JSON with the fields of ServerArgs."""
        return is_server_info(text)

    def clean(self, text: str, /) -> str:
        """Drop the values of all names that are not on the allow-list."""
        return clean_server_info(text)

    def parse(self, stdout: str, /) -> ServerInfo:
        """Read the answer of any version, ours or pasted, whole or cut."""
        if stdout.lstrip().startswith(('{"absent"', '{"failed"')):
            told(stdout)
        return read_server_info(stdout)
