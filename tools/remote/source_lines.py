"""Search the installed engine's source for a fixed text; arguments: text, pattern, path, port.

Goes after find_server.py and find_package.py. Path and port may be empty.
"""

# ruff: noqa: F821
# What has no definition here is that of find_server.py, whose text goes before this one.

import time

_LINES = 200
_FILES = 4000


def _files(top, pattern):
    """Return the files below a folder that a pattern names; links that lead out are left out."""
    found = sorted(glob.glob(os.path.join(top, pattern), recursive=True))[:_FILES]
    real = os.path.realpath(top)
    return [f for f in found if os.path.realpath(f).startswith(real + "/") and os.path.isfile(f)]


def _hits(file, needle):
    raw = _raw(file, 8 << 20) or b""
    if needle.encode() not in raw:
        return []
    text = raw.decode("utf-8-sig", "replace")
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if needle in line]


def search(needle, pattern, given, port):
    """Return the lines that hold the text, capped, with the version they belong to."""
    server = find_server(port)
    if server is None and not given:
        return absent(port)
    server = server or {
        "root": "",
        "cwd": "/",
        "pid": 0,
        "argv": [],
        "python": None,
        "engine": "sglang",
    }
    name = server["engine"] if server["engine"] in ("sglang", "vllm") else "sglang"
    package = find_package(server, name, given or None)
    if package is None:
        if given:
            return {"absent": f"{given} holds no source of {name}"}
        return {
            "absent": f"the installed source of {name} was not found; tell where it is (source_path)"
        }
    top, found, cut = inside(server, package["path"]), [], False
    ends = time.monotonic() + 6
    for file in _files(top, pattern):
        for number, line in _hits(file, needle):
            found.append({"path": os.path.relpath(file, top), "line": number, "text": line[:300]})
        if len(found) > _LINES or time.monotonic() > ends:
            cut = True
            break
    told = {"needle": needle, "version": package["version"], "root": package["path"], "cut": cut}
    told["found"] = found[:_LINES]
    return told


_port = sys.argv[4]
say(search(sys.argv[1], sys.argv[2], sys.argv[3], int(_port) if _port.isdigit() else None))
