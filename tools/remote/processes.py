"""The busiest processes over half a second, the model server's own, and all that hold a GPU open.

Goes after find_server.py, whose `find_server` and `say` it uses. Of a command line the program and
its module or script are told, never the arguments: they may hold secrets.
"""

import os
import re
import sys
import time

WINDOW_S = 0.5
BUSIEST = 12
PROGRAM = re.compile(r"[\w./+@:-]{1,200}")
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def text(path, limit=4096):
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def stat(pid):
    """Return the name and the fields of /proc/PID/stat from the state on, as proc(5) numbers them from 3."""
    head, _, tail = text(f"/proc/{pid}/stat").rpartition(")")
    return head.partition("(")[2], tail.split()


def ticks():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            _, fields = stat(int(name))
            if len(fields) > 21:
                found[int(name)] = int(fields[11]) + int(fields[12])
    return found


def program(pid):
    words = [word for word in text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0") if word]
    kept = [words[0].partition(" -")[0]] if words else []  # a title may hold arguments
    for at, word in enumerate(words[1:4], start=1):
        if word == "-m":
            return " ".join([*kept, "-m", *words[at + 1 : at + 2]])
        if word == "-c" or not PROGRAM.fullmatch(word):
            break  # a line for a shell, or a text
        if word.endswith(".py") or word == "serve" or "/bin/" in word:
            kept.append(word)
        elif not word.startswith("-"):
            break
    return " ".join(kept)[:200]


def gpus(pid):
    try:
        links = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    except OSError:
        return None  # another user's
    return sorted(link for link in links if link.startswith("/dev/nvidia") and link[11:].isdigit())


def memory_by_node(pid):
    """Return private and shared MiB by NUMA node from numa_maps, of the server's processes alone: it is slow."""
    found = {}
    for line in text(f"/proc/{pid}/numa_maps", 8 << 20).splitlines():
        words = line.split()
        sizes = [int(word[18:]) for word in words if word.startswith("kernelpagesize_kB=")]
        for word in words:
            node, equals, pages = word.partition("=")
            if equals and node[:1] == "N" and node[1:].isdigit() and pages.isdigit():
                found[node[1:]] = (
                    found.get(node[1:], 0) + int(pages) * (sizes[0] if sizes else 4) / 1024
                )
    return {node: round(mib, 1) for node, mib in found.items()}


def row(pid, spent, window_s, server):
    name, fields = stat(pid)
    if len(fields) < 22:
        return None
    return {
        "pid": pid,
        "ppid": int(fields[1]),
        "name": name,
        "state": fields[0],
        "threads": int(fields[17]),
        "rss_mib": round(int(fields[21]) * PAGE_MIB, 1),
        "cpu_pct": round(100.0 * spent / TICKS / window_s, 1),
        "command": program(pid),
        "wchan": text(f"/proc/{pid}/wchan").strip("\0\n") if fields[0] == "D" else None,
        "gpus": gpus(pid),
        "server": server,
    }


def idle(first, last):
    then, now = ([int(word) for word in line.split()[1:9]] for line in (first, last))
    spent = [b - a for a, b in zip(then, now)]  # noqa: B905 (Python 3.8)
    return round(100.0 * (spent[3] + spent[4]) / sum(spent), 1) if sum(spent) > 0 else None


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else None
    try:
        server = find_server(port)  # noqa: F821 (of find_server.py)
    except Exception:  # what /proc held can be anything; the processes are told all the same
        server = None
    mine = [server["pid"], *(child["pid"] for child in server["children"])] if server else []
    line, before, started = text("/proc/stat").split("\n")[0], ticks(), time.monotonic()
    time.sleep(WINDOW_S)
    window_s, after = time.monotonic() - started, ticks()
    spent = {
        pid: count - before.get(pid, count) for pid, count in after.items() if pid != os.getpid()
    }
    busiest = sorted(spent, key=lambda pid: -spent[pid])[:BUSIEST]
    holders = [pid for pid in spent if gpus(pid)]
    wanted = list(dict.fromkeys([*mine, *holders[:64], *(pid for pid in busiest if spent[pid])]))
    rows = [row(pid, spent[pid], window_s, pid in mine) for pid in wanted if pid in spent]
    rows = [one for one in rows if one]
    if (
        len([name for name in os.listdir("/sys/devices/system/node") if name[4:].isdigit()] or [0])
        > 1
    ):
        for one in rows:
            if one["server"]:
                one["numa_mib"] = memory_by_node(one["pid"])
    hidden = sum(1 for one in rows if one["gpus"] is None)
    load = text("/proc/loadavg").split()
    return {
        "rows": rows,
        "hidden": hidden,
        "window_s": round(window_s, 3),
        "idle_pct": idle(line, text("/proc/stat").split("\n")[0]),
        "load1": float(load[0]) if load else None,
    }


say(main())  # noqa: F821 (of find_server.py)
