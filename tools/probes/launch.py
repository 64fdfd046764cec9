"""How the server was started: the arguments that were asked for, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from tools.engine import Launch
from tools.errors import Unreadable
from tools.host import Command
from tools.probe import Probe, told
from tools.sglang.command_line import is_log, read_lines
from tools.sglang.environment import clean_environment
from tools.sglang.launched import from_script
from tools.sglang.manifests import read_manifest
from tools.sglang.on_host import script_with_names


class ReadLaunch(Probe[Launch]):
    """Read how the model server was started: command line, --config file, user, unit, container, log.

    A person would type: tr '\\0' ' ' < /proc/PID/cmdline, or docker inspect. Keys are dropped.
    """

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Look through /proc for the server, and beside its interpreter for its version."""
        before = ("allow", "find_server", "find_package")
        return script_with_names("launch", *_port(self.port), after=before)

    def recognises(self, text: str, /) -> bool:
        """A command line of SGLang or vLLM, in a shell, `ps`, a unit, compose, a pod, or inspect."""
        if text.lstrip().startswith("{") and '"argv"' in text and '"engine"' in text:
            return True
        return not is_log(text) and (read_manifest(text) or read_lines(text)) is not None

    def clean(self, text: str, /) -> str:
        """Drop secrets, also of variables that a manifest gives."""
        return clean_environment(text)

    def parse(self, stdout: str, /) -> Launch:
        """Read the object that our script prints, or the first server that a pasted text starts."""
        if stdout.lstrip().startswith("{"):
            said: Mapping[str, Any] | None = _object(stdout)
            if said is not None:
                return from_script(said)
        found = read_manifest(stdout) or read_lines(stdout)
        if found is None:
            raise Unreadable("no command line of SGLang or vLLM in it")
        return found


def _port(port: int | None) -> tuple[str, ...]:
    return (str(port),) if port else ()


def _object(text: str) -> Mapping[str, Any] | None:
    said = told(text)
    return said if "argv" in said else None
