"""Bring the texts of named sources of a server's engine; arguments: a JSON object with paths, path, port.

Goes after source_files.py. What goes beyond the bound in bytes is named as left out, to be asked for again.
"""

# Goes after source_files.py
# ruff: noqa: F821
# What has no definition here is that of source_files.py, whose text goes before this one.

import base64
import zlib

_BYTES = 16 << 20  # of one answer, before it is packed
_FILES = 512


def bring_source(paths, given, port):
    """Return the bytes of the files, packed together, and what could not be read."""
    found, why = installed(given, port)
    if found is None:
        return why
    rows, troubles, left, total = [], {}, paths[_FILES:], 0
    packer, packed = zlib.compressobj(6), []
    for path in paths[:_FILES]:
        raw, trouble = contents(found, path)
        if raw is None:
            troubles[path] = trouble
        elif rows and total + len(raw) > _BYTES:
            left.append(path)
        else:
            total += len(raw)
            rows.append([path, len(raw)])
            packed.append(packer.compress(raw))
    packed.append(packer.flush())
    text = base64.b64encode(b"".join(packed)).decode("ascii")
    return {"source_texts": rows, "troubles": troubles, "left": left, "packed": text}


_asked = json.loads(sys.argv[1])
say(bring_source(_asked["paths"], _asked["path"], _asked["port"]))
