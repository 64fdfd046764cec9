"""Our scripts of tools/remote, run here on made files where they can be: the answer is then their own."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from tools.host import Command
from tools.probes import PROBES


def loaded(command: Command) -> dict[str, Any]:
    """Return the names that the script of a command defines, without the line that runs it."""
    text = command.stdin
    last = text.rstrip().rfind("\nsay(")
    space: dict[str, Any] = {"__name__": "a script of ours"}
    exec(compile(text[:last] if last > 0 else text, command.stdin_name, "exec"), space)
    return space


def filtered_log(text: str, path: str) -> str:
    """Return what serve_log.py prints of a log that lies at a path."""
    space = loaded(PROBES["ReadServerLog"]().command())
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "serve.log"
        place.write_text(text, encoding="utf-8")
        out = io.BytesIO()
        with (
            place.open("rb", buffering=0) as file,
            contextlib.redirect_stdout(io.TextIOWrapper(out)) as shown,
        ):
            space["show"](*space["from_file"](file, 48), path)
            shown.flush()
            return out.getvalue().decode("utf-8")


def allowed_info(answer: dict[str, Any]) -> str:
    """Return what server_info.py prints of an answer of /server_info."""
    space = loaded(PROBES["ReadServerInfo"]().command())
    return json.dumps(space["_kept"](answer)) + "\n"
