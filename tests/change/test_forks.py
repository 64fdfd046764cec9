"""The keeper makes servers and understudies in two threads: neither may hold what was meant for the other."""

from __future__ import annotations

import subprocess
import sys

from tools.change.keeper import _begin

UNDERSTUDY_MEANWHILE = """
import sys
import threading

text = sys.stdin.read()
exec(compile(text.rpartition("print(")[0], "keeper", "exec"))


class Held(Plain):
    def __init__(self):
        self.forks, self.state = threading.Lock(), {}
        self.forked, self.go_on = threading.Event(), threading.Event()

    def _takes(self, pid):
        self.forked.set()
        self.go_on.wait(20)


class Quiet(Service):
    def __init__(self, launcher):
        self.launcher, self.listener, self.link, self.understudy = launcher, None, None, 0
        self.lock = threading.Lock()
        self.change = type("None", (), {"book": {"state": "armed"}})()


def give(told, fds):
    os._exit(0)


launcher = Held()
service, said = Quiet(launcher), []
spawns = threading.Thread(target=lambda: said.append(launcher._spawn({}, [])), daemon=True)
spawns.start()
launcher.forked.wait(20)
doubles = threading.Thread(target=service.double, daemon=True)
doubles.start()
doubles.join(1.0)
early = service.understudy
launcher.go_on.set()
spawns.join(10.0)
doubles.join(10.0)
print(said, "too early" if early else "waited", "made" if service.understudy else "not made", flush=True)
service.listener = os.fdopen(os.open(os.devnull, os.O_RDONLY))
service.leave()
"""


def test_no_understudy_is_made_while_the_process_of_a_server_is() -> None:
    """It would not know that process, and would hold the pipe open at whose end a server of no keeper ends."""
    done = subprocess.run(
        [sys.executable, "-c", UNDERSTUDY_MEANWHILE], input=_begin({}).stdin, capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert done.stdout.strip() == "[''] waited made", done.stderr
