"""Print the config.json of the model that the server serves; arguments: the port or nothing.

Goes after find_server.py and find_package.py. Nothing but a config.json of at most 1 MB is read.
"""


# ruff: noqa: F821
def _model(server):
    """Return the model as it was asked for: a flag, or the first word after `serve`."""
    argv = server["argv"]
    for flag in ("--model-path", "--model"):
        if _flag(argv, flag):
            return _flag(argv, flag)
    if "serve" in argv[:4]:
        following = argv[argv.index("serve") + 1 :][:1]
        return following[0] if following and not following[0].startswith("-") else None
    return None


def _snapshots(server, name):
    """Return the folders of the Hugging Face cache that hold a repository, the used one first."""
    known = _variables(server)
    homes = [known.get("HF_HUB_CACHE"), (known.get("HF_HOME") or "") + "/hub"]
    homes += [
        (known.get("HOME") or "/root") + "/.cache/huggingface/hub",
        "/root/.cache/huggingface/hub",
    ]
    asked = _flag(server["argv"], "--download-dir")
    found = []
    for home in [asked, *homes]:
        folder = (
            inside(server, os.path.join(home, "models--" + name.replace("/", "--"))) if home else ""
        )
        ref = (
            (_raw(os.path.join(folder, "refs/main"), 200) or b"").decode("ascii", "replace").strip()
        )
        found += (
            [os.path.join(folder, "snapshots", ref)] if re.match(r"^[0-9a-f]{6,64}$", ref) else []
        )
        found += sorted(glob.glob(os.path.join(folder, "snapshots", "*"))) if folder else []
    return found


def _read(path, root):
    """Read a config.json; a link that leaves the server's own view is followed inside of it."""
    for _ in range(4):
        if not os.path.islink(path):
            break
        target = os.readlink(path)
        path = (
            root + target if target.startswith("/") else os.path.join(os.path.dirname(path), target)
        )
    return _raw(path, 1 << 20)


def model_config(port):
    """Return {"path", "config"} of the served model."""
    server = find_server(port)
    if server is None:
        return absent(port)
    name = _model(server)
    if not name:
        return {"absent": "the command line of the server names no model"}
    folders = [inside(server, name)]
    if re.match(r"^[\w.-]+/[\w.-]+$", name):
        folders += _snapshots(server, name)
    for folder in folders:
        text = _read(os.path.join(folder, "config.json"), server["root"])
        if text is None:
            continue
        try:
            return {
                "path": folder,
                "model": name,
                "config": json.loads(text.decode("utf-8", "replace")),
            }
        except ValueError:
            return {"failed": "config.json of " + name + " is no JSON"}
    who = readers(server)
    return {"absent": f"no config.json of {name} can be read here; if it exists, run as {who}"}


say(model_config(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else None))
