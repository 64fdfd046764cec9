"""Print NCCL's lines of a log; without an argument, of the model server's own log."""

# Goes after given.py
# ruff: noqa: F821
# What has no definition here is that of find_server.py and given.py, whose texts go before this one.

import json
import subprocess
import sys

LIMIT_S = 20
WANTED = ("-e", "NCCL INFO", "-e", "NCCL WARN", "-e", "NCCL ERROR", "-e", "NCCL version")
MOST_LINES = "20000"  # of the start, where NCCL says what it chose


def log_path():
    """Return (path, why there is none)."""
    server = find_server()
    if server is None:
        return None, absent()["absent"]
    path, kind = server["log"]["path"], server["log"]["kind"]
    if path is None:
        return None, f"the server writes its log to a {kind}, not to a file: give the path"
    return server["root"] + path, ""


def main(path):
    """Return the lines, or JSON that says why there are none."""
    why = ""
    if not path:
        path, why = log_path()
    if not path:
        return json.dumps({"absent": why})
    file, trouble = given(path)
    if file is None:
        return json.dumps(trouble)
    done = subprocess.run(
        ["grep", "-a", "-m", MOST_LINES, *WANTED],
        stdin=file,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode > 1:
        return json.dumps({"failed": done.stderr.decode("utf-8", "replace").strip()[:300]})
    said = done.stdout.decode("utf-8", "replace")
    return said or json.dumps(
        {"absent": f"{path} holds no line of NCCL: it ran without NCCL_DEBUG"}
    )


try:
    sys.stdout.write(main(sys.argv[1] if len(sys.argv) > 1 else ""))
except subprocess.TimeoutExpired:
    sys.stdout.write(json.dumps({"failed": f"grep needed more than {LIMIT_S} s"}))
