"""The keeper of a change, from the bot's side: one verb, one status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tools.change.proposal import Proposal
from tools.change.status import Status
from tools.change.troubles import shown, trouble_of
from tools.errors import HostError, ToolsError
from tools.harmless import harmless
from tools.host import Command, Host, script
from tools.secrets import scrub
from tools.sglang.on_host import script_with_names

# The ways of starting a server, each a file of tools/remote that puts its class into LAUNCHERS.
LAUNCHER_SCRIPTS = ("keeper_plain", "keeper_systemd", "keeper_docker", "keeper_compose")
BEGIN_S = 60.0  # a request to the old server, and whatever a launcher prepares
ASK_S = 20.0


class Held(ToolsError):
    """The host is held by another experiment, or this one was taken over; the sentence says by whom."""


@dataclass(frozen=True)
class _Asked:
    """A request to the keeper, as a host takes it."""

    key: str
    line: Command

    def command(self) -> Command:
        return self.line

    def recognises(self, _: str, /) -> bool:
        return False


class Keeper:
    """What holds the server on one port of a host while it is changed.

    Every verb may be repeated: it returns at once, and what it began goes on on the host. All raise
    HostError where the host or the keeper does not answer, Held where another experiment holds it.
    """

    def __init__(self, host: Host, port: int, *, name: str = "", fence: int = 0) -> None:
        self.host, self.port, self.name, self.fence = host, port, name, fence

    def begin(self, proposal: Proposal, name: str, fence: int) -> Status:
        """Learn the old server whole, and hold the host; `withdrawn` where it is not what was approved."""
        self.name, self.fence = name, fence
        asked = {"proposal": proposal.model_dump(mode="json")}
        return self._status(self._put("begin", **asked))

    def status(self) -> Status | None:
        """Return how it is; None: no keeper answers on the host. Counts as a sign of life."""
        told = self._put("status" if self.name else "look", wait=bool(self.name))
        return None if "absent" in told else self._status(told)

    beat = status

    def drain(self, bound_s: float) -> Status:
        """Wait until no request runs, for so many seconds at the most; then it is `drained` anyway."""
        return self._status(self._put("drain", bound_s=bound_s, wait=True))

    def stop(self) -> Status:
        """End the old server and all that belongs to it."""
        return self._verb("stop")

    def start(self) -> Status:
        """Start the new one; where it does not become ready, the keeper restores by itself."""
        return self._verb("start")

    def keep(self) -> Status:
        """The new server stays."""
        return self._verb("keep")

    def restore(self) -> Status:
        """End the new server and bring the old one back; before the old was touched: withdraw."""
        return self._verb("restore")

    def withdraw(self) -> Status:
        """Leave before the old server was touched; afterwards nothing happens."""
        return self._verb("withdraw")

    def dismiss(self) -> Status:
        """Let the keeper leave after the end."""
        return self._verb("dismiss")

    def log(self, max_lines: int = 200) -> tuple[str, ...]:
        """Return the last lines of what was started last, without secrets."""
        told = self._put("log", lines=max_lines, wait=True)
        if "lines" not in told:
            raise HostError(f"{self.host.name}: {told.get('absent') or 'the keeper has no log'}")
        return shown(told["lines"])

    def _verb(self, verb: str) -> Status:
        return self._status(self._put(verb, wait=True))

    def _put(self, verb: str, **more: Any) -> Mapping[str, Any]:
        asked = {"verb": verb, "port": self.port, "name": self.name, "fence": self.fence, **more}
        command = _begin(asked) if verb == "begin" else _ask(asked)
        output = self.host.answer([_Asked(f"Keeper {verb}", command)])[0]
        try:
            told = json.loads(output.stdout)
        except ValueError:
            why = output.lost or scrub(output.stderr.strip()[-300:]) or "it said nothing"
            raise HostError(f"{self.host.name}: the keeper could not be asked: {why}") from None
        if "refused" in told:
            raise Held(f"{self.host.name}: {told['refused']}")
        if "keeper" not in told and isinstance(told.get("failed"), str):
            raise HostError(f"{self.host.name}: {told['failed']}")
        return dict(told)

    def _status(self, told: Mapping[str, Any]) -> Status:
        if "absent" in told:
            raise HostError(
                f"{self.host.name}: {told['absent']}; look at the host which server runs"
            )
        names = (
            "name",
            "fence",
            "state",
            "old",
            "new",
            "ready_after_s",
            "running_requests",
            "silence_left_s",
        )
        steps = tuple(harmless(scrub(step)) for step in told["steps"])
        found = {name: told.get(name) for name in names}
        return Status(**found, steps=steps, trouble=trouble_of(told["failed"]))


def _ask(asked: Mapping[str, Any]) -> Command:
    return script("keeper_ask", json.dumps(asked), limit_s=ASK_S, max_bytes=16 << 20)


def _begin(asked: Mapping[str, Any]) -> Command:
    command = script_with_names(
        "keeper_begin", json.dumps(asked), after=LAUNCHER_SCRIPTS, limit_s=BEGIN_S
    )
    give = (files("tools.remote") / "keeper_give.py").read_text(encoding="utf-8")
    return command.model_copy(update={"stdin": f"GIVE_TEXT = {give!r}\n{command.stdin}"})
