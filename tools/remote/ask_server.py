"""Ask a model server of this host something over HTTP: a prelude, after find_server.py.

Only addresses of this machine and of its containers are asked, past any proxy, without a key,
with GET, and never a path that changes or disturbs anything.
"""

# ruff: noqa: F821
# What has no definition here is that of find_server.py, whose text goes before this one.

import time
import urllib.error
import urllib.request

_LIMIT_S = 5.0
_MOST = 4 << 20
_ANYWHERE = ("0.0.0.0", "::", "localhost", "127.0.0.1", "::1", None, "")


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _places(port):
    """Return (server or None, [(address, port)]) where it can be asked, most likely first."""
    server = find_server(port)
    if server is None:
        return None, [("127.0.0.1", port)] if port else []
    bound = _flag(server["argv"], "--host")
    inner = [a for a, p in server["listening"] if p == server["port"]]
    mine, theirs = _link("self", "ns/net"), _link(server["pid"], "ns/net")
    if theirs and mine != theirs:
        trie = _of(server["pid"], "net/fib_trie")
        own = re.findall(r"\|-- (\d+\.\d+\.\d+\.\d+)\n\s+/32 host LOCAL", trie)
        own = [a for a in dict.fromkeys(own) if not a.startswith("127.")]
        outer = [("127.0.0.1", out) for out in server["published"]]
        return server, outer + [(a, server["port"]) for a in own[:3]]
    special = [a for a in dict.fromkeys([*inner, bound]) if a not in _ANYWHERE]
    loop = "::1" if inner == ["::1"] else "127.0.0.1"
    return server, [(a, server["port"]) for a in [*special, loop]]


def _get(address, port, path):
    """Return (status, text); status 0 with a reason where there is no answer at all."""
    host = f"[{address}]" if ":" in address else address
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())
    ends = time.monotonic() + _LIMIT_S
    try:
        with opener.open(f"http://{host}:{port}{path}", timeout=_LIMIT_S) as answer:
            body = b""
            while len(body) < _MOST and time.monotonic() < ends:
                part = answer.read1(1 << 16)
                if not part:
                    return answer.status, body.decode("utf-8", "replace")
                body += part
            return 0, "too long" if len(body) >= _MOST else "timed out"
    except urllib.error.HTTPError as error:
        return error.code, ""
    except Exception as error:
        why = str(getattr(error, "reason", error)) or type(error).__name__
        return 0, "timed out" if "timed out" in why else why


def ask(port, *paths):
    """Return {"text": ...} of the first path that answers, else {"failed": ...} or {"absent": ...}."""
    server, places = _places(port)
    if not places:
        return absent(port)
    why = ""
    for address, at in places:
        for path in paths:
            status, text = _get(address, at, path)
            if status == 200:
                return {
                    "text": text,
                    "address": address,
                    "port": at,
                    "path": path,
                    "server": server,
                }
            why = _why(status, text, address, at, path)
            if status != 404:
                break
        if status == 404 or status in (401, 403) or text == "timed out":
            break
    if status == 404:
        return {"absent": why, "server": server}
    return {"failed": why, "server": server} if server or status else absent(port)


def _why(status, text, address, at, path):
    where = f"http://{address}:{at}{path}"
    if status in (401, 403):
        return f"the server wants an API key for {path}, and none is used here (status {status})"
    if text == "timed out":
        return (
            f"{where} did not answer within {_LIMIT_S:.0f} s though the port is open: "
            "the scheduler may hang (/health tells: 503 after 20 s)"
        )
    if status:
        return f"{where} answers with status {status}"
    return f"{where} cannot be asked: {text[:200]}"
