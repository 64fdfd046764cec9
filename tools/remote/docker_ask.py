"""Speak with docker, or podman, by its command line: a prelude of what restarts containers.

It gives `Docker`. Variables of a container reach the client through a pipe, never as words of a command and never by
a file; nor through the client's own environment, where DOCKER_HOST or HOME of a container would lead it astray.
"""

# Goes after systemd_ask.py
# ruff: noqa: F821

import json
import os
import shutil
import subprocess
import threading

_CREATE_S = 40


class Docker:
    """One runtime's client. What goes wrong is the last line that it wrote, without a trace."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.program = shutil.which(runtime) or runtime

    def ask(self, *words, limit_s=20):
        """Return (status, stdout, stderr)."""
        return asked((self.program, *words), limit_s)

    def inspect(self, what, kind="container"):
        """Return what it tells of a container or an image; None where there is none."""
        status, out, _ = self.ask("inspect", "--type", kind, what)
        if status:
            return None
        try:
            return json.loads(out)[0]
        except (ValueError, LookupError):
            return None

    def act(self, *words, limit_s=20):
        """Do something; return why it failed, or nothing."""
        status, _, err = self.ask(*words, limit_s=limit_s)
        return (err.strip().splitlines() or [f"status {status}"])[-1][:300] if status else ""

    def runs(self, one):
        told = self.inspect(one)
        return bool(told and told["State"].get("Running"))

    def end(self, one, bound_s, pause):
        """Stop a container, and kill it where it does not end in time; return why it still runs, or nothing."""
        if self.runs(one):
            self.act("stop", "-t", str(int(bound_s)), one, limit_s=bound_s + 30)
        if not self.runs(one):
            return ""
        why = self.act("kill", one)
        pause(1.0)
        return "it does not end, not even when it is killed: " + why if self.runs(one) else ""

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
