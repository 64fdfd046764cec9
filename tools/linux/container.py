"""A container's limits as docker inspect, compose files and pods set them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.linux.quantity import number, size_mib

Told = dict[str, Any]
Node = Mapping[str, Any]
_PERIOD_US = 100_000  # of the kernel, where only a quota is set
_DEFAULT_SHM_MIB = (
    64.0  # of containerd and CRI-O in a pod (their default runtime spec), and of docker
)
_SHM = "/dev/shm"  # noqa: S108 - where a pod mounts it
_MEBI = {"Ki": 1 / 1024, "Mi": 1.0, "Gi": 1024.0, "Ti": 1024.0**2, "k": 1e3 / (1 << 20),
         "M": 1e6 / (1 << 20), "G": 1e9 / (1 << 20), "T": 1e12 / (1 << 20)}  # fmt: skip


def read_container(node: Node, around: Node) -> Told:
    """Return what a container may use: cores, memory, /dev/shm; and whether memory killed it.

    `around` is the pod's spec, which holds volumes and hostIPC. A limit that is not set is told as
    none where the form would show it.
    """
    if isinstance(node.get("HostConfig"), Mapping):
        facts = _inspected(node, node["HostConfig"])
    elif "volumes" in around or "resources" in node or "containers" in around:
        facts = _pod(node, around)
    else:
        facts = _compose(node)
    facts = {name: value for name, value in facts.items() if value is not None}
    return facts | {"limits_of": "server"} if facts else {}


def _inspected(node: Node, host: Node) -> Told:
    """Docker 20 to 29 and podman 3 to 5: zero means that nothing is limited."""
    nano, quota = _whole(host.get("NanoCpus")), _whole(host.get("CpuQuota"))
    period = _whole(host.get("CpuPeriod")) or _PERIOD_US
    cores = nano / 1e9 if nano else quota / period if quota and quota > 0 else None
    memory, shm = _whole(host.get("Memory")), _whole(host.get("ShmSize"))
    state = _part(node, "State")
    limits = {
        str(one.get("Name")): str(one.get("Soft"))
        for one in host.get("Ulimits") or ()
        if isinstance(one, Mapping)
    }
    return {
        "quota_told": True if nano is not None or quota is not None else None,
        "quota_cpus": cores,
        "mem_limit_mib": memory / (1 << 20) if memory else None,
        "cpus_allowed": str(host["CpusetCpus"]) if host.get("CpusetCpus") else None,
        "shm_total_mib": shm / (1 << 20) if shm and host.get("IpcMode") != "host" else None,
        "oom_killed": state.get("OOMKilled") is True or None,
        "ulimits": limits or None,
    }


def _compose(node: Node) -> Told:
    limits = _part(_part(_part(node, "deploy"), "resources"), "limits")
    cores = number(str(node.get("cpus", limits.get("cpus", ""))))
    memory = str(node.get("mem_limit", limits.get("memory", "")))
    return {
        "quota_told": True if cores else None,
        "quota_cpus": cores or None,
        "mem_limit_mib": size_mib(memory),
        "cpus_allowed": str(node["cpuset"]) if node.get("cpuset") else None,
        "shm_total_mib": size_mib(str(node.get("shm_size", "")))
        if node.get("ipc") != "host"
        else None,
    }


def _pod(node: Node, spec: Node) -> Told:
    limits = _part(_part(node, "resources"), "limits")
    killed = any(_part(_part(status, when), "terminated").get("reason") == "OOMKilled"
                 for status in _mappings(node.get("statuses")) for when in ("state", "lastState"))  # fmt: skip
    return {
        "quota_told": True if "resources" in node else None,
        "quota_cpus": _cores(limits.get("cpu")),
        "mem_limit_mib": _mebi(limits.get("memory")),
        "shm_total_mib": _pod_shm(node, spec, _mebi(limits.get("memory"))),
        "oom_killed": killed or None,
    }


def _pod_shm(node: Node, spec: Node, memory_mib: float | None) -> float | None:
    """Return the size of a pod's /dev/shm: its emptyDir's, up to the memory limit, or the default.

    Kubernetes: sizeLimit of an emptyDir in memory, else the memory limit of the pod
    (SizeMemoryBackedVolumes); without one half of the node's memory, which is not told here.
    """
    if spec.get("hostIPC") is True or "containers" not in spec:
        return None
    mounts = _mappings(node.get("volumeMounts"))
    name = next((one.get("name") for one in mounts if one.get("mountPath") == _SHM), None)
    if name is None:
        return _DEFAULT_SHM_MIB
    volume = next((one for one in _mappings(spec.get("volumes")) if one.get("name") == name), {})
    return _mebi(_part(volume, "emptyDir").get("sizeLimit")) or memory_mib


def _cores(value: object) -> float | None:
    """Return a Kubernetes quantity of CPU, 8 or "500m", in cores."""
    text = str(value) if value is not None else ""
    milli = text.endswith("m")
    told = number(text.removesuffix("m"))
    return (told / 1000 if milli else told) if told else None


def _mebi(value: object) -> float | None:
    """Return a Kubernetes quantity of memory, "64Gi" or 64G or bytes, in MiB."""
    text = str(value) if value is not None else ""
    unit = text.lstrip("0123456789.")
    told = number(text.removesuffix(unit)) if unit else number(text)
    factor = _MEBI.get(unit) if unit else 1 / (1 << 20)
    return told * factor if told and factor else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _part(node: Node, name: str) -> Node:
    part = node.get(name)
    return part if isinstance(part, Mapping) else {}


def _mappings(value: object) -> Iterator[Node]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, Mapping):
            yield one
