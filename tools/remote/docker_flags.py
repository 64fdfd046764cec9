"""From what `docker inspect` tells of a container to the words of `docker create` for one like it.

It gives `create_words`, `env_lines` and `command_of`. Pure. The JSON is that of Docker Engine API 1.41 to 1.51 (docker
20.10 to 28). What has no flag, or is not known here, is found by docker_diff.py before anything is stopped.
"""

# HostConfig's values that go as they are, by the flag of docker create.
_TEXTS = {
    "NetworkMode": "--network", "IpcMode": "--ipc", "PidMode": "--pid", "UTSMode": "--uts", "UsernsMode": "--userns",
    "CgroupnsMode": "--cgroupns", "CgroupParent": "--cgroup-parent", "Runtime": "--runtime",
    "CpusetCpus": "--cpuset-cpus", "CpusetMems": "--cpuset-mems", "Isolation": "--isolation",
    "VolumeDriver": "--volume-driver",
}  # fmt: skip
_NUMBERS = {
    "Memory": "--memory", "MemorySwap": "--memory-swap", "MemoryReservation": "--memory-reservation",
    "CpuShares": "--cpu-shares", "CpuPeriod": "--cpu-period", "CpuQuota": "--cpu-quota", "ShmSize": "--shm-size",
    "PidsLimit": "--pids-limit", "OomScoreAdj": "--oom-score-adj", "BlkioWeight": "--blkio-weight",
    "CpuRealtimePeriod": "--cpu-rt-period", "CpuRealtimeRuntime": "--cpu-rt-runtime",
}  # fmt: skip
_LISTS = {
    "CapAdd": "--cap-add", "CapDrop": "--cap-drop", "SecurityOpt": "--security-opt", "GroupAdd": "--group-add",
    "Dns": "--dns", "DnsOptions": "--dns-option", "DnsSearch": "--dns-search", "ExtraHosts": "--add-host",
    "Links": "--link", "VolumesFrom": "--volumes-from", "DeviceCgroupRules": "--device-cgroup-rule",
}  # fmt: skip
_SWITCHES = {
    "Privileged": "--privileged", "ReadonlyRootfs": "--read-only", "PublishAllPorts": "--publish-all", "Init": "--init",
    "OomKillDisable": "--oom-kill-disable",
}  # fmt: skip
_MAPS = {"Sysctls": "--sysctl", "StorageOpt": "--storage-opt", "Annotations": "--annotation"}


def _simple(host):
    for name, flag in {**_TEXTS, **_NUMBERS}.items():
        if host.get(name):
            yield from (flag, str(host[name]))
    for name, flag in _LISTS.items():
        yield from (word for value in host.get(name) or () for word in (flag, str(value)))
    for name, flag in _MAPS.items():
        yield from (
            word for pair in (host.get(name) or {}).items() for word in (flag, "=".join(pair))
        )
    yield from (flag for name, flag in _SWITCHES.items() if host.get(name))
    if host.get("MemorySwappiness") not in (None, -1):
        yield from ("--memory-swappiness", str(host["MemorySwappiness"]))
    if host.get("MaskedPaths") == [] and not host.get("Privileged"):
        yield from ("--security-opt", "systempaths=unconfined")
    if host.get("NanoCpus"):
        yield from ("--cpus", f"{host['NanoCpus'] / 1e9:.9f}".rstrip("0").rstrip("."))


def _of_host(host):
    yield from _simple(host)
    for path, options in (host.get("Tmpfs") or {}).items():
        yield from ("--tmpfs", f"{path}:{options}" if options else path)
    for one in host.get("Ulimits") or ():
        yield from ("--ulimit", f"{one['Name']}={one['Soft']}:{one['Hard']}")
    for one in host.get("Devices") or ():
        yield from (
            "--device",
            ":".join((one["PathOnHost"], one["PathInContainer"], one["CgroupPermissions"])),
        )
    for port, places in (host.get("PortBindings") or {}).items():
        for place in places or [{}]:
            address = place.get("HostIp") or ""
            address = f"[{address}]" if ":" in address else address
            yield from (
                "--publish",
                ":".join(
                    [*([address] if address else []), place.get("HostPort") or "", port]
                ).lstrip(":"),
            )
    log = host.get("LogConfig") or {}
    if log.get("Type"):
        yield from ("--log-driver", log["Type"])
    for name, value in (log.get("Config") or {}).items():
        yield from ("--log-opt", f"{name}={value}")
    yield from _gpus(host.get("DeviceRequests") or ())


def _gpus(requests):
    for one in requests:
        if one.get("Driver") == "cdi":
            for name in one.get("DeviceIDs") or ():
                yield from ("--device", name)
            continue
        capabilities = [
            name for group in one.get("Capabilities") or () for name in group if name != "gpu"
        ]
        ids, count = one.get("DeviceIDs") or [], one.get("Count") or 0
        parts = [
            "device=" + ",".join(ids) if ids else "count=" + ("all" if count == -1 else str(count))
        ]
        parts += ["driver=" + one["Driver"]] if one.get("Driver") else []
        parts += ["capabilities=" + ",".join(capabilities)] if capabilities else []
        parts += [f"{key}={value}" for key, value in (one.get("Options") or {}).items()]
        yield from ("--gpus", ",".join(f'"{part}"' if "," in part else part for part in parts))


def _mounts(told):
    """Name every volume, those without a name of their own too, so that the new container has the same ones."""
    host = told["HostConfig"]
    named = {bind.split(":")[1]: bind for bind in host.get("Binds") or () if bind.count(":")}
    given = {one.get("Target"): one for one in host.get("Mounts") or ()}
    for mount in told.get("Mounts") or ():
        place = mount["Destination"]
        if place in named:
            yield from ("--volume", named[place])
        elif place in given or mount["Type"] == "volume":
            yield from ("--mount", _mount(mount, given.get(place) or {}))


def _mount(mount, given):
    source = mount.get("Name") if mount["Type"] == "volume" else mount.get("Source")
    parts = ["type=" + mount["Type"], "source=" + source, "target=" + mount["Destination"]]
    parts += ["readonly"] if not mount.get("RW", True) else []
    spread = (given.get("BindOptions") or {}).get("Propagation")
    parts += ["bind-propagation=" + spread] if spread else []
    return ",".join(f'"{part}"' if "," in part else part for part in parts)


def _health(check, image):
    if not check or check == image:
        return
    test = check.get("Test") or []
    if test[:1] == ["NONE"]:
        yield "--no-healthcheck"
    if test[:1] == ["CMD-SHELL"]:
        yield from ("--health-cmd", test[1])
    for name in ("Interval", "Timeout", "StartPeriod", "StartInterval"):
        if check.get(name):
            flag = "--health-" + "".join(
                "-" + c.lower() if c.isupper() else c for c in name
            ).lstrip("-")
            yield from (flag, f"{check[name]}ns")
    if check.get("Retries"):
        yield from ("--health-retries", str(check["Retries"]))


def _of_config(told, image):
    config = told["Config"]
    if config.get("Hostname") and not told["Id"].startswith(config["Hostname"]):
        yield from ("--hostname", config["Hostname"])
    for name, flag in (("Domainname", "--domainname"), ("User", "--user"), ("WorkingDir", "--workdir"),
                       ("StopSignal", "--stop-signal"), ("StopTimeout", "--stop-timeout")):  # fmt: skip
        if config.get(name) and config[name] != image.get(name):
            yield from (flag, str(config[name]))
    for name, value in (config.get("Labels") or {}).items():
        if (image.get("Labels") or {}).get(name) != value:
            yield from ("--label", f"{name}={value}")
    for port in config.get("ExposedPorts") or {}:
        if port not in (image.get("ExposedPorts") or {}) and port not in (
            told["HostConfig"].get("PortBindings") or {}
        ):
            yield from ("--expose", port)
    yield from ("--tty",) if config.get("Tty") else ()
    yield from ("--interactive",) if config.get("OpenStdin") else ()
    yield from _health(config.get("Healthcheck"), image.get("Healthcheck"))


def _of_network(told):
    mode = told["HostConfig"].get("NetworkMode") or ""
    network = ((told.get("NetworkSettings") or {}).get("Networks") or {}).get(mode) or {}
    for name in network.get("Aliases") or ():
        if not told["Id"].startswith(name):
            yield from ("--network-alias", name)
    fixed = network.get("IPAMConfig") or {}
    for key, flag in (("IPv4Address", "--ip"), ("IPv6Address", "--ip6")):
        if fixed.get(key):
            yield from (flag, fixed[key])


def command_of(told):
    """Return the words that a container runs, program first."""
    return [told["Path"], *(told.get("Args") or [])]


def create_words(told, image, name, words, image_ref):
    """Return the words after `docker create` for a container that runs `words` and is else as `told`.

    It is started by nobody but us: without restart policy and without --rm. Variables go by `env_lines`.
    """
    entry = list(told["Config"].get("Entrypoint") or ())
    own = entry == list(image.get("Entrypoint") or ()) and words[: len(entry)] == entry
    start = [] if own else ["--entrypoint", words[0]]
    rest = words[len(entry) :] if own else words[1:]
    flags = [
        *_of_host(told["HostConfig"]),
        *_mounts(told),
        *_of_config(told, image),
        *_of_network(told),
    ]
    return ["--name", name, "--pull", "never", "--restart", "no", *flags, *start, image_ref, *rest]


def env_lines(told, env, unset_env):
    """Return the variables of the new container, as NAME=VALUE."""
    old = [
        line
        for line in told["Config"].get("Env") or ()
        if line.partition("=")[0] not in {*env, *unset_env}
    ]
    return old + [f"{name}={value}" for name, value in env.items()]
