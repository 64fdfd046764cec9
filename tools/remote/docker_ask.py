"""Speak with docker, or podman, by its command line: a prelude of what restarts containers.

It gives `Docker`. Variables of a container reach the client through a pipe, never as words of a command and never by
a file; nor through the client's own environment, where DOCKER_HOST or HOME of a container would lead it astray.
"""

# Goes after systemd_ask.py
# ruff: noqa: F821

import json
import os
import re
import shutil
import subprocess
import threading
import time

_CREATE_S = 40
_GONE = re.compile(r"no such (?:container|object|image)|no container with (?:name|id)", re.I)


class Docker:
    """One runtime's client. What goes wrong is the last line that it wrote, without a trace."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.program = shutil.which(runtime) or runtime

    def ask(self, *words, limit_s=20):
        """Return (status, stdout, stderr)."""
        return asked((self.program, *words), limit_s)

    def told(self, what, kind="container"):
        """Return (what it tells of a container or an image, whether it tells): None, True where there is none."""
        status, out, err = self.ask("inspect", "--type", kind, what)
        if status:
            return None, bool(_GONE.search(err))  # a daemon that is busy or away has not said that
        try:
            return json.loads(out)[0], True
        except (ValueError, LookupError):
            return None, False

    def inspect(self, what, kind="container"):
        """Return what it tells of a container or an image; None where it tells of none."""
        return self.told(what, kind)[0]

    def act(self, *words, limit_s=20):
        """Do something; return why it failed, or nothing."""
        status, _, err = self.ask(*words, limit_s=limit_s)
        return (err.strip().splitlines() or [f"status {status}"])[-1][:300] if status else ""

    def runs(self, one, bound_s, pause):
        """Say whether a container runs; None where that is not told in time: its daemon may be restarting."""
        until = time.monotonic() + bound_s
        while True:
            told, known = self.told(one)
            if known:
                return bool(told and told["State"].get("Running"))
            if time.monotonic() > until:
                return None
            pause(1.0)

    def end(self, one, bound_s, pause):
        """Stop a container, and kill it where it does not end in time; return why it may still run, or nothing."""
        if self.runs(one, bound_s, pause) is not False:
            self.act("stop", "-t", str(int(bound_s)), one, limit_s=bound_s + 30)
        runs = self.runs(one, bound_s, pause)
        if runs:
            why = self.act("kill", one)
            pause(1.0)
            runs = self.runs(one, bound_s, pause)
            if runs:
                return "it does not end, not even when it is killed: " + why
        return f"{self.runtime} does not tell whether it runs" if runs is None else ""

    def create(self, words, lines):
        """Create a container; return (id, why not)."""
        if any("\n" in line for line in lines):
            return None, "a variable of the container holds a line break, which cannot be handed on"
        read, write = os.pipe()
        text = "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
        writer = threading.Thread(target=_pour, args=(write, text), daemon=True)
        writer.start()
        argv = (self.program, "create", "--env-file", f"/dev/fd/{read}", *words)
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_CREATE_S,
                pass_fds=(read,),
            )
        except (OSError, subprocess.SubprocessError) as why:
            return None, f"{self.runtime} create: {type(why).__name__}"
        finally:
            os.close(read)
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
                "it gave no reason"
            ]
            return None, told[-1][:300]
        return done.stdout.decode().strip().splitlines()[-1], ""


def _pour(fd, text):
    try:
        with os.fdopen(fd, "wb") as pipe:
            pipe.write(text)
    except OSError:
        pass  # the client did not want it all; it says why itself
