"""Filter the serve log where it lies: its newest start-up, and what counts of its newest part.

Arguments: the port (0: any), the window in MB, optionally the log's path. Printed is text: one line
`perfsleuth-log {json}` that says how much was read and dropped, then lines of the log in order.
"""

# ruff: noqa: F821

import gc
import re
import time

CHUNK = 1 << 20
LINE_BYTES = 180  # of a line on average, where lines must be asked for
STARTUP = 3 << 20  # bytes after the arguments in which the start-up ends
BEFORE = 1 << 16  # bytes before the arguments: overrides are told first
FAR = 1 << 26  # bytes, from which on another program searches faster
MENTIONS = 1 << 24  # bytes of places where arguments are spoken of; more are no log
SEARCH_S = 25.0

_STARTED = re.compile(rb"server_args=(?:ServerArgs\(\w|\{['\"]\w)|LLM engine \(v?\d")
_SIGNS = (b"server_args=", b"LLM engine (v")
_READY = (b"The server is fired up and ready", b"Application startup complete")


def newest_start(file, size, deadline):
    """Return where the newest arguments begin, or None, and how many bytes were searched."""
    end, buffer, after, signs, asked = size, bytearray(CHUNK), b"", None, False
    while end > 0 and time.monotonic() < deadline:
        if signs is not None and size > FAR and not asked:
            asked = True
            at = found_by_grep(file, signs)
            if at is not None:
                return at, size
        begin = max(0, end - CHUNK)
        file.seek(begin)
        got = file.readinto(memoryview(buffer)[: end - begin])
        signs = signs or signs_of(buffer, got)
        found = last_start(buffer, got, after, signs)
        if found is not None:
            return begin + found, size - begin
        after, end = bytes(buffer[:64]), begin
    return None, size - end


def signs_of(buffer, got):
    """Return by what the arguments are known, from which engine the newest lines are."""
    vllm = buffer.rfind(b"tokens/s, Running: ", 0, got) >= 0 or buffer.rfind(b" pid=", 0, got) >= 0
    sglang = buffer.rfind(b" batch", 0, got) >= 0
    return _SIGNS[:1] if sglang and not vllm else _SIGNS[1:] if vllm and not sglang else _SIGNS


def found_by_grep(file, signs):
    """Return where the newest arguments begin, three times as fast; None if GNU grep cannot say."""
    best = None
    for sign in signs:
        file.seek(0)
        tail, told = b"", 0
        for piece in pieces(("grep", "-aboF", "-e", sign), MENTIONS, SEARCH_S, file):
            tail, told = (tail + piece)[-20000:], told + len(piece)
        if told >= MENTIONS:
            return None
        for row in reversed(tail.split(b"\n")):
            place = row.partition(b":")[0]
            if place.isdigit() and int(place) > (best or -1) and begins_at(file, int(place)):
                best = int(place)
                break
    return best


def begins_at(file, place):
    file.seek(max(0, place - 4000))
    text = file.read(4064) or b""
    head = text[: min(4000, place)]
    return bool(_STARTED.match(text[len(head) :])) and not _PRIVATE.search(
        head[head.rfind(b"\n") + 1 :]
    )


def last_start(buffer, got, after, signs):
    best = None
    for sign in signs:
        at, most = buffer.rfind(sign, 0, got), 1000  # of mentions that are no dump of arguments
        while at >= 0 and most and (best is None or at > best):
            text = (bytes(buffer[at : min(got, at + 64)]) + after)[:64]
            line = buffer.rfind(b"\n", max(0, at - 4000), at) + 1 or max(0, at - 4000)
            if _STARTED.match(text) and not _PRIVATE.search(bytes(buffer[line:at])):
                best = at
                break
            at, most = buffer.rfind(sign, 0, at), most - 1
    return best


def from_file(file, window):
    size = file.seek(0, 2)
    begin = max(0, size - (window << 20))
    sieve, head = Sieve(), {"bytes": size}
    at, head["searched_bytes"] = newest_start(file, size, time.monotonic() + SEARCH_S)
    head["startup_found"] = at is not None
    if at is not None and at < begin:
        start = max(0, at - BEFORE)
        if at + STARTUP >= begin:
            begin = start
        else:
            copy(file, sieve, start, at + STARTUP, until=_READY)
    copy(file, sieve, begin, size)
    head["skipped_bytes"] = size - sieve.read
    return sieve, head


def copy(file, sieve, begin, end, until=()):
    """Feed a part of the file; from the middle, begin with a whole line."""
    file.seek(begin)
    first, buffer = begin > 0, bytearray(CHUNK)
    while begin < end:
        want = min(CHUNK if not until else 1 << 18, end - begin)
        got = file.readinto(memoryview(buffer)[:want])
        if not got:
            break
        piece = bytes(buffer[:got])
        if first:
            piece = piece[piece.find(b"\n") + 1 :] if b"\n" in piece[:CHUNK] else b""
            first = False
        sieve.feed(piece)
        begin += got
        if any(sign in piece for sign in until):
            break
    if until:  # a part of its own: what follows is no continuation of it
        sieve.rest, sieve.skipping = b"", False


def from_container(server, window):
    """Read a container's log: its file where that may be read, else through the runtime."""
    file, first, newest, name = container_log(server, (window << 20) // LINE_BYTES)
    if file:
        return (*from_file(file, window), name)
    return from_programs(first, newest, window, name)


def from_programs(first, newest, window, name):
    """Read what one program prints of the start, and what another prints of the end."""
    if newest is None:
        return None
    sieve = Sieve()
    for piece in pieces(first, STARTUP, 10.0) if first else ():
        sieve.feed(piece)
        if any(sign in piece for sign in _READY):
            break
    started, sieve.rest, sieve.skipping = sieve.lines > 1, b"", False
    before = sieve.read
    for piece in pieces(newest, window << 20):
        sieve.feed(piece)
    return (sieve, {"startup_found": started}, name) if sieve.read > before else None


def is_log(sieve):
    """Say whether a file that was named is a serve log: nothing else is shown."""
    lines = (entry[-1] for kept in (sieve.traffic[:1000], sieve.others) for entry in kept)
    return sieve.health > 0 or any(_ENGINE.search(line) for line in lines)


def main(port, window, path=None):
    server, file, name = where(int(port), path)
    if path and file is None:
        why = f"the log {path} cannot be read here"
        return say({"failed": why} if os.path.exists(path) else {"absent": why})
    if server is None and file is None:
        return say(absent(int(port) or None))
    found = None
    if file is not None:
        found = (*from_file(file, window), name)
    elif server["container_id"] and server["log"]["kind"] != "terminal":
        found = from_container(server, window)
    if found is None and file is None and server["unit"]:
        found = from_programs(
            *journal_log(server["unit"], (window << 20) // LINE_BYTES),
            window,
            "journal of " + server["unit"],
        )
    if found is None:
        return say(no_log(server))
    if path and not found[1].get("startup_found") and not is_log(found[0]):
        return say({"absent": f"{path} holds no line of a serve log"})
    return show(*found)


def show(sieve, head, name):
    lines = sieve.result()
    head.update(source=name, read_bytes=sieve.read, read_lines=sieve.lines, access_lines=sieve.access,
                private_lines=sieve.private, health=sieve.health, folded=sieve.folded,
                cut_lines=max(0, sieve.lines - len(lines)))  # fmt: skip
    out = sys.stdout.buffer
    out.write(b"perfsleuth-log " + json.dumps(head).encode() + b"\n")
    out.write(b"\n".join(lines) + b"\n")
    out.flush()


if __name__ == "__main__":
    gc.disable()  # half a million small tuples, and no circles
    main(sys.argv[1], max(1, min(2048, int(sys.argv[2]))), *sys.argv[3:4])
