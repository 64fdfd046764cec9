"""The terminal that a server writes to: a pane of tmux, a window of screen. A part of the keeper.

It gives `terminal_for`. A new server goes on writing to the same terminal. Where that would close together with the
server, tmux is told to keep the pane, and screen gets a new window before the old one closes; a stub in it asks the
keeper for command line and environment, so that no secret stands in an argument.
"""

# Goes after keeper_launcher.py
# ruff: noqa: F821

import base64
import os
import subprocess
import sys
import termios
import time
import zlib

_SHOWN_S = 5
STUB_S = 10.0  # for a stub in a terminal to ask for what it is to become
# What the stub runs: it takes text and streams from the keeper, which must be of root or of its own user.
STUB = (
    "import socket,struct,sys,json,array;s=socket.socket(socket.AF_UNIX);s.connect(chr(0)+sys.argv[1]);"
    "import os;u=struct.unpack('3i',s.getsockopt(socket.SOL_SOCKET,socket.SO_PEERCRED,12))[1];"
    "u in (0,os.getuid()) or sys.exit('not the keeper');"
    "s.sendall(json.dumps({'verb':'become','token':sys.argv[2]}).encode()+bytes([10]));"
    "d,a,_,_=s.recvmsg(65536,socket.CMSG_SPACE(12));"
    "f=array.array('i');[f.frombytes(c[2]) for c in a];"
    "exec('while not d.endswith(bytes([10])):\\n p=s.recv(65536)\\n if not p: sys.exit(1)\\n d+=p');"
    "t=json.loads(d.decode());n={};exec(t['text'],n);"
    "n['give'](t['told'],[None if k is None else f[k] for k in t['fds']])"
)
# screen reads quotes, dollars and backslashes of an argument anew, and takes no more than some hundred bytes of them.
UNPACK = "import sys,zlib,base64;exec(zlib.decompress(base64.b64decode(sys.argv[3])))"


def shown_by(argv, user=None):
    """Return what a program prints, or None where it fails."""
    more = {}
    if user is not None and os.geteuid() == 0 and user[0] != 0:
        more["preexec_fn"] = lambda: (os.setgroups([]), os.setgid(user[1]), os.setuid(user[0]))
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=_SHOWN_S, **more)  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def closed(fd):
    """Say whether a terminal has been hung up; another one may have its name by now."""
    try:
        termios.tcgetattr(fd)
    except (OSError, termios.error):
        return True
    return False


class Terminal:
    """None, or one that nobody can be asked about."""

    def __init__(self, start):
        self.start = start
        self.paths = {target.path for target in start.targets if target.kind == "terminal"}
        self.user = (start.uids[1], start.gids[1])

    def check(self):
        if self.paths:
            where = ", ".join(sorted(self.paths))
            return [
                f"it writes to the terminal {where}: when that closes, what the server says goes nowhere"
            ]
        return []

    def before_end(self, state):
        """Do what keeps the terminal when the server ends."""

    def dead(self):
        """Say whether a new server can only come back into this terminal through a stub."""
        return False

    def stream(self, target):
        """Return the descriptor for a new process; nowhere, when the terminal has closed meanwhile."""
        if target.held is None:
            return None
        if target.kind == "terminal" and closed(target.held):
            return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        return target.ready()

    def place(self):
        """Return the row at which the next process begins to write, from which `log` reads; None: nobody knows."""

    def log(self, max_lines, place=None):  # noqa: ARG002
        return []

    def settle(self):
        """Put the terminal's settings back as they were."""

    def offer(self, told, fds):
        """Leave with the keeper what a stub is to become; return the token that it asks with."""
        own = self.own_streams(fds)
        return OFFERS.make(told, own)

    def own_streams(self, fds):
        """Return the streams that go elsewhere than into the terminal; None where the stub's own one stays."""
        kinds = [target.kind for target in self.start.targets]
        return [None if kinds[at] == "terminal" else fd for at, fd in enumerate(fds)]

    def stub(self, token):
        packed = base64.b64encode(zlib.compress(STUB.encode(), 9)).decode()
        return [sys.executable or "python3", "-I", "-c", UNPACK, OFFERS.name, token, packed]

    def wait(self, token, takes):
        """Wait until the stub has asked; it becomes the server. Return what went wrong."""
        until = time.monotonic() + STUB_S
        while time.monotonic() < until:
            pid = OFFERS.taken(token)
            if pid:
                with self.forks:
                    takes(pid)
                    OFFERS.release(token)
                return ""
            time.sleep(0.02)
        OFFERS.drop(token)
        return "nothing came up in the terminal to take it"


class Tmux(Terminal):
    """A pane of tmux. Its own server is asked, by the socket that the pane's environment names."""

    def __init__(self, start, socket, pane):
        super().__init__(start)
        self.socket, self.pane, self.was = socket, pane, None
        tty = (self.tmux("display-message", "-p", "-t", pane, "#{pane_tty}") or "").strip()
        self.mine = tty in self.paths or (bool(tty) and os.stat(tty).st_rdev == start.terminal)

    def tmux(self, *words):
        return shown_by(["tmux", "-S", self.socket, *words], self.user)

    def check(self):
        found = self.tmux("display-message", "-p", "-t", self.pane, "#S:#I.#P")
        if not found or not self.mine:
            return super().check()
        return [f"it comes back into the same pane of tmux, {found.strip()}"]

    def before_end(self, state):
        if not self.mine:
            return
        if "pane" not in state:
            shown = self.tmux("show-options", "-p", "-v", "-t", self.pane, "remain-on-exit")
            state["pane"] = (shown or "").strip()
        self.was = state["pane"]
        self.tmux("set-option", "-p", "-t", self.pane, "remain-on-exit", "on")

    def dead(self):
        # a shell that has nothing more to do ends a moment after the server
        for _ in range(10 if self.mine else 0):
            if (
                self.tmux("display-message", "-p", "-t", self.pane, "#{pane_dead}") or ""
            ).strip() == "1":
                return True
            time.sleep(0.05)
        return False

    def enter(self, told, fds, takes):
        token = self.offer(told, fds)
        if self.tmux("respawn-pane", "-t", self.pane, *self.stub(token)) is None:
            return "tmux does not take it back into the pane"
        return self.wait(token, takes)

    def place(self):
        told = self.tmux("display-message", "-p", "-t", self.pane, "#{history_size} #{cursor_y}")
        return sum(map(int, told.split())) if told else None

    def log(self, max_lines, place=None):
        if not self.mine or "terminal" not in {t.kind for t in self.start.targets[1:]}:
            return []
        above = self.tmux("display-message", "-p", "-t", self.pane, "#{history_size}")
        since = str(place - int(above)) if above and place is not None else str(-max_lines)
        text = self.tmux("capture-pane", "-p", "-J", "-S", since, "-t", self.pane) or ""
        return text.rstrip().splitlines()[-max_lines:]

    def settle(self):
        if self.was is not None:
            value = ["remain-on-exit", self.was] if self.was else ["-u", "remain-on-exit"]
            self.tmux("set-option", "-p", "-t", self.pane, *value)


class Screen(Terminal):
    """A window of screen. One that is the server's own closes with it, so another is opened before."""

    def __init__(self, start, session, window):
        super().__init__(start)
        self.session, self.window = session, window
        above = state_of(start.pid)[1]
        self.own = _of(above, "comm").strip().lower() == "screen"
        self.token = None

    def screen(self, *words):
        return shown_by(["screen", "-S", self.session, *words], self.user)

    def check(self):
        if not self.own:
            return [
                f"it goes on writing to the same window {self.window} of screen, {self.session}"
            ]
        return [
            f"its window of screen {self.session} closes with it: the new one comes into a new window there"
        ]

    def open(self):
        self.token = OFFERS.make(None, None)
        self.screen("-X", "screen", *self.stub(self.token))

    def before_end(self, state):  # noqa: ARG002
        if self.own and self.token is None:
            self.open()

    def dead(self):
        return self.own and self.screen("-Q", "title") is not None

    def enter(self, told, fds, takes):
        if self.token is None:
            self.open()
        token, self.token = self.token, None
        own = self.own_streams(fds)
        OFFERS.fill(token, told, own)
        return self.wait(token, takes)

    def settle(self):
        if self.token is not None:
            OFFERS.drop(self.token)
            self.token = None


def terminal_for(start):
    """Return the terminal of a process, by what its own environment says of it."""
    multiplexer, pane = start.variable("TMUX"), start.variable("TMUX_PANE")
    on_tty = any(target.kind == "terminal" for target in start.targets) or start.terminal
    if on_tty and multiplexer and pane:
        return Tmux(start, multiplexer.rsplit(",", 2)[0], pane)
    if on_tty and start.variable("STY"):
        return Screen(start, start.variable("STY"), start.variable("WINDOW") or "?")
    return Terminal(start)
