"""List the sources of a server's engine; arguments: a JSON object with words, known, path and port.

Goes after source_files.py. A listing that the asker holds already, by its digest, is not sent again.
"""

# Goes after source_files.py
# ruff: noqa: F821
# What has no definition here is that of source_files.py, whose text goes before this one.

import hashlib
import time

_FILES = 20000
_LIMIT_S = 40
_REGISTERS = re.compile(rb"\n@\w*register")


def _look(found, words):
    rows, hits, ends = [], {word: [] for word in words}, time.monotonic() + _LIMIT_S
    registers, cut = [], False
    for number, path in enumerate(listed(found)):
        if number >= _FILES or time.monotonic() > ends:
            cut = True
            break
        raw, _ = contents(found, path)
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        rows.append([path, len(raw or b""), digest])
        if raw is None or path in found["metadata"]:
            continue
        for word in words:
            if word.encode() in raw:
                hits[word].append(number)
        if b"register" in raw and _REGISTERS.search(b"\n" + raw):
            registers.append(number)
    return rows, hits, registers, cut


def list_source(words, known, given, port):
    """Return the files with their digests, and which of them hold which word."""
    found, why = installed(given, port)
    if found is None:
        return why
    rows, hits, registers, cut = _look(found, words)
    if not any(path.endswith("/srt/server_args.py") for path, _, _ in rows):
        return {"absent": found["root"] + "/sglang holds no srt/server_args.py: it is not whole"}
    digest = hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()
    return {
        "engine_source": found["name"], "version": found["version"], "root": found["root"],
        "listing": digest, "files": None if digest == known else rows, "words": hits,
        "registers": registers, "cut": cut,
    }  # fmt: skip


_asked = json.loads(sys.argv[1])
say(list_source(_asked["words"], _asked["known"], _asked["path"], _asked["port"]))
