"""What one person may see of the hosts: names, the last verdict of each, and what runs now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.access import Access, Asker
from bot.settings import Settings
from bot.store.run import Run

if TYPE_CHECKING:
    from bot.store import Store


@dataclass(frozen=True)
class Seen:
    """Hosts by name, the last verdict where there is one, and open work; `refusal` where nothing."""

    hosts: tuple[str, ...]
    last: dict[str, Run]
    open: tuple[Run, ...]
    refusal: str | None = None


class SeenBy:
    """Reads the store for one person, as the inventory lets them; sync, for a thread."""

    def __init__(self, store: Store, settings: Settings, access: Access) -> None:
        self._store = store
        self._settings = settings
        self._access = access

    def look(self, user: str, channel: str, *, act: str = "") -> Seen:
        """Return what a person may see in a channel; raises StoreError, and what groups raise.

        A refusal of an `act` goes into the audit; to look at our Home is none.
        """
        asker = Asker(user, channel)
        if refusal := self._access.refusal(asker):
            if act:
                self._store.audit.note(user, channel, act, "", "refused")
            return Seen((), {}, (), refusal)
        hosts = tuple(
            name for name in self._settings.hosts if self._access.refusal(asker, name) is None
        )
        known = {name.lower() for name in hosts}
        last = {name: run for name in hosts if (run := self._store.runs.last_of(name))}
        work = tuple(
            run
            for run in self._store.runs.open()
            if run.state != "joined" and (run.host or "").lower() in known
        )
        return Seen(hosts, last, work)
