"""A server that docker compose holds up, tried with one more file of the same project. A part of the keeper.

It gives `Compose`. Nothing of the project's own files is touched; what compose would change besides is found before.
"""

# Goes after keeper_docker.py
# ruff: noqa: F821

import json
import os
import time

_KEY = "com.docker.compose."
_UP = ("up", "-d", "--no-deps", "--no-build", "--pull", "never")
_UP_S = 120


def override_folder():
    """Return the folder of ours that stays over a reboot."""
    if os.geteuid() == 0 and "XDG_STATE_HOME" not in os.environ:
        return "/var/lib/perfsleuth"
    return os.environ.get("XDG_STATE_HOME", os.path.expanduser("~/.local/state")) + "/perfsleuth"


class Compose(Container):
    """One service of a project, of which one container runs."""

    kind = "compose"

    def snapshot(self):
        super().snapshot()
        labels = self.old["Config"].get("Labels") or {}
        told = {
            name: labels.get(_KEY + name, "")
            for name in ("project", "service", "config-hash", "oneoff")
        }
        self.project, self.service = told["project"], told["service"]
        self.files = [
            file for file in labels.get(_KEY + "project.config_files", "").split(",") if file
        ]
        self.env_files = [
            file for file in labels.get(_KEY + "project.environment_file", "").split(",") if file
        ]
        self.base = [
            "compose",
            "-p",
            self.project,
            "--project-directory",
            labels.get(_KEY + "project.working_dir", "."),
        ]
        for flag, files in (("-f", self.files), ("--env-file", self.env_files)):
            self.base += [word for file in files for word in (flag, file)]
        self._may(told)
        self.place = self._place()
        self.text = self._override()

    def _may(self, told):
        """Refuse what compose would do more than asked, or cannot do."""
        missing = [file for file in [*self.files, *self.env_files] if not os.path.isfile(file)]
        if missing or not self.files:
            raise Refused(
                f"{(missing or ['the compose file'])[0]} of project {self.project} is not there any more"
            )
        if told["oneoff"] == "True" or len(self._containers()) != 1:
            raise Refused(
                f"service {self.service} of project {self.project} is not one container that `up` would make again"
            )
        status, out, err = self.docker.ask(*self.base, "config", "--hash", self.service)
        if status:
            raise Refused(
                "docker compose does not read the project: "
                + (err.strip().splitlines() or ["?"])[-1][:200]
            )
        if out.split()[-1:] != [told["config-hash"]]:
            raise Refused(
                f"files of project {self.project} were changed since {self.service} was started: `up` would change more"
            )
        if self.unset_env:
            raise Refused(
                f"a variable cannot be taken out by a further compose file: take it out of {self.files[0]}"
            )

    def _place(self):
        """Return a file of ours that is not there yet, nor part of the project already."""
        stem = "".join(
            c if c.isalnum() or c in "-_" else "_" for c in f"{self.project}-{self.service}"
        )
        names = (f"{override_folder()}/{stem}{n or ''}.yaml" for n in range(100))
        return next(name for name in names if name not in self.files)

    def _override(self):
        """Return the further file; JSON is YAML, and `$` is doubled where compose would replace it."""
        entry = list(self.old["Config"].get("Entrypoint") or ())
        if self.words[: len(entry)] != entry:
            raise Refused(
                f"the flag stands in the entrypoint of {self.service}: change it in {self.files[0]}"
            )
        words = self.words[len(entry) :]
        known = "\n".join(
            (_raw(file) or b"").decode("utf-8", "replace")
            for file in [*self.files, *self.env_files, *self._dot_env()]
        )
        if any(
            secret in word and secret not in known
            for word in words
            for secret in self.server["secrets"]
        ):
            raise Refused(
                "a secret of the command line stands in no file of the project, and is written into none"
            )
        told = {"command": [word.replace("$", "$$") for word in words]}
        if self.env:
            told["environment"] = {
                name: value.replace("$", "$$") for name, value in self.env.items()
            }
        return json.dumps({"services": {self.service: told}}, indent=1) + "\n"

    def _dot_env(self):
        return [self.base[4] + "/.env"] if not self.env_files else []

    def _containers(self):
        filters = (f"label={_KEY}project={self.project}", f"label={_KEY}service={self.service}")
        return self.docker.ask(
            "ps", "-a", "-q", "--no-trunc", *(word for one in filters for word in ("--filter", one))
        )[1].split()

    def check(self):
        self._refuse_code_inside()
        try:
            os.makedirs(os.path.dirname(self.place), mode=0o700, exist_ok=True)
            fd = os.open(self.place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(self.text)
        except OSError as why:
            raise Refused(f"{self.place} cannot be written: {why.strerror}") from None
        if other := self._other():
            self.abandon()
            raise Refused(f"with the further file compose would also change {', '.join(other)}")
        return [
            f"{self.service} is made anew by docker compose with {self.place}; what was written inside it is lost"
        ]

    def _config(self, *more):
        status, out, err = self.docker.ask(*self.base, *more, "config", "--format", "json")
        return json.loads(out) if status == 0 else {"trouble": err}

    def _other(self):
        """Return what else the further file changes in what compose makes of the project."""
        before, after = self._config(), self._config("-f", self.place)
        mine = [(one.get("services") or {}).pop(self.service, {}) for one in (before, after)]
        rest = ["other services"] if before != after else []
        names = {*mine[0], *mine[1]} - {"command", "environment"}
        return rest + sorted(name for name in names if mine[0].get(name) != mine[1].get(name))

    def _now(self):
        """Return the container of the service, whichever compose has made; note it."""
        found = self._containers()
        if found and found[0] != self.state["current"]:
            self.state["current"] = found[0]
            self.noted()
        return found[0] if found else None

    def stop(self, bound_s):
        one = self._now() or self.state["current"]
        if one and (why := self.docker.end(one, bound_s, self.pause)):
            raise Stuck(f"service {self.service}: {why}")

    def start_new(self):
        self._up("-f", self.place)

    def start_old(self):
        self._up()

    def _up(self, *more):
        self.state.update(restarts=0, since=str(int(time.time())))
        self.noted()
        why = self.docker.act(*self.base, *more, *_UP, self.service, limit_s=_UP_S)
        self._now()
        if why:
            raise NotStarted(f"docker compose up {self.service}: {why}", None)

    def settle(self, kept):
        if kept:
            return [
                f"{self.place} stays: name it with -f after the others, or put its lines into {self.files[-1]}"
            ]
        self.abandon()
        return []

    def abandon(self):
        if os.path.lexists(self.place):
            os.unlink(self.place)

    def by_hand(self):
        return [" ".join([self.docker.runtime, *self.base, *_UP, self.service])]


LAUNCHERS["compose"] = Compose
