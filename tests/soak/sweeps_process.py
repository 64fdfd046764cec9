"""A process that carries out sweeps and helps with those of others, for the soak: its hosts answer nothing."""

from __future__ import annotations

import random
import sys
import time

from bot.audience import Nobody
from bot.settings import HostSettings, Settings
from bot.store import Store, StoreError
from bot.work import Work
from tools.errors import Unreachable
from tools.host import Host

HOSTS = tuple(f"gpu-{n}" for n in range(100))  # more than one process looks at at once


def main(url: str, executor: str) -> None:
    """Carry out all that is open, help, again and again."""
    settings = Settings(hosts=dict.fromkeys(HOSTS, HostSettings()))
    store = Store.open(url, executor=executor)

    def reach(name: str, _settings: Settings) -> Host:
        time.sleep(random.uniform(0.0, 1.0))
        raise Unreachable(f"{name} does not answer")

    work = Work(store, settings, Nobody(), reach)
    while True:
        try:
            for run in store.runs.open():
                work.carry_out(run.id)
            work.helping.once()
        except StoreError:
            continue
        time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
