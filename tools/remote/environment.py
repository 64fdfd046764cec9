"""Print the variables of the server's environment that bear on speed; argument: the port or nothing.

Goes after ENVIRONMENT_NAMES and ENVIRONMENT_SECRET, which tools/sglang/environment.py gives, and
find_server.py. No other name is printed, and no value of one.
"""


# ruff: noqa: F821
def environment(port):
    """Return the allow-listed variables of the main process and the count of the others."""
    server = find_server(port)
    if server is None:
        return absent(port)
    raw = _raw(f"/proc/{server['pid']}/environ", 1 << 20)
    if raw is None:
        why = f"/proc/{server['pid']}/environ is not readable: run as {readers(server)}"
        return {"failed": why}
    pairs = [
        part.partition("=") for part in raw.decode("utf-8", "replace").split("\0") if "=" in part
    ]
    wanted = {n: v[:1000] for n, _, v in pairs if re.match(ENVIRONMENT_NAMES, n)}
    kept = {n: v for n, v in wanted.items() if not re.search(ENVIRONMENT_SECRET, n)}
    return {"values": kept, "dropped": len(pairs) - len(kept), "pid": server["pid"]}


say(environment(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else None))
