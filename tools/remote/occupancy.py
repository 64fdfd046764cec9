"""How busy a server is, by whichever door its version has: a prelude of the scripts that add load.

It gives `Occupancy`: /v1/loads (SGLang since 0.5.8), /get_load (0.4.10 to 0.5.20), the gauges of /metrics (all, with
--enable-metrics), else the last lines of its log, where that is a file. None of them disturbs the server.
"""

# Goes after own_api.py
# ruff: noqa: F821
# What has no definition here is that of own_api.py and the texts before it.

import time

FRESH_S = 10.0  # a log that was silent for longer is that of an idle server (a decode line: every 40 steps)
_TAIL = 1 << 16


def _loads(text):
    ranks = json.loads(text)["loads"]
    return (
        sum(one["num_running_reqs"] for one in ranks),
        sum(one["num_waiting_reqs"] for one in ranks),
    )


def _old_loads(text):
    ranks = json.loads(text)
    ranks = ranks if isinstance(ranks, list) else [ranks]
    waiting = sum(one["num_waiting_reqs"] for one in ranks)
    return sum(one["num_reqs"] for one in ranks) - waiting, waiting


def _gauges(text):
    found = []
    for name in ("num_running_reqs", "num_queue_reqs"):
        ranks = {}
        line = r"(?m)^sglang:" + name + r"(?:\{([^}\n]*)\})? (\S+)"
        for labels, value in re.findall(line, text):
            rank = re.search(r'dp_rank="(\w*)"', labels)
            rank = rank.group(1) if rank else ""
            ranks[rank] = max(
                ranks.get(rank, 0), int(float(value))
            )  # the ranks of one model say it alike
        if not ranks:
            raise ValueError(name)
        found.append(sum(ranks.values()))
    return tuple(found)


def _last_lines(path):
    if time.time() - os.stat(path).st_mtime > FRESH_S:
        return 0, 0
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
        lines = re.findall(rb"#running-req: (\d+)[^\n]*?#queue-req: (\d+)", file.read(_TAIL))
    return (int(lines[-1][0]), int(lines[-1][1])) if lines else (0, 0)


class Occupancy:
    """Asks again and again by the door that was found first; its answers may be a second old."""

    DOORS = (("/v1/loads", _loads), ("/get_load", _old_loads), ("/metrics", _gauges))

    def __init__(self, server, place, key):
        self.place, self.key, self.door = place, key, None
        log = (server or {}).get("log") or {}
        self.log = log["path"] if log.get("kind") == "file" else None
        if self.log and server["root"]:
            self.log = None  # the file of a container is not at that place here

    def look(self):
        """Return (running, waiting), or None where nothing tells it now."""
        doors = [self.door] if self.door else self.DOORS
        for path, read in doors:
            found = self._by(path, read)
            if found:
                self.door = (path, read)
                return found
        return None

    def _by(self, path, read):
        status, text = asked_for(self.place, self.key, path)
        try:
            return read(text) if status == 200 else None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def find(self):
        """Look for the first time; the log is read only where no door is open."""
        found = self.look()
        if found is None and self.log:
            try:
                found = _last_lines(self.log)
            except OSError:
                return None
            self.door = ("the log", None)
            self._by = lambda *_: _last_lines(self.log)
        return found


def refusal(occupancy, others):
    """Return why no load may be added now, or None; two looks, for a health probe is gone at the second.

    `others` is how many requests of others may run.
    """
    for again in (False, True):
        found = occupancy.look() if again else occupancy.find()
        if found is None:
            return (
                "how busy the server is cannot be seen: it has neither /v1/loads nor /get_load nor metrics, "
                "and its log is no file"
            )
        running, waiting = found
        if running <= others and not waiting:
            return None
        if not again:
            time.sleep(1.2)  # /v1/loads of 0.5.23 is a snapshot of up to a second ago
    return (
        f"the server is busy: {running} requests run and {waiting} wait ({occupancy.door[0]}); "
        f"no load is added where more than {others} run or any waits"
    )
