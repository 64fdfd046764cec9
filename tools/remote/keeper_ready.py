"""Whether a server serves: it owns the port and answers a request. A part of the keeper.

It gives `Door`, `serves`, `taken` and `owner_of`. The log line "ready to roll" is no proof: it also comes where another
server holds the port. The key is the server's own, read from the words that it was started with, and goes to it alone.
"""

# Goes after keeper_start.py
# Goes after occupancy.py
# ruff: noqa: F821

import json
import ssl

ANSWER_S = 20.0  # for one token; a scheduler that hangs answers never
_ANYWHERE_AT = ("0.0.0.0", "::", "127.0.0.1", "::1")


def tree_of(pid):
    """Return a process and all that is below it."""
    return [pid] + [one for one, _ in descendants(pid)]


def taken(pid, port):
    """Say whether anybody listens on a port in the network of a process."""
    rows = (_of(pid, "net/tcp") + _of(pid, "net/tcp6")).splitlines()
    words = [row.split() for row in rows]
    return any(
        len(w) > 9 and w[3] == "0A" and int(w[1].rpartition(":")[2], 16) == port for w in words
    )


def owner_of(port):
    """Return the process of this host's network that listens on a port, or None where that is not readable."""
    for name in os.listdir("/proc"):
        if name.isdigit() and port in [at for _, at in _listening([int(name)])]:
            return int(name)
    return None


def places_of(pid, port):
    """Return the addresses at which a server and what is below it listen on a port; empty: it does not own it."""
    return [address for address, at in _listening(tree_of(pid)) if at == port]


def key_in(argv, cwd):
    """Return the key that a command line, or the YAML that it names, gives; None without one."""
    words, key, config = [os.fsdecode(one) for one in argv], None, None
    for at, word in enumerate(words):
        name, equals, rest = word.partition("=")
        value = rest if equals else [*words, ""][at + 1]
        if len(name) >= 5 and "--api-key".startswith(name):
            key = value
        if name == "--config":
            config = os.path.join(os.fsdecode(cwd), value)
    if key or not config:
        return key
    text = (_raw(config) or b"").decode("utf-8", "surrogateescape")
    found = re.search(r"(?m)^[\"']?api[-_]key[\"']?\s*:\s*[\"']?([^\s\"'#]+)", text)
    return found.group(1) if found else None


def own_address(pid):
    """Return the address of a process that has a network of its own, as a container has; else None."""
    if _link(pid, "ns/net") == _link("self", "ns/net"):
        return None
    own = re.findall(r"\|-- (\d+\.\d+\.\d+\.\d+)\n\s+/32 host LOCAL", _of(pid, "net/fib_trie"))
    return next((one for one in own if not one.startswith("127.")), None)


class Door:
    """Where a server is asked, and with what."""

    def __init__(self, pid, port, argv, cwd):
        places = places_of(pid, port)
        special = [one for one in places if one not in _ANYWHERE_AT]
        loop = "::1" if places == ["::1"] else own_address(pid) or "127.0.0.1"
        self.pid, self.owned = pid, bool(places)
        self.place = (special[0] if special and not set(places) & set(_ANYWHERE_AT) else loop, port)
        self.key = key_in(argv, cwd)
        self.secure = any(os.fsdecode(one).startswith("--ssl-cert") for one in argv)

    def ask(self, path, body=None):
        """Return (status, text) of one request."""
        if not self.secure:
            return asked_for(self.place, self.key, path, body, ANSWER_S)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = (
            False,
            ssl.CERT_NONE,
        )  # it is asked on this very host
        line = http.client.HTTPSConnection(*self.place, timeout=ANSWER_S, context=context)
        headers = {"Content-Type": "application/json"}
        headers.update({"Authorization": "Bearer " + self.key} if self.key else {})
        try:
            line.request(
                "GET" if body is None else "POST", path, body and json.dumps(body), headers
            )
            answer = line.getresponse()
            return answer.status, answer.read(1 << 20).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as why:
            return 0, str(why)
        finally:
            line.close()

    def answers(self):
        """Ask for one token, by what the engine has; return why there is none, or nothing."""
        sampling = {"max_new_tokens": 1, "temperature": 0}
        status, text = self.ask("/generate", {"text": "1", "sampling_params": sampling})
        if status in (400, 404, 405, 422):  # an embedding model, or vLLM
            status, text = self.ask("/health_generate")
        if status == 404:
            status, models = self.ask("/v1/models")
            name = re.search(r'"id": ?"([^"]+)"', models)
            body = {"model": name.group(1) if name else "", "prompt": "1", "max_tokens": 1}
            status, text = self.ask("/v1/completions", body)
        if status == 200:
            return ""
        return (
            f"it answers a request with status {status}"
            if status
            else "it does not answer: " + text[:100]
        )

    def busy(self):
        """Return how many requests run or wait, or None where nothing tells."""
        found = Occupancy({"pid": self.pid, "root": ""}, self.place, self.key).look()
        return sum(found) if found else None


def serves(pid, port, argv, cwd):
    """Return why this process is not a server that serves, or nothing."""
    door = Door(pid, port, argv, cwd)
    return door.answers() if door.owned else "it does not listen on the port"
