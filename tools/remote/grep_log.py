"""Look in the serve log for a text, or a pattern of grep -E: the newest lines that match.

Arguments: {"text", "pattern", "limit"} as JSON, the port (0: any), optionally the log's path.
"""

# ruff: noqa: F821

import collections
import subprocess
import threading

LIMIT_S = 30.0
SHOWN = 600  # characters of a line


def run(source, argv, asked):
    """Return the newest matching lines, how many there are, and whether time ran out."""
    how = "-E" if asked["pattern"] else "-F"
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    try:
        feeder = (
            subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            if argv
            else None
        )
        child = subprocess.Popen(("grep", "-a", how, "-e", asked["text"]), stdin=feeder.stdout if feeder else source,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)  # fmt: skip
    except OSError as why:
        return None, 0, str(why)
    late = []

    def end():
        late.append(True)
        child.kill()
        if feeder:
            feeder.kill()

    timer = threading.Timer(LIMIT_S, end)
    timer.daemon = True
    timer.start()
    newest, count = collections.deque(maxlen=asked["limit"]), 0
    for line in iter(lambda: child.stdout.readline(1 << 20), b""):
        if not private(line):
            newest.append(line)
            count += 1
    timer.cancel()
    if feeder:
        feeder.kill()
        feeder.wait()
    trouble = child.stderr.read(400).decode("utf-8", "replace").strip()
    code = child.wait()
    return (
        newest,
        count,
        "" if code in (0, 1) or late else trouble or f"grep ended with status {code}",
    )


def around(line, asked):
    """Return the part of a long line that holds the text."""
    line = without_secrets(line[: 1 << 18]).decode("utf-8", "replace").strip()
    at = line.find(asked["text"]) if len(line) > SHOWN and not asked["pattern"] else 0
    begin = max(0, at - SHOWN // 2)
    return ("..." if begin else "") + line[begin : begin + SHOWN]


def main(asked, port, path=None):
    asked = json.loads(asked)
    server, file, name = where(int(port), path)
    if path and file is None:
        why = f"the log {path} cannot be read here"
        return say({"failed": why} if os.path.exists(path) else {"absent": why})
    if server is None and file is None:
        return say(absent(int(port) or None))
    argv = None
    if file is None and server["container_id"] and server["log"]["kind"] != "terminal":
        file, _, argv, name = container_log(server, 2000000)
    if file is None and argv is None and server["unit"]:
        _, argv = journal_log(server["unit"], 2000000)
        name = "journal of " + server["unit"]
    if file is None and argv is None:
        return say(no_log(server))
    if path and not is_serve_log(file):
        return say({"absent": f"{path} holds no line of a serve log"})
    newest, count, trouble = run(file, argv, asked)
    if trouble:
        return say({"failed": trouble})
    return say({"needle": asked["text"], "source": name, "matches": [around(line, asked) for line in newest],
                "count": count, "cut": count > len(newest)})  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:4])
