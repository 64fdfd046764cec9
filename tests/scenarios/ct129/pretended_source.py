"""The engine's source in the demo's case: of our own writing, with the line numbers that the story tells of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.scenarios.ct129 import story

_TEXTS = {
    f"sglang-{story.VERSION}.dist-info/METADATA": "METADATA",
    "sglang/srt/configs/model_config.py": "model_config",
    "sglang/srt/model_executor/model_runner.py": "model_runner",
    "sglang/srt/server_args.py": "server_args",
}
_MARK = "#@ "


def texts() -> dict[str, str]:
    """Return the texts by their paths below site-packages."""
    folder = story.HERE / "engine"
    return {
        path: placed((folder / f"{name}.source").read_text(encoding="utf-8"))
        for path, name in _TEXTS.items()
    }


def placed(text: str) -> str:
    """Return a text whose lines stand where its marks say.

    After "#@ 1230" comes line 1230: blank lines stand before it. "#@ fields" are those of ServerArgs, so
    that no flag of the version is unknown. Raises ValueError where a line cannot stand so early.
    """
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith(_MARK):
            lines.append(line)
        elif line == f"{_MARK}fields":
            lines += _fields()
        else:
            missing = int(line.removeprefix(_MARK)) - 1 - len(lines)
            if missing < 0:
                raise ValueError(f"{line} comes {-missing} lines too late")
            lines += [""] * missing
    return "\n".join(lines) + "\n"


def _fields() -> Iterator[str]:
    defaults: dict[str, Any] = json.loads(
        (story.HERE / "server_args.json").read_text(encoding="utf-8")
    )
    return (f"    {name}: object = {default!r}" for name, default in defaults.items())
