"""Where two containers differ, by what `docker inspect` tells of them.

It gives `differences`. Pure. What is new with every container (id, times, state, the name) is left out, and so is what
our own way of making one changes on purpose: the restart policy and --rm, which come back when the change is kept.
"""

_CONFIG_OUT = ("Hostname", "Env", "Cmd", "Entrypoint", "Image", "AttachStdin", "AttachStdout", "AttachStderr",
               "StdinOnce", "ArgsEscaped", "OnBuild", "Volumes")  # fmt: skip
_HOST_OUT = (
    "Binds",
    "Mounts",
    "RestartPolicy",
    "AutoRemove",
    "ContainerIDFile",
    "ConsoleSize",
    "LogConfig",
)


def _said(thing):
    """Return a value with all that says nothing left out; the order of a list counts only where it must."""
    if isinstance(thing, dict):
        return {
            key: _said(value)
            for key, value in thing.items()
            if value not in (None, "", 0, False, [], {})
        }
    return (
        sorted(thing, key=str)
        if isinstance(thing, list) and all(isinstance(one, str) for one in thing)
        else thing
    )


def _mounted(told):
    rows = told.get("Mounts") or ()
    return sorted(
        (m["Type"], m.get("Name") or m.get("Source") or "", m["Destination"], bool(m.get("RW")))
        for m in rows
    )


def _networks(told):
    found = {}
    for name, one in ((told.get("NetworkSettings") or {}).get("Networks") or {}).items():
        aliases = [alias for alias in one.get("Aliases") or () if not told["Id"].startswith(alias)]
        found[name] = (sorted(aliases), _said(one.get("IPAMConfig") or {}))
    return found


def _hostname(told):
    name = told["Config"].get("Hostname") or ""
    return "" if name and told["Id"].startswith(name) else name


def _facts(told):
    config, host = told["Config"], told["HostConfig"]
    found = {
        "Config." + key: _said(value) for key, value in config.items() if key not in _CONFIG_OUT
    }
    found.update(
        {"HostConfig." + key: _said(value) for key, value in host.items() if key not in _HOST_OUT}
    )
    found["HostConfig.MemorySwappiness"] = str(host.get("MemorySwappiness"))  # 0 says something
    log = host.get("LogConfig") or {}
    found["HostConfig.LogConfig"] = (log.get("Type") or "", _said(log.get("Config") or {}))
    found.update(
        Image=told.get("Image"),
        Mounts=_mounted(told),
        Networks=_networks(told),
        Hostname=_hostname(told),
    )
    return {key: value for key, value in found.items() if value not in (None, "", 0, False, [], {})}


def differences(old, new, words, env):
    """Return the names of what differs from what is meant: the words and the variables given, all else as it was."""
    before, after = _facts(old), _facts(new)
    found = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    if [new["Path"], *(new.get("Args") or [])] != words:
        found.append("the command")
    if sorted(new["Config"].get("Env") or ()) != sorted(env):
        found.append("the variables")
    return found
