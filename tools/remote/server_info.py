"""Ask the server for its own account of itself; argument: the port, or nothing.

Goes after the names of tools/sglang/on_host.py, allow.py, find_server.py and ask_server.py. What is
not on the allow-list of names is dropped before it is printed.
"""


# ruff: noqa: F821
def _allowed(name, value):
    if name in PUBLIC_NAMES or name in COUNTED_NAMES or value in (None, True, False, "", [], {}):
        return value
    if name == "launch_command":
        return " ".join(allowed(_without_secrets(str(value).split())))
    if name == "internal_states" and isinstance(value, list):
        return [_kept(state) for state in value[:256] if isinstance(state, dict)]
    return "<dropped>"


def _kept(tree):
    return {str(name): _allowed(name, value) for name, value in tree.items()}


def server_info(port):
    """Return the allow-listed answer of /server_info, or of its name before 0.5.6."""
    got = ask(port, "/server_info", "/get_server_info")
    server = got.get("server") or {}
    if "text" not in got:
        if "absent" in got and server.get("engine") == "vllm":
            return {"absent": "this is vLLM, which answers no /server_info"}
        return {key: got[key] for key in ("absent", "failed") if key in got}
    try:
        tree = json.loads(got["text"])
    except ValueError:
        return {"failed": "the answer of " + got["path"] + " is no JSON"}
    if not isinstance(tree, dict):
        return {"failed": "the answer of " + got["path"] + " is no JSON object"}
    return _kept(tree)


say(server_info(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else None))
