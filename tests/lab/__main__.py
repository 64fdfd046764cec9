"""Run the lab by hand: `make lab`, then ask it as it says."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.lab import sshd
from tests.lab.engine import Engine
from tests.lab.sshd import Lab

MOODS = Path(__file__).parent / "moods"


def main() -> int:
    """Start sshd and the server, say how to reach them, and stay until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument(
        "--mood", choices=sorted(path.name for path in MOODS.iterdir()), default="healthy"
    )
    parser.add_argument("--folder", type=Path, help="where its files go; default: a passing one")
    asked = parser.parse_args()
    mood = asked.mood
    if not sshd.SSHD:
        print(sshd.MISSING, file=sys.stderr)
        return 3
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # its servers end with it, too
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="perfsleuth-lab-"))
    lab, engine = Lab(folder), Engine(folder)
    lab.mood(mood)
    settings = folder / "hosts.toml"
    settings.write_text(
        f'[hosts.lab]\nssh = "lab"\nssh_config = "{lab.config}"\nport = {engine.port}\n'
    )
    print(
        f"The lab is up, in the mood {mood!r} (others: echo NAME > {folder}/mood; {', '.join(sorted(p.name for p in MOODS.iterdir()))}).\n"
        f"  by hand:        ssh -F {lab.config} lab nvidia-smi\n"
        f"  hosts.toml:     {settings}\n"
        f"  its server:     http://127.0.0.1:{engine.port}/server_info, log {engine.log}\n"
        "Ctrl-C ends it.",
        flush=True,
    )
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return 0
    finally:
        engine.stop()
        lab.stop()
        if not asked.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
