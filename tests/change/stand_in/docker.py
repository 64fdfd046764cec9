"""Behaves as docker's command line does, over processes of this machine: JSON as docker 20.10 and 28 print it.

A container is a process in the control group docker/ID. STAND_IN_DOCKER names the folder of its state, STAND_IN_PYTHON the
python3 of every image. An option that it does not know is refused as docker refuses it.
"""

import fcntl
import hashlib
import json
import os
import re
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

HOME = Path(os.environ["STAND_IN_DOCKER"])
IMAGE = {
    "Id": "sha256:" + "5a" * 32, "RepoTags": ["sg:1"],
    "Config": {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "NV=1"], "Entrypoint": None, "Cmd": None, "WorkingDir": "/srv", "Labels": None},
}  # fmt: skip
CONFIG = {
    "--user": "User",
    "--workdir": "WorkingDir",
    "--hostname": "Hostname",
    "--stop-signal": "StopSignal",
    "--domainname": "Domainname",
}
TEXTS = {
    "--network": "NetworkMode", "--ipc": "IpcMode", "--pid": "PidMode", "--uts": "UTSMode", "--userns": "UsernsMode",
    "--cgroupns": "CgroupnsMode", "--runtime": "Runtime", "--cpuset-cpus": "CpusetCpus", "--cpuset-mems": "CpusetMems",
}  # fmt: skip
NUMBERS = {
    "--pids-limit": "PidsLimit",
    "--oom-score-adj": "OomScoreAdj",
    "--cpu-shares": "CpuShares",
}
SIZES = {
    "--memory": "Memory",
    "--memory-swap": "MemorySwap",
    "--shm-size": "ShmSize",
    "--memory-reservation": "MemoryReservation",
}
LISTS = {
    "--cap-add": "CapAdd",
    "--security-opt": "SecurityOpt",
    "--group-add": "GroupAdd",
    "--add-host": "ExtraHosts",
    "--volume": "Binds",
}
SHORT = {
    "-e": "--env",
    "-v": "--volume",
    "-m": "--memory",
    "-u": "--user",
    "-w": "--workdir",
    "-p": "--publish",
}
SWITCHES = {
    "--privileged": "Privileged",
    "--rm": "AutoRemove",
    "--init": "Init",
    "--read-only": "ReadonlyRootfs",
}


@contextmanager
def locked():
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def every():
    found = []
    for path in sorted(HOME.glob("*.json")):
        with suppress(FileNotFoundError):  # it is removed just now, by another client
            found.append(json.loads(path.read_text()))
    return found


def save(told):
    path = HOME / f"{told['Id']}.json"
    path.with_suffix(".new").write_text(json.dumps(told))
    path.with_suffix(".new").replace(path)


def find(name):
    for told in every():
        if name and (told["Name"] == "/" + name or told["Id"].startswith(name)):
            return told
    return None


def known(name):
    told = find(name)
    if told is None:
        sys.exit(f"Error response from daemon: No such container: {name}")
    return told


def change(identifier, **state):
    with locked():
        told = find(identifier)
        if told:
            told["State"].update(state)
            save(told)


def size(text):
    unit = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:].lower())
    return int(float(text[:-1]) * unit) if unit else int(text)


def fresh():
    config = {"Hostname": "", "Domainname": "", "User": "", "Env": [], "Labels": {}, "Tty": False, "OpenStdin": False,
              "WorkingDir": "/srv", "Entrypoint": None}  # fmt: skip
    host = {"Binds": None, "NetworkMode": "default", "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "AutoRemove": False,
            "IpcMode": "private", "CgroupnsMode": "host", "ShmSize": 64 << 20, "Memory": 0, "NanoCpus": 0, "Ulimits": None,
            "LogConfig": {"Type": "json-file", "Config": {}}, "Runtime": "runc", "DeviceRequests": None, "Tmpfs": None,
            "ConsoleSize": [0, 0], "OomKillDisable": False, "Mounts": None}  # fmt: skip
    return config, host


def one_option(flag, value, config, host):
    if flag in CONFIG:
        config[CONFIG[flag]] = value
    elif flag in TEXTS:
        host[TEXTS[flag]] = value
    elif flag in NUMBERS:
        host[NUMBERS[flag]] = int(value)
    elif flag in SIZES:
        host[SIZES[flag]] = size(value)
    elif flag in LISTS:
        host[LISTS[flag]] = [*(host.get(LISTS[flag]) or []), value]
    else:
        odd_option(flag, value, config, host)


def odd_option(flag, value, config, host):
    name, _, rest = value.partition("=")
    if flag == "--env":
        config["Env"].append(value if "=" in value else f"{value}={os.environ[value]}")
    elif flag == "--env-file":
        lines = Path(value).read_bytes().decode().splitlines()
        config["Env"] += [
            line.lstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")
        ]
    elif flag == "--label":
        config["Labels"][name] = rest
    elif flag == "--restart":
        policy, _, most = value.partition(":")
        host["RestartPolicy"] = {"Name": policy, "MaximumRetryCount": int(most or 0)}
    elif flag == "--ulimit":
        soft, _, hard = rest.partition(":")
        host["Ulimits"] = [
            *(host["Ulimits"] or []),
            {"Name": name, "Hard": int(hard or soft), "Soft": int(soft)},
        ]
    elif flag == "--cpus":
        host["NanoCpus"] = int(float(value) * 1e9)
    elif flag == "--tmpfs":
        path, _, options = value.partition(":")
        host["Tmpfs"] = {**(host["Tmpfs"] or {}), path: options}
    else:
        rare_option(flag, value, config, host)


def rare_option(flag, value, config, host):
    name, _, rest = value.partition("=")
    if flag == "--log-driver":
        host["LogConfig"]["Type"] = value
    elif flag == "--log-opt":
        host["LogConfig"]["Config"][name] = rest
    elif flag == "--stop-timeout":
        config["StopTimeout"] = int(value)
    elif flag == "--mount":
        parts = dict(part.partition("=")[::2] for part in value.split(","))
        mount = {"Type": parts["type"], "Source": parts["source"], "Target": parts["target"]}
        host["Mounts"] = [*(host["Mounts"] or []), mount]
    elif flag.startswith("--health-"):
        health(flag, value, config.setdefault("Healthcheck", {}))
    elif flag not in ("--name", "--pull", "--entrypoint", "--detach"):
        sys.exit(
            f"unknown flag: {flag}\n\nUsage:  docker create [OPTIONS] IMAGE [COMMAND] [ARG...]"
        )


def health(flag, value, check):
    if flag == "--health-cmd":
        check["Test"] = ["CMD-SHELL", value]
    else:
        check["Interval"] = int(value[:-2]) if value.endswith("ns") else int(value[:-1]) * 10**9


def create(words):
    config, host = fresh()
    name = entry = ""
    while words and words[0].startswith("-"):
        flag, words = SHORT.get(words[0], words[0]), words[1:]
        if flag in SWITCHES:
            host[SWITCHES[flag]] = True
            continue
        if flag in ("-d", "--detach"):
            continue
        value, words = words[0], words[1:]
        name, entry = (
            (value if flag == "--name" else name),
            (value if flag == "--entrypoint" else entry),
        )
        one_option(flag, value, config, host)
    ref, argv = words[0], [*([entry] if entry else []), *words[1:]]
    if ref not in ("sg:1", IMAGE["Id"]):
        sys.exit(f"Error response from daemon: No such image: {ref}")
    if find(name):
        sys.exit(
            f'Error response from daemon: Conflict. The container name "/{name}" is already in use'
        )
    names = {line.partition("=")[0] for line in config["Env"]}
    config["Env"] += [
        line for line in IMAGE["Config"]["Env"] if line.partition("=")[0] not in names
    ]
    identifier = hashlib.sha256(os.urandom(16)).hexdigest()
    config["Hostname"] = config["Hostname"] or identifier[:12]
    config.update(Image=ref, Cmd=argv[1:] if entry else argv, Entrypoint=[entry] if entry else None)
    mounts = [mounted(*bind.split(":")) for bind in host["Binds"] or ()]
    mounts += [mounted(one["Source"], one["Target"]) for one in host["Mounts"] or ()]
    told = {"Id": identifier, "Name": "/" + name, "Path": argv[0], "Args": argv[1:], "Image": IMAGE["Id"], "RestartCount": 0,
            "State": {"Status": "created", "Running": False, "Pid": 0, "ExitCode": 0, "OOMKilled": False},
            "Config": config, "HostConfig": host, "Mounts": mounts,
            "NetworkSettings": {"Networks": {host["NetworkMode"]: {"Aliases": None, "IPAMConfig": None}}}}  # fmt: skip
    save(told)
    return identifier


def mounted(source, place, mode="rw"):
    return {
        "Type": "bind",
        "Source": source,
        "Destination": place,
        "Mode": mode,
        "RW": mode != "ro",
        "Propagation": "rprivate",
    }


def cgroup_of(identifier):
    roots = (
        Path(path)
        for path in ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
    )
    path = next(root for root in roots if root.is_dir()) / "docker" / identifier
    path.mkdir(parents=True, exist_ok=True)
    return path


def signal_all(identifier, number):
    with suppress(OSError):
        for pid in (cgroup_of(identifier) / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), number)


def spawn(told):
    pid = os.fork()
    if not pid:
        try:
            (cgroup_of(told["Id"]) / "cgroup.procs").write_text(str(os.getpid()))
            out = os.open(HOME / f"{told['Id']}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.chdir(HOME)
            os.setsid()
            env = dict(line.split("=", 1) for line in told["Config"]["Env"]) | {
                "HOSTNAME": told["Config"]["Hostname"]
            }
            argv = [told["Path"], *told["Args"]]
            env["PATH"] = f"{HOME}/bin:{env['PATH']}"
            os.execvpe(argv[0], argv, env)
        finally:
            os._exit(127)
    return pid


def supervise(identifier):
    """Be the daemon for one container, until it stays down."""
    while True:
        told = find(identifier)
        pid = spawn(told)
        change(identifier, Running=True, Status="running", Pid=pid)
        _, ended = os.waitpid(pid, 0)
        signal_all(identifier, signal.SIGKILL)
        code = 128 + os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)
        stopped = (HOME / f"{identifier}.stop").exists()
        policy = find(identifier)["HostConfig"]["RestartPolicy"]["Name"]
        again = not stopped and (
            policy in ("always", "unless-stopped") or (policy == "on-failure" and code)
        )
        change(
            identifier,
            Running=again,
            Status="restarting" if again else "exited",
            Pid=0,
            ExitCode=code,
        )
        if not again:
            if told["HostConfig"]["AutoRemove"]:
                (HOME / f"{identifier}.json").unlink(missing_ok=True)
            return
        time.sleep(0.1)
        with locked():
            now = find(identifier)
            now["RestartCount"] += 1
            save(now)


def start(name):
    told = known(name)
    if told["State"]["Running"]:
        return
    (HOME / f"{told['Id']}.stop").unlink(missing_ok=True)
    (HOME / "bin").mkdir(exist_ok=True)
    with suppress(FileExistsError):
        (HOME / "bin/python3").write_text(f'#!/bin/sh\nexec {os.environ["STAND_IN_PYTHON"]} "$@"\n')
        (HOME / "bin/python3").chmod(0o755)
    told["RestartCount"] = 0
    save(told)
    if not os.fork():
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        supervise(told["Id"])
        os._exit(0)
    until = time.monotonic() + 10
    while (
        find(told["Id"])
        and find(told["Id"])["State"]["Status"] in ("created", "exited")
        and time.monotonic() < until
    ):
        time.sleep(0.02)
        if (
            find(told["Id"])
            and find(told["Id"])["State"]["Status"] == "exited"
            and find(told["Id"])["State"]["ExitCode"]
        ):
            break


def stop(name, limit_s, number=signal.SIGTERM):
    told = known(name)
    if not told["State"]["Running"]:
        return
    (HOME / f"{told['Id']}.stop").touch()
    with suppress(ProcessLookupError):
        if told["State"]["Pid"]:  # none while it waits to be restarted; 0 would be our own group
            os.kill(told["State"]["Pid"], number)
    until = time.monotonic() + limit_s
    while (now := find(told["Id"])) and now["State"]["Running"]:
        if time.monotonic() > until:
            signal_all(told["Id"], signal.SIGKILL)
        time.sleep(0.02)


def remove(words):
    told = known(words[-1])
    if told["State"]["Running"]:
        if "-f" not in words:
            sys.exit(
                "Error response from daemon: You cannot remove a running container. Stop the container first"
            )
        stop(told["Id"], 0, signal.SIGKILL)
    (HOME / f"{told['Id']}.json").unlink(missing_ok=True)


def rename(old, new):
    told = known(old)
    if find(new):
        sys.exit(
            f'Error response from daemon: Error when allocating new name: Conflict. The container name "/{new}" is already in use'
        )
    told["Name"] = "/" + new
    save(told)


def update(words):
    told = known(words[-1])
    policy, _, most = words[words.index("--restart") + 1].partition(":")
    told["HostConfig"]["RestartPolicy"] = {"Name": policy, "MaximumRetryCount": int(most or 0)}
    save(told)


def inspect(words):
    name = words[-1]
    image = IMAGE if name in ("sg:1", IMAGE["Id"]) and "container" not in words else None
    told = image or (find(name) if "image" not in words else None)
    if told is None:
        print("[]")
        sys.exit(f"Error: No such object: {name}")
    print(json.dumps([told]))


def logs(words):
    told, log = known(words[-1]), HOME / f"{known(words[-1])['Id']}.log"
    count = int(words[words.index("--tail") + 1]) if "--tail" in words else 10**6
    print(
        "\n".join(log.read_text(errors="replace").splitlines()[-count:])
        if log.exists() and told
        else ""
    )


def selected(words):
    """Return the containers that every --filter label=NAME=VALUE names."""
    wanted = [
        words[at + 1][6:].partition("=")[::2] for at, word in enumerate(words) if word == "--filter"
    ]
    return [
        told
        for told in every()
        if all(told["Config"]["Labels"].get(name) == value for name, value in wanted)
    ]


def ps(words):
    for told in selected(words):
        state = "running" if told["State"]["Running"] else told["State"]["Status"]
        print(told["Id"] if "-q" in words else f"{told['Name'].lstrip('/')} {state}")


def compose(words):
    """`docker compose` of files that are JSON; command and environment are merged as compose does."""
    project, files = "", []
    while words[0].startswith("-"):
        flag, value, words = words[0], words[1], words[2:]
        project, files = (
            (value if flag == "-p" else project),
            ([*files, value] if flag == "-f" else files),
        )
    services = {}
    for file in files:
        for name, told in json.loads(Path(file).read_text())["services"].items():
            service = services.setdefault(name, {})
            service.update(
                {
                    **told,
                    "environment": {
                        **service.get("environment", {}),
                        **told.get("environment", {}),
                    },
                }
            )
    name, digests = words[-1], {}
    for key, service in services.items():
        digests[key] = hashlib.sha256(json.dumps(service, sort_keys=True).encode()).hexdigest()
    if words[0] == "config":
        print(
            f"{name} {digests[name]}"
            if "--hash" in words
            else json.dumps({"name": project, "services": services})
        )
    elif words[0] == "up":
        labels = {"project": project, "service": name, "config-hash": digests[name], "oneoff": "False",
                  "project.config_files": ",".join(files), "project.working_dir": str(Path(files[0]).parent)}  # fmt: skip
        up(
            f"{project}-{name}-1",
            services[name],
            {f"com.docker.compose.{key}": value for key, value in labels.items()},
        )
    else:
        sys.exit(f"unknown docker command: compose {words[0]}")


def replaced(text):
    """Replace variables as compose does: `$$` stands for a dollar, what is not set for nothing."""
    return re.sub(
        r"\$\$|\$\{?(\w+)\}?", lambda found: os.environ.get(found[1], "") if found[1] else "$", text
    )


def up(name, service, labels):
    there = find(name)
    if (
        there
        and there["Config"]["Labels"]["com.docker.compose.config-hash"]
        != labels["com.docker.compose.config-hash"]
    ):
        remove(["-f", name])
        there = None
    if not there:
        plain = [replaced(word) for word in service["command"]]
        pairs = [
            ["--env", f"{key}={replaced(value)}"] for key, value in service["environment"].items()
        ]
        marks = [word for pair in labels.items() for word in ("--label", "=".join(pair))]
        flags = (
            [word for pair in pairs for word in pair]
            + marks
            + ["--restart", service.get("restart", "no")]
        )
        create(
            ["--name", name, "--network", service["network_mode"], *flags, service["image"], *plain]
        )
    start(name)


def main(argv):
    verb, words = argv[0], argv[1:]
    if (HOME / "silent").exists():
        sys.exit(
            "failed to connect to the docker API at unix:///run/user/1000/docker.sock; check if the path is correct and if "
            "the daemon is running: dial unix /run/user/1000/docker.sock: connect: no such file or directory"
        )
    if verb in ("create", "run"):
        identifier = create(words)
        if verb == "run":
            start(identifier)
        print(identifier)
    elif verb == "stop":
        stop(words[-1], float(words[words.index("-t") + 1]) if "-t" in words else 10)
    else:
        acts = {"inspect": inspect, "image": inspect, "start": lambda w: start(w[-1]), "rm": remove, "ps": ps, "compose": compose, "update": update, "logs": logs,
                "kill": lambda w: stop(w[-1], 0, signal.SIGKILL), "rename": lambda w: rename(*w), "diff": lambda w: print((HOME / "changed").read_text() if (HOME / "changed").exists() else "")}  # fmt: skip
        if verb not in acts:
            sys.exit(f"docker: '{verb}' is not a docker command.\nSee 'docker --help'")
        acts[verb](words)


main(sys.argv[1:])
