"""Tell how the server was started: its arguments, its place, its version; arg: the port or nothing.

Goes after the names of tools/knowledge/fields.py, allow.py, find_server.py and find_package.py.
"""

# ruff: noqa: F821
# What has no definition here is that of the texts that go before this one.


def _scalar(text):
    text = text.strip()
    if text[:1] in "'\"" and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    text = text.split(" #")[0].strip()
    named = {"true": True, "True": True, "false": False, "False": False, "null": None, "": None}
    if text in named:
        return named[text]
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _yaml(text):
    """Read the flat YAML that --config takes: `name: value`, and lists of plain values."""
    found, last = {}, None
    for line in text.splitlines()[:2000]:
        pair = re.match(r"([\w-]+)\s*:(?:\s+(.*))?$", line)
        entry = re.match(r"\s*-\s+(.*)$", line)
        if pair:
            last = pair.group(1).replace("-", "_")
            found[last] = _scalar(pair.group(2) or "")
        elif entry and last and (found[last] is None or isinstance(found[last], list)):
            found[last] = [*(found[last] or []), str(_scalar(entry.group(1)))]
    return {k: v if known(k) or v in (None, True, False) else "<dropped>" for k, v in found.items()}


def _config(server):
    file = _flag(server["argv"], "--config")
    if not file:
        return None
    text = _raw(inside(server, file))
    if text is None:
        return {"file": file, "trouble": "not readable"}
    return {"file": file, "flags": _yaml(text.decode("utf-8", "replace"))}


def launch(port):
    """Return what is known of the launch of the server on a port."""
    server = find_server(port)
    if server is None:
        return absent(port)
    server["config"] = _config(server)
    server["argv"] = allowed(server["argv"])
    server["package"] = (
        find_package(server, server["engine"]) if server["engine"] != "other" else None
    )
    server["others"] = [
        {"pid": s["pid"], "port": s["port"], "engine": s["engine"]}
        for s in find_servers()
        if s["pid"] != server["pid"]
    ]
    return server


say(launch(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else None))
