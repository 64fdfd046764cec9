"""Talk to a model server of this host with its own key: a prelude of the scripts that add load.

It gives `key_of`, `Request`, `asked_for`, `server_at` and `address_of`. The key is read from the server's own
command line, goes into the header of requests to that server, and nowhere else: it is in no message and no answer.
"""

# Goes after find_server.py
# Goes after ask_server.py
# ruff: noqa: F821
# What has no definition here is that of proc.py and ask_server.py, whose text goes before this one.

import http.client
import json
import socket
from contextlib import suppress

_KEY_FLAG = "--api-key"
_SHORTEST = 5  # characters of --api, which argparse takes for it
_ASKED_S = 5.0


def key_of(server):
    """Return the API key on a server's command line, or None."""
    argv = _of(server["pid"], "cmdline").rstrip("\0").split("\0") if server else []
    key = None
    for at, word in enumerate(argv):
        name, equals, rest = word.partition("=")
        if len(name) >= _SHORTEST and _KEY_FLAG.startswith(name):
            key = rest if equals else [*argv, ""][at + 1]
    return key or None


class Request:
    """One request to the server, which another thread may hang up at any time."""

    def __init__(self, place, key, limit_s=_ASKED_S):
        self.line = http.client.HTTPConnection(place[0], place[1], timeout=limit_s)
        self.headers = {"Authorization": "Bearer " + key} if key else {}
        self.socket, self.hung_up = None, False

    def send(self, method, path, body=None):
        """Return the answer, whose body is still to be read; raise OSError or HTTPException."""
        self.line.connect()
        self.socket = self.line.sock
        if self.hung_up:
            raise OSError("hung up")
        headers = dict(self.headers, Connection="close")
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.line.request(method, path, None if body is None else json.dumps(body), headers)
        return self.line.getresponse()

    def hang_up(self):
        """End it at once, whoever waits for it."""
        self.hung_up = True
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Give back what it holds."""
        self.line.close()
        if self.socket is not None:
            self.socket.close()


def asked_for(place, key, path, body=None, limit_s=_ASKED_S):
    """Return (status, text) of one small question; status 0 and why where there is no answer."""
    request = Request(place, key, limit_s)
    try:
        answer = request.send("GET" if body is None else "POST", path, body)
        return answer.status, answer.read(_MOST).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as why:
        return 0, str(why) or type(why).__name__
    finally:
        request.close()


def address_of(place):
    """Return the base of its addresses."""
    host = "[" + place[0] + "]" if ":" in place[0] else place[0]
    return "http://" + host + ":" + str(place[1])


def server_at(port):
    """Return (server, place, key, info), or what is printed instead of an answer.

    `info` is what the server says of itself. Only SGLang is known here.
    """
    server, places = _places(port)
    if server is not None and server["engine"] != "sglang":
        return {
            "absent": f"on port {server['port']} runs {server['engine']}: this speaks SGLang alone"
        }
    key, status, why = key_of(server), 0, ""
    for place in places:
        for path in ("/server_info", "/get_server_info"):
            status, text = asked_for(place, key, path)
            if status == 200:
                return server, place, key, json.loads(text)
            why = text if status == 0 else f"status {status}"
            if status in (401, 403):
                told = "its key is not accepted" if key else "none is on its command line"
                return {"failed": "the server wants an API key, and " + told}
    return (
        {"failed": "the server does not answer: " + why[:200]}
        if places and (server or status)
        else absent(port)
    )
