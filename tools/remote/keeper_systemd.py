"""A server that a unit of systemd holds up, the system's or a user's. A part of the keeper.

It gives `Systemd`. The command line is changed in the text of the unit's own ExecStart, so that its variables and
specifiers stay what they are; systemd stops and starts it.
"""

# Goes after keeper_launcher.py
# Goes after keeper_dropin.py
# Goes after log_source.py
# ruff: noqa: F821

import os
import time

_UNIT = ("LoadState", "ActiveState", "MainPID", "FragmentPath", "DropInPaths", "NeedDaemonReload", "Transient",
         "NRestarts", "ExecMainCode", "ExecMainStatus", "Result", *TIED)  # fmt: skip
_DOWN = ("inactive", "failed")
_KILLED = ("2", "3")  # CLD_KILLED, CLD_DUMPED, as ExecMainCode tells it


class Systemd(Launcher):
    """One unit whose main process is the server."""

    kind = "systemd"

    def show(self):
        return shown(self.owner, self.unit, _UNIT)

    def snapshot(self):
        pid = self.server["pid"]
        self.unit, self.owner = unit_in(_of(pid, "cgroup"))
        if self.unit is None:
            raise Refused(f"process {pid} is in no unit of systemd any more")
        show = self.show()
        self._may(show, pid)
        self.start = start_of(pid)
        self.drop_in = DropIn(self.unit, self.owner, show, self.env, self.unset_env)
        try:
            self._read()
        except OSError as why:
            raise Refused(
                f"{self.unit}: {why.filename} cannot be read ({why.strerror}): log in as root"
            ) from None
        self.state.update(
            restarts=int(show.get("NRestarts") or 0), since=int(time.time()), log_from=0
        )

    def _may(self, show, pid):
        """Refuse what cannot be restarted by systemd as it is."""
        who = f"{self.unit}: "
        if "trouble" in show:
            raise Refused(who + show["trouble"])
        if self.owner is None and os.geteuid() != 0:
            raise Refused(who + "a unit of the system is changed by root alone: log in as root")
        if show.get("MainPID") != str(pid):
            raise Refused(
                who + f"its main process is {show.get('MainPID')}, not the server ({pid})"
            )
        if show.get("Transient") == "yes":
            raise Refused(who + "it was made by systemd-run, and is gone once it stops")
        if others := tied(show):
            raise Refused(
                who
                + f"{others} depends on it: it is stopped with it, or starts it again. Stop and start both by hand"
            )
        if show.get("NeedDaemonReload") == "yes":
            raise Refused(
                who
                + "its files were changed after systemd read them: that would come into force as well"
            )

    def _read(self):
        """Make the new command line from the text of the old one."""
        lines = exec_starts(self.drop_in.texts())
        if len(lines) != 1:
            raise Refused(f"{self.unit} has {len(lines) or 'no'} ExecStart lines, not one")
        try:
            words = words_of(lines[0])
        except ValueError as why:
            raise Refused(f"{self.unit}: its ExecStart cannot be taken apart: {why}") from None
        argv = [os.fsdecode(word) for word in self.start[0]]
        literal = [word.text if word.literal else None for word in words]
        gone, meant = dropped(literal, self.edits), [argv[at] for at in dropped(argv, self.edits)]
        if [literal[at] for at in gone] != meant:
            flags = ", ".join(
                word for word in meant if word.startswith("--") and word not in literal
            )
            where = "a variable or a file, not from the text of its ExecStart"
            raise Refused(f"{self.unit} takes {flags or 'a value'} from {where}: change it there")
        if "--" in argv:
            raise Refused(
                f"{self.unit}: its command line holds a bare --, after which no flag can be added"
            )
        self.line = line_without(lines[0], gone, added(self.edits))
        if later := self.drop_in.overruled():
            raise Refused(
                f"{later} sets ExecStart after ours would: remove it, or change the flag there"
            )
        if by := self.drop_in.given_by_file([*self.env]):
            raise Refused(
                f"{by[0]} is given by {by[1]} (EnvironmentFile), which wins over a drop-in: change it there"
            )

    def check(self):
        if folder := self.drop_in.writable():
            raise Refused(
                f"{folder} takes no drop-in for {self.unit}: this login may not write there"
            )
        return [
            f"{self.unit} is restarted by systemd with {self.drop_in.trial}, which a reboot removes"
        ]

    def expected(self):
        return edited(self.start[0], self.edits)

    def digest(self):
        """Return the digest that the new server will have."""
        _, environ, cwd, exe = self.start
        return digest_of(self.expected(), environment(environ, self.env, self.unset_env), cwd, exe)

    def pid(self):
        return self.look()[0]

    def look(self):
        """Return the main process while it lives; one that systemd started again by itself has failed."""
        show = self.show()
        if "trouble" in show:
            return self.unseen(), False
        restarts = int(show.get("NRestarts") or 0)
        if restarts > self.state["restarts"] or show.get("ActiveState") in _DOWN:
            return None, True
        pid = show.get("MainPID") or "0"
        return self.found(int(pid)) if pid.isdigit() and int(pid) > 0 else None, True

    def exit(self):
        show = self.show()
        if show.get("Result") == "oom-kill":
            return "killed by the kernel for want of memory"
        status = show.get("ExecMainStatus")
        if show.get("ExecMainCode") in _KILLED:
            return f"killed by signal {status}"
        return f"status {status}" if show.get("ExecMainCode") == "1" else None

    def stop(self, bound_s):
        """Let systemd stop it, then kill what is left in its control group; raise Stuck."""
        until, killed = time.monotonic() + bound_s, False
        while True:
            show = self.show()
            if show.get("ActiveState") in _DOWN and show.get("MainPID", "0") == "0":
                return
            if show.get("ActiveState") != "deactivating":
                status, _, err = systemctl(self.owner, "stop", "--no-block", "--", self.unit)
                if status:
                    raise Stuck(f"systemctl stop {self.unit}: {_last(err)}")
            if time.monotonic() > until:
                if killed:
                    raise Stuck(f"{self.unit} does not end, not even when it is killed")
                systemctl(self.owner, "kill", "--kill-who=all", "--signal=KILL", "--", self.unit)
                killed, until = True, time.monotonic() + GONE_S
            self.pause(0.2)

    def start_new(self):
        """Start it on trial: one that fails is not to be started again and again until its start limit."""
        self.drop_in.write(self.drop_in.trial, self.drop_in.text(self.line, ["Restart=no"]))
        self._start()

    def start_old(self):
        self.drop_in.remove(self.drop_in.trial)
        self._start()

    def _reload(self):
        status, _, err = systemctl(self.owner, "daemon-reload", limit_s=60)
        if status:
            raise NotStarted(f"systemctl daemon-reload: {_last(err)}", None)

    def _start(self):
        self._reload()
        systemctl(
            self.owner, "reset-failed", "--", self.unit
        )  # or its start limit would refuse; it fails where there is none
        self.state.update(
            restarts=int(self.show().get("NRestarts") or 0),
            since=int(time.time()),
            log_from=self._size(),
        )
        self.noted()
        status, _, err = systemctl(self.owner, "start", "--no-block", "--", self.unit)
        if status:
            raise NotStarted(f"systemctl start {self.unit}: {_last(err)}", None)

    def _file(self):
        log = self.server.get("log") or {}
        return log.get("path") if log.get("kind") == "file" else None

    def _size(self):
        try:
            return os.path.getsize(self._file() or "")
        except OSError:
            return 0

    def log(self, max_lines):
        file = opened(self._file())
        if file:
            with file:
                file.seek(max(self.state["log_from"], self._size() - (64 << 10)))
                return file.read(64 << 10).decode("utf-8", "replace").splitlines()[-max_lines:]
        scope = ("--user-unit",) if self.owner is not None else ("-u",)
        since = "--since=@" + str(self.state["since"])
        argv = (
            "journalctl",
            "--no-pager",
            "-q",
            "-o",
            "cat",
            "-n",
            str(max_lines),
            since,
            *scope,
            self.unit,
        )
        return asked(argv)[1].splitlines()

    def settle(self, kept):
        if kept:
            self.drop_in.write(
                self.drop_in.kept, self.drop_in.text(self.line, self.drop_in.carried())
            )
            self.drop_in.remove(self.drop_in.trial)
            self._reload()
            return [f"{self.drop_in.kept} stays: with it removed, {self.unit} is as it was before"]
        if self.drop_in.remove(self.drop_in.trial):
            self._reload()
        return []

    def by_hand(self):
        ctl = "systemctl --user" if self.owner is not None else "systemctl"
        return [
            f"rm -f {self.drop_in.trial}",
            f"{ctl} daemon-reload; {ctl} reset-failed {self.unit}; {ctl} start {self.unit}",
        ]


def _last(err):
    return (err.strip().splitlines() or ["it gave no reason"])[-1][:200]


LAUNCHERS["systemd"] = Systemd
