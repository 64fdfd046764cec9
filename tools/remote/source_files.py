"""What of a server's installed source may be read: a prelude of list_source.py and bring_source.py.

Goes after find_server.py and find_package.py. It gives `installed`, `listed` and `contents`. Only *.py below
the package and its METADATA are shown; a link is followed only where it stays inside.
"""

# Goes after find_server.py
# Goes after find_package.py
# ruff: noqa: F821
# What has no definition here is that of find_server.py, whose text goes before this one.

import stat

FILE_BYTES = 4 << 20  # of one file; what lies beyond is not read
_ALLOWED = re.compile(r"[\w.+-]+(?:/[\w.+-]+)+")
_INFO = re.compile(r"[\w.+-]+\.(?:dist-info/METADATA|egg-info/PKG-INFO)")


def installed(given, port):
    """Return ({"top", "root", "name", "version", "metadata", "links"}, None), or (None, why not)."""
    server = find_server(port)
    if server is None and not given:
        return None, absent(port)
    server = server or {
        "root": "",
        "cwd": "/",
        "pid": 0,
        "argv": [],
        "python": None,
        "engine": "sglang",
    }
    name = server["engine"]
    if name != "sglang":
        return None, {"absent": f"the server is no SGLang ({name}): its flags are not explained"}
    package = find_package(server, name, given or None)
    if package is None or os.path.basename(package["path"].rstrip("/")) != name:
        where = given or f"the Python of process {server['pid']}"
        why = f"{where} holds no package {name}; tell the folder (source_path in hosts.toml)"
        return None, {"absent": why}
    top = os.path.dirname(package["path"].rstrip("/"))
    return {
        "top": inside(server, top), "root": top, "name": name, "version": package["version"],
        "metadata": _metadata(server, top, name), "links": not server["root"], "folders": {},
    }, None  # fmt: skip


def _metadata(server, top, name):
    """Return {path as it is named: file}: beside the package, or where an editable one is noted."""
    for folder in [top] + (_folders(server) if server["pid"] else []):
        here = inside(server, folder)
        for pattern in (f"{name}-*.dist-info/METADATA", f"{name}.egg-info/PKG-INFO"):
            for file in sorted(glob.glob(os.path.join(here, pattern)))[:1]:
                if os.path.isfile(file) and not os.path.islink(file):
                    return {os.path.relpath(file, here): file}
    return {}


def listed(found):
    """Yield the paths of all sources below the folder of the package, in order."""
    yield from sorted(found["metadata"])
    top, cut = os.path.join(found["top"], found["name"]), len(found["top"]) + 1
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(one for one in folders if one not in ("test", "__pycache__"))
        for one in sorted(files):
            if one.endswith(".py"):
                yield os.path.join(folder, one)[cut:]


def _linked_folder(found, parts):
    """Say whether a folder below the package is reached through a link; each is looked at once."""
    name = "/".join(parts)
    if len(parts) < 2:
        return False
    if name not in found["folders"]:
        above = _linked_folder(found, parts[:-1])
        found["folders"][name] = above or os.path.islink(os.path.join(found["top"], name))
    return found["folders"][name]


def _stays(found, path):
    """Say whether a path names a source without leaving the package by dots or by links."""
    parts = path.split("/")
    if not _ALLOWED.fullmatch(path) or not path.endswith(".py") or parts[0] != found["name"]:
        return False
    if any(part.startswith(".") for part in parts):
        return False
    at = os.path.join(found["top"], path)
    if not (_linked_folder(found, parts[:-1]) or os.path.islink(at)):
        return True
    # seen from outside of a container, a link may mean a file of the host
    real = os.path.realpath(os.path.join(found["top"], found["name"]))
    return found["links"] and os.path.realpath(at).startswith(real + "/")


def contents(found, path):
    """Return (the first bytes of a source, ""), or (None, why it cannot be shown)."""
    file = found["metadata"].get(path)
    if file is None:
        if not _stays(found, path):
            return None, "it is no source of the package, or a link leads out of it"
        file = os.path.join(found["top"], path)
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as opened:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None, "it is no file"
            return opened.read(FILE_BYTES), ""
    except OSError as why:
        return None, why.strerror or "it cannot be read"
