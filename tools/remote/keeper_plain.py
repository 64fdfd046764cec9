"""A server that a person or a script started: under nohup, in tmux or screen, by hand. A part of the keeper.

It gives `Plain`. The new process is made as the old one was, from the shell's point of view: user, place, limits,
priority, streams; not by its shell and not below it, so that a script above it goes on when the old one ends.
"""

# Goes after keeper_launcher.py
# Goes after keeper_terminal.py
# Goes after keeper_config.py
# Goes after keeper_login.py
# ruff: noqa: F821

import os

TAIL_BYTES = 64 << 10


class Plain(Launcher):
    """One process and what it is made of."""

    kind = "plain"

    def snapshot(self):
        try:
            self.start = Start(self.server["pid"])
        except OSError as why:
            raise Refused(f"how it was started cannot be read: {why.strerror}") from None
        why = self.start.cannot() or ends_with_login()
        if why:
            raise Refused(why)
        self.state.update(
            pid=self.start.pid, ticks=self.start.ticks, log_from=None, place=None, status=None
        )
        self.argv = edited(self.start.argv, self.edits)
        self.environ = environment(self.start.environ, self.env, self.unset_env)
        self.config = Config(self.start, self.edits)
        self.terminal = terminal_for(self.start)

    def check(self):
        self.config.check()
        remarks = self.terminal.check() + self.config.remarks()
        above = state_of(self.start.pid)[1]
        name = _of(above, "comm").strip()
        if above > 1 and name in ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"):
            remarks.append(
                f"{name} (process {above}) started it, and goes on when it ends: the new one is not below it"
            )
        return remarks

    def expected(self):
        return self.argv

    def digest(self):
        """Return the digest that the new server will have."""
        return digest_of(self.argv, self.environ, self.start.cwd, self.start.exe)

    def pid(self):
        """Return the main process of what was started last, while it lives; its end is noted."""
        pid, ticks = self.state["pid"], self.state["ticks"]
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.state["status"] = status
                self.noted()
        except ChildProcessError:
            pass  # the old one, or one that the keeper before this one started
        return pid if lives(pid, ticks) else None

    def exit(self):
        """Say how the last one ended, or None where nobody was told."""
        status = self.state["status"]
        if status is None:
            return None
        if os.WIFSIGNALED(status):
            return f"killed by signal {os.WTERMSIG(status)}"
        return f"status {os.WEXITSTATUS(status)}"

    def stop(self, bound_s):
        self.terminal.before_end(self.state)
        pid = self.pid()
        if pid:
            self.state["killed"] = end_tree(pid, self.state["ticks"], bound_s, self.pause)
            self.pid()

    def start_new(self):
        self.config.write()
        self._start(self.argv, self.environ)

    def start_old(self):
        self._start(self.start.argv, self.start.environ)

    def simply(self):
        self.terminal.settle()
        self.terminal = Terminal(self.start)

    def _start(self, argv, environ):
        self.state.update(status=None, log_from=self._size())
        told = self.start.given(argv, environ)
        why = "not needed"
        self.terminal.forks = self.forks
        if self.terminal.dead():
            why = self.terminal.enter(told, self._streams(), self._takes)
        if why:
            why = self._spawn(told, self._streams())
        if why:
            raise NotStarted("the program cannot be executed: " + why, None)

    def _streams(self):
        return [self.terminal.stream(target) for target in self.start.targets]

    def _takes(self, pid):
        """Note which process is to become the server, before it does."""
        self.state.update(pid=pid, ticks=started_of(pid), place=self.terminal.place())
        self.noted()

    def _spawn(self, told, fds):
        """Fork; the child waits until the understudy knows it, and never runs where the keeper died before."""
        with self.forks:
            go, told_r = os.pipe(), os.pipe()
            pid = os.fork()
            if not pid:
                try:
                    os.setsid()
                    os.close(go[1])
                    if os.read(go[0], 1):
                        give(told, fds)
                except BaseException as why:
                    os.write(told_r[1], str(why).encode("utf-8", "replace")[:500])
                finally:
                    os._exit(127)
            os.close(go[0])
            os.close(told_r[1])
            self._takes(pid)
            os.write(go[1], b"g")
            os.close(go[1])
        with os.fdopen(told_r[0], "rb") as said:
            return said.read().decode("utf-8", "replace")

    def _files(self):
        """Return the files that both streams go to, each once."""
        files = {
            t.mark: t for t in self.start.targets[1:] if t.kind == "file" and t.held is not None
        }
        return list(files.values())

    def _size(self):
        return [os.fstat(target.held).st_size for target in self._files()]

    def log(self, max_lines):
        """Return the last lines since the last start."""
        lines = self.terminal.log(max_lines, self.state["place"])
        for at, target in enumerate(self._files()):
            try:
                with open(f"/proc/self/fd/{target.held}", "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    since = self.state["log_from"][at] if self.state["log_from"] else 0
                    since = since if since <= size else 0  # it was cut meanwhile
                    file.seek(max(since, size - TAIL_BYTES))
                    text = file.read(TAIL_BYTES).decode("utf-8", "replace")
            except OSError:
                continue
            lines += text.replace("\r", "\n").splitlines()[-max_lines:]
        return lines[-max_lines:]

    def settle(self, kept):
        remarks = self.config.settle(kept)
        self.terminal.settle()
        return remarks

    def let_go(self):
        self.start.let_go()

    def by_hand(self):
        """Tell how a person starts the old one: words without secrets, names of variables without values."""
        words = allowed(
            _without_secrets([one.decode("utf-8", "replace") for one in self.start.argv])
        )
        line = " ".join(
            word
            if word and word.isprintable() and not set(word) & set(" '\"\\$&|;<>*?()")
            else repr(word)
            for word in words
        )
        out = self.start.targets[1]
        to = f" >> {out.path} 2>&1" if out.kind == "file" else ""
        names = sorted(
            {one.partition(b"=")[0].decode("utf-8", "replace") for one in self.start.environ}
        )
        return [
            f"cd {self.start.cwd.decode('utf-8', 'replace')} && nohup {line}{to} &",
            "with the secrets put in where <dropped> stands, and these variables set as they were: "
            + ", ".join(names)[:2000],
        ]


LAUNCHERS["plain"] = Plain
