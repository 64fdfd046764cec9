"""The kernel log: from the journal, or from dmesg where the journal may not be read.

The first argument is the number of lines. The first line printed says which of the two it was.
"""

import json
import os
import subprocess
import sys

LINES = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
WAYS = (
    ("journalctl", "-k", "-o", "short-iso", "-n", str(LINES), "--no-pager"),
    ("dmesg", "--time-format", "iso"),
    ("dmesg",),
)


def ask(argv):
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=8, check=False,
                              env=dict(os.environ, LC_ALL="C", SYSTEMD_COLORS="0"))  # fmt: skip
    except FileNotFoundError:
        return None, argv[0] + " is not installed"
    except (OSError, subprocess.SubprocessError) as why:
        return None, argv[0] + ": " + str(why).splitlines()[0]
    said = done.stdout.decode("utf-8", "replace")
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("-- ")]
    complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if done.returncode or not lines:
        return None, argv[0] + ": " + (
            complaint[-1][:200] if complaint else "it shows no line of the kernel"
        )
    return said, ""


def main():
    troubles = []
    for argv in WAYS:
        said, trouble = ask(argv)
        if said is not None:
            lines = said.splitlines()[-LINES:]
            print("$ " + " ".join(argv))
            print("\n".join(lines))
            return
        if trouble not in troubles:
            troubles.append(trouble)
    why = "the kernel log may not be read (" + "; ".join(troubles) + ")"
    what = (
        ": in a container, ask on its host; else add this user to the group adm or systemd-journal"
    )
    print(json.dumps({"failed": why + what}))


sys.stdout.reconfigure(errors="replace")
main()
