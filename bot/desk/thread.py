"""What happened in a thread so far, as far as it matters to what is said next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bot.store import Run
from bot.work.pairs import asked_by

_LOOKS = ("host", "files")
_JUDGES = ("host", "files", "followup")  # an experiment ends in a result, and no verdict
_CHANGES = ("experiment", "campaign")
WHICH = "which host?"  # the headline of a question that named no host


@dataclass(frozen=True)
class Thread:
    """All runs of a thread, oldest first."""

    runs: tuple[Run, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Thread:
        """Take the runs of a thread."""
        return cls(tuple(runs))

    @property
    def known(self) -> bool:
        """Say whether anything was asked here."""
        return bool(self.runs)

    @property
    def open(self) -> Run | None:
        """Return the newest work that waits, joins or runs."""
        return next((run for run in reversed(self.runs) if not run.ended), None)

    @property
    def looking(self) -> Run | None:
        """Return the newest work that will end in a verdict."""
        found = (run for run in reversed(self.runs) if not run.ended and run.kind in _LOOKS)
        return next(found, None)

    @property
    def about(self) -> Run | None:
        """Return the newest verdict, which a follow-up means; of a mere comparison the host named first."""
        asides, judged = self._asides(), list(self._judged())
        own = next((run for run in judged if run.id not in asides), None)
        return own or next(reversed(judged), None)

    def about_one_of(self, hosts: Collection[str]) -> Run | None:
        """Return the newest verdict on one of these hosts, for a follow-up that names it."""
        wanted = {host.lower() for host in hosts}
        return next((run for run in self._judged() if (run.host or "").lower() in wanted), None)

    def _judged(self) -> Iterator[Run]:
        return (
            run for run in reversed(self.runs) if run.ended and run.category and run.kind in _JUDGES
        )

    @property
    def morning(self) -> Run | None:
        """Return the summary that began the thread."""
        found = (run for run in reversed(self.runs) if run.ended and run.kind == "sweep")
        return next(found, None)

    @property
    def changing(self) -> Run | None:
        """Return the experiment that is under way, or the plan."""
        found = (run for run in reversed(self.runs) if not run.ended and run.kind in _CHANGES)
        return next(found, None)

    def _asides(self) -> frozenset[int]:
        """Return looks at another host that were taken only to compare with it: talk stays where it was."""
        asking = {run.key for run in self.runs if run.kind == "followup"}
        return frozenset(
            run.id for run in self.runs if run.kind == "host" and asked_by(run) in asking
        )

    @property
    def host(self) -> str | None:
        """Return the host that was spoken of last."""
        return next((run.host for run in reversed(self.runs) if run.host), None)

    @property
    def means(self) -> frozenset[str]:
        """Return the hosts that an answer here draws on, where the question names none."""
        about = self.about
        return frozenset(host for host in (self.host, about and about.host) if host)

    @property
    def at_work(self) -> frozenset[str]:
        """Return the hosts of all open work, which a stop would end."""
        return frozenset(run.host for run in self.runs if run.host and not run.ended)

    @property
    def unnamed(self) -> Run | None:
        """Return the question that waits for the name of its host."""
        last = self.runs[-1] if self.runs else None
        return last if last and last.ended and last.headline == WHICH else None

    def asked_of(self, host: str) -> Run | None:
        """Return the newest question about a host, for who wants it looked at again."""
        of_host = (
            run
            for run in reversed(self.runs)
            if run.kind == "host" and (run.host or "").lower() == host.lower()
        )
        return next(of_host, None)
