"""A stop: from somebody's word until nothing runs any more on a real host, and until it is told what was learned."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from bot.work import Work
from tests.bench.slack_bench import tell
from tests.lab import sshd
from tests.lab.sshd import Lab, alive, wait_for
from tests.work.room import Room
from tests.work.slow_host import SlowHost, begun

RUNS = 7
AIM_S = 5.0
QUICK_S = 2.0  # until what answers soon has answered


def stop(lab: Lab, folder: Path) -> tuple[float, float]:
    """Ask, stop, and return the seconds until all processes are gone and until the verdict is there."""
    folder.mkdir()
    note, room = folder / "note", Room(folder)
    room.worker = Work(
        room.store,
        room.settings,
        room.watching,
        lambda name, _settings: SlowHost(lab, name, note),
        names=lambda _: "ana",
    )
    ts = room.say("why is CT129 slow?")
    working = threading.Thread(target=room.work)
    working.start()
    numbers = begun(note)
    time.sleep(QUICK_S)
    at = time.monotonic()
    room.desk.stop("CGPU", ts, "UANA", "evt:stop")
    wait_for(lambda: not any(map(alive, numbers)), "a process on the host lives on")
    gone = time.monotonic() - at
    wait_for(lambda: bool(room.letters(ts, "verdict")), "nobody said what was learned")
    said = time.monotonic() - at
    working.join()
    room.store.close()
    return gone, said


def main() -> int:
    """Measure and print."""
    if not sshd.SSHD:
        print(sshd.MISSING, file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder) / "lab")
        lab.mood("gen1_busy")
        try:
            took = [stop(lab, Path(folder) / str(number)) for number in range(RUNS)]
        finally:
            lab.stop()
    gone, said = zip(*took, strict=True)
    print(f"a stop while a command on a host over SSH ignores signals, {RUNS} times")
    tell(f"stop to no process left (aim {AIM_S:.0f} s)", list(gone))
    tell(f"stop to what was learned (aim {AIM_S:.0f} s)", list(said))
    print("The aims are met." if max(gone + said) < AIM_S else "The aims are NOT met.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
