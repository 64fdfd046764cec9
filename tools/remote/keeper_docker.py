"""A server in a container of docker or podman, made anew with other words. A part of the keeper.

It gives `Container`. The new container is created and compared with the old one before that is stopped; the old one
keeps everything, under another name, and is what runs again when the change is taken back.
"""

# Goes after keeper_launcher.py
# Goes after find_server.py
# Goes after docker_ask.py
# Goes after docker_flags.py
# Goes after docker_diff.py
# ruff: noqa: F821

import os
import re
import time

_CODE_INSIDE = re.compile(
    r"[AC] (/\S*(?:/site-packages/|/dist-packages/|/sgl-workspace/)\S*\.(?:py|so))$", re.M
)


class Container(Launcher):
    """One container whose command ends in the server's words."""

    kind = "docker"

    def snapshot(self):
        name = self.server["container_id"] or ""
        self.docker = Docker(self.server["container"] or "docker")
        self.old = self.docker.inspect(name)
        if self.old is None:
            raise Refused(
                f"{self.docker.runtime} does not tell of container {name[:12]}: {self.docker.act('inspect', name)}"
            )
        self.image = self.docker.inspect(self.old["Image"], "image")
        if self.image is None:
            raise Refused(
                f"the image of container {self.name} is not there any more: it cannot be made anew"
            )
        self.start = start_of(self.server["pid"])
        self.apart = _link(self.server["pid"], "ns/net") != _link("self", "ns/net")
        self.words = self._words()
        self.env_new = env_lines(self.old, self.env, self.unset_env)
        given = {line.partition("=")[0] for line in self.image["Config"].get("Env") or ()}
        if fixed := sorted(given & set(self.unset_env)):
            raise Refused(
                f"{', '.join(fixed)} comes from the image, and cannot be taken out of a container"
            )
        one, restarts = self.old["Id"], self.old.get("RestartCount") or 0
        self.state.update(current=one, old=one, new=None, restarts=restarts, since="")

    @property
    def name(self):
        return self.old["Name"].lstrip("/")

    def _words(self):
        """Return the words of the new container; refuse where the flags do not stand in the old one's own."""
        whole = command_of(self.old)
        argv = [os.fsdecode(word) for word in self.start[0]]
        gone, meant = dropped(whole, self.edits), [argv[at] for at in dropped(argv, self.edits)]
        if [whole[at] for at in gone] != meant or whole[-1:] != argv[-1:]:
            raise Refused(
                f"the command of container {self.name} does not hold the flags: a script in the image makes them"
            )
        return edited(whole, self.edits)

    def _ref(self):
        """Return the image's name where it still means the same image, else its id."""
        name = self.old["Config"]["Image"]
        now = self.docker.inspect(name, "image")
        return name if now and now["Id"] == self.old["Image"] else self.old["Image"]

    def check(self):
        self._refuse_code_inside()
        self._free(self.name + "-perfsleuth-new")
        self.state["new"] = self._make(self.name + "-perfsleuth-new", self.words, self.env_new)
        remarks = [
            f"container {self.name} is made anew from {self._ref()}; what was written inside it stays in the old one"
        ]
        if self.old["HostConfig"].get("AutoRemove"):
            spare = self.name + "-perfsleuth-old"
            self._free(spare)
            self.state["old"] = self._make(
                spare, command_of(self.old), list(self.old["Config"].get("Env") or ())
            )
            remarks.append(
                f"{self.name} was started with --rm and is gone once it stops: {spare} is a copy of it, without --rm"
            )
        self.noted()
        return remarks

    def _refuse_code_inside(self):
        code = _CODE_INSIDE.search(self.docker.ask("diff", self.old["Id"])[1])
        if code:
            raise Refused(
                f"{code.group(1)} was changed inside container {self.name}: a new one would be without it"
            )

    def _free(self, name):
        """Remove what an earlier try of ours left; a container that runs is somebody's."""
        there = self.docker.inspect(name)
        if there and there["State"].get("Running"):
            raise Refused(f"a container called {name} runs: look what it is, and stop it")
        if there:
            self.docker.act("rm", name)

    def _make(self, name, words, env):
        """Create one like the old one, and compare; return its id."""
        made, why = self.docker.create(
            create_words(self.old, self.image["Config"], name, words, self._ref()), env
        )
        if made is None:
            self.abandon()
            raise Refused(
                f"{self.docker.runtime} does not create a container like {self.name}: {why}"
            )
        networks = (self.old.get("NetworkSettings") or {}).get("Networks") or {}
        for network in sorted(
            set(networks) - {self.old["HostConfig"].get("NetworkMode"), "bridge"}
        ):
            self.docker.act("network", "connect", network, made)
        other = differences(self.old, self.docker.inspect(made), words, env)
        if other:
            self.docker.act("rm", made)
            self.abandon()
            raise Refused(
                f"a new container like {self.name} would differ in {', '.join(other[:6])}: it must be made by hand"
            )
        return made

    def expected(self):
        return edited(self.start[0], self.edits)

    def digest(self):
        """Return the digest that the new server will have."""
        _, environ, cwd, exe = self.start
        return digest_of(self.expected(), environment(environ, self.env, self.unset_env), cwd, exe)

    def pid(self):
        return self.look()[0]

    def look(self):
        """Return the server's process in the container that was started last; one that was restarted has failed."""
        told, known = self.docker.told(self.state["current"])
        if not known:
            return self.unseen(), False
        if (
            not told
            or not told["State"].get("Running")
            or (told.get("RestartCount") or 0) > self.state["restarts"]
        ):
            return None, True
        main = told["State"]["Pid"]
        below = [main, *(pid for pid, _ in descendants(main))]
        words = (_of(pid, "cmdline").rstrip("\0").split("\0") for pid in below)
        one = next((pid for pid, argv in zip(below, words) if _engine_of(argv)), main)  # noqa: B905 (Python 3.8)
        return self.found(one), True

    def exit(self):
        state = (self.docker.inspect(self.state["current"]) or {}).get("State") or {}
        if state.get("OOMKilled"):
            return "killed by the kernel for want of memory"
        code = state.get("ExitCode")
        if code is None or state.get("Running"):
            return None
        return f"killed by signal {code - 128}" if code > 128 else f"status {code}"

    def stop(self, bound_s):
        """Let docker stop whichever of the two runs; raise Stuck."""
        for one in {self.state["current"], self.state["old"], self.state["new"], self.old["Id"]} - {
            None
        }:
            if why := self.docker.end(one, bound_s, self.pause):
                raise Stuck(f"container {self.name}: {why}")

    def start_new(self):
        self._start("new", "old")

    def start_old(self):
        self._start("old", "new")

    def _start(self, which, other):
        """Give the one the name and the other the name beside it, then start the one."""
        one, two = self.state[which], self.state[other]
        self._rename(two, f"{self.name}-perfsleuth-{other}")
        self._rename(one, self.name)
        told = self.docker.inspect(one)
        if told is None:
            raise NotStarted(f"container {self.name} is not there any more", None)
        self.state.update(
            current=one, restarts=told.get("RestartCount") or 0, since=str(int(time.time()))
        )
        self.noted()
        if why := self.docker.act("start", one, limit_s=60):
            raise NotStarted(f"{self.docker.runtime} start {self.name}: {why}", None)

    def _rename(self, one, name):
        told = self.docker.inspect(one) if one else None
        if (
            told
            and told["Name"].lstrip("/") != name
            and (why := self.docker.act("rename", one, name))
        ):
            raise NotStarted(f"{self.docker.runtime} rename: {why}", None)

    def log(self, max_lines):
        since = ("--since", self.state["since"]) if self.state["since"] else ()
        status, out, err = self.docker.ask(
            "logs", "--tail", str(max_lines), *since, self.state["current"]
        )
        return [] if status else (out + err).splitlines()[-max_lines:]

    def settle(self, kept):
        new, old = self.state["new"], self.state["old"]
        if not kept:
            self.docker.act("rm", new)
            return [f"{self.name} now runs without --rm"] if old != self.old["Id"] else []
        policy = self.old["HostConfig"].get("RestartPolicy") or {}
        name, most = policy.get("Name") or "no", policy.get("MaximumRetryCount")
        remarks = []
        if self.docker.inspect(old):
            self.docker.act(
                "update", "--restart", "no", old
            )  # or two servers would come up after a reboot
            remarks.append(
                f"the old container stays as {self.name}-perfsleuth-old, stopped: remove it when you are sure"
            )
        if why := self.docker.act("update", "--restart", f"{name}:{most}" if most else name, new):
            remarks.append(f"{self.name} is without its restart policy {name}: {why}")
        if self.old["HostConfig"].get("AutoRemove"):
            remarks.append(f"{self.name} now runs without --rm")
        return remarks

    def abandon(self):
        for one in {self.state["new"], self.state["old"]} - {None, self.old["Id"]}:
            self.docker.act("rm", one)

    def by_hand(self):
        run = self.docker.runtime
        return [
            f"{run} stop {self.name}; {run} rename {self.name} {self.name}-perfsleuth-new",
            f"{run} rename {self.name}-perfsleuth-old {self.name}; {run} start {self.name}",
        ]


LAUNCHERS["docker"] = Container
