"""Find an installed package as a server's interpreter sees it, without importing anything.

Goes after find_server.py. It gives `find_package` and `inside`.
"""

# ruff: noqa: F821
# What has no definition here is that of find_server.py, whose text goes before this one.

import glob


def inside(server, path):
    """Return a path of the server's own view of the disk as it is seen from here."""
    if not path:
        return None
    if not path.startswith("/"):
        path = os.path.join(server.get("cwd") or "/", path)
    return server["root"] + path


def _variables(server):
    pairs = (part.partition("=") for part in _of(server["pid"], "environ").split("\0"))
    names = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "HOME", "HF_HOME", "HF_HUB_CACHE")
    return {name: value for name, _, value in pairs if name in names}


def _mapped(server):
    """Return the site-packages from which the process has libraries loaded: the surest sign."""
    maps = _of(server["pid"], "maps", 1 << 22)
    return list(dict.fromkeys(re.findall(r"(/\S+/(?:site|dist)-packages)/", maps)))


def _prefixes(server):
    known = _variables(server)
    started = [part for part in server["argv"][:2] if "/" in part]
    tops = [os.path.dirname(os.path.dirname(part)) for part in [*started, server["python"] or ""]]
    tops = [known.get("VIRTUAL_ENV"), known.get("CONDA_PREFIX"), *tops]
    home = known.get("HOME")
    return list(dict.fromkeys([t for t in tops if t] + ([home + "/.local"] if home else [])))


def _folders(server):
    """Return the folders in which the interpreter looks for packages, most likely first."""
    found = [part for part in _variables(server).get("PYTHONPATH", "").split(":") if part]
    found += [server["cwd"] or "/"] if "-m" in server["argv"][:6] else []
    found += _mapped(server)
    for top in [*_prefixes(server), "/opt/venv", "/usr/local", "/usr"]:
        here = inside(server, top)
        for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages",
                        "local/lib/python3*/dist-packages", "lib/python3/dist-packages"):  # fmt: skip
            cut = len(server["root"])
            found += [path[cut:] for path in sorted(glob.glob(os.path.join(here, pattern)))[::-1]]
    return list(dict.fromkeys(found))


def _linked(server, folder, name):
    """Return where an editable install of the package points, from its .pth or its finder."""
    here = inside(server, folder)
    for path in sorted(glob.glob(here + "/*.pth") + glob.glob(here + "/__editable__*"))[:64]:
        text = (_raw(path, 1 << 16) or b"").decode("utf-8", "replace")
        mapped = re.search(rf"['\"]{name}['\"]\s*:\s*['\"]([^'\"]+)['\"]", text)
        if mapped:
            return mapped.group(1)
        for line in text.splitlines()[:64]:
            if line.startswith("/") and os.path.isdir(inside(server, os.path.join(line, name))):
                return os.path.join(line, name)
    return None


def _version(server, folder, package, name):
    infos = glob.glob(inside(server, folder) + f"/{name}-*.dist-info") if folder else []
    for info in sorted(infos):
        return os.path.basename(info)[len(name) + 1 : -len(".dist-info")]
    for file in ("_version.py", "version.py"):
        text = (_raw(os.path.join(inside(server, package), file), 8192) or b"").decode()
        found = re.search(r"version(?:__)?\s*=\s*(?:version\s*=\s*)?['\"]([^'\"]+)['\"]", text)
        if found:
            return found.group(1)
    return None


def _is_engine(folder):
    """Say whether a folder that was named holds an engine: no other source is shown."""
    parts = (("srt",), ("engine", "entrypoints"))  # of SGLang, of vLLM
    return os.path.isfile(os.path.join(folder, "__init__.py")) and any(
        all(os.path.isdir(os.path.join(folder, part)) for part in few) for few in parts
    )


def find_package(server, name, given=None):
    """Return {"path", "version", "editable"} of a package, or None; `given` is looked at first."""
    if given:
        for path in (given, os.path.join(given, name), os.path.join(given, "python", name)):
            if _is_engine(inside(server, path)):
                return {
                    "path": path,
                    "version": _version(server, None, path, name),
                    "editable": False,
                }
        return None
    folders = _folders(server)
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(os.path.join(inside(server, path), "__init__.py")):
            version = _version(server, folder, path, name)
            return {"path": path, "version": version, "editable": False}
        linked = _linked(server, folder, name)
        if linked and os.path.isdir(inside(server, linked)):
            version = _version(server, folder, linked, name)
            return {"path": linked, "version": version, "editable": True}
    image = f"/sgl-workspace/{name}/python/{name}"
    if os.path.isdir(inside(server, image)):
        return {"path": image, "version": _version(server, None, image, name), "editable": True}
    return None
