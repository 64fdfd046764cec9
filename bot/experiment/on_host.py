"""A host in the hands of an experiment: its keeper, the load, what is in effect, which server runs."""

from __future__ import annotations

from collections.abc import Sequence

from bot.experiment import load
from bot.experiment.effects import effects
from bot.experiment.hands import Run
from bot.experiment.record import Proof, Record
from tools.change import Identity, Proposal
from tools.change.keeper import Keeper
from tools.engine import ServerInfo
from tools.engine.launcher import Launcher
from tools.errors import HostError
from tools.evidence import AnyProbe, Evidence, ask
from tools.host import Host
from tools.probes.launcher import ReadLauncher
from tools.probes.server_info import ReadServerInfo

_LINES = 4000  # of a log since its start, in which a proof is looked for


class OnHost:
    """Reaches the host that it is given. `close` ends a run of load, and nothing else."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loading = False

    def keeper(self, record: Record, /) -> Keeper:
        """Return the keeper as this experiment and its fence speak to it."""
        return Keeper(self._host, record.proposal.port, name=record.name, fence=record.fence)

    def longest_s(self, proposal: Proposal, /) -> float:
        """Return how long one run may take."""
        return load.longest_s(proposal)

    def run(self, proposal: Proposal, /) -> Run:
        """Put the load on the server once."""
        self._loading = True
        try:
            return load.one_run(self._host, proposal)
        finally:
            self._loading = False

    def effects(self, record: Record, /) -> Sequence[Proof]:
        """Ask the server what it runs with, and read its log since its start.

        A server that wants a key for /server_info tells nothing: no key is sent, its log has to do.
        """
        look = self._asked([ReadServerInfo(port=record.proposal.port)])[0]
        info = look.facts if isinstance(look.facts, ServerInfo) else None
        log = self.keeper(record).log(_LINES) if record.phase in ("verifying", "after") else ()
        return tuple(effects(record, info, log))

    def running(self, proposal: Proposal, /) -> Identity | None:
        """Return which server owns the port; None: none does."""
        facts = self._asked([ReadLauncher(port=proposal.port)])[0].facts
        if not isinstance(facts, Launcher) or facts.port not in (None, proposal.port):
            return None
        told = (facts.started_ticks, facts.boot_id, facts.digest)
        if None in told:
            return None
        return Identity.model_validate(
            {"pid": facts.pid, "started_ticks": told[0], "boot_id": told[1], "digest": told[2]}
        )

    def close(self) -> None:
        """End the run of load that is on; a verb to the keeper is never cut."""
        if self._loading:
            self._host.close()

    def _asked(self, probes: Sequence[AnyProbe]) -> list[Evidence]:
        looks = ask(self._host, probes)
        if all(one.output is None or one.output.lost for one in looks):
            raise HostError(f"{self._host.name}: {looks[0].trouble}")
        return looks
