"""Write bot/demo/ct129.json, the demo's case: every raw answer as our probes' commands would print it.

    .venv/bin/python -m tests.scenarios.make_ct129

Deterministic; numbers follow from tools.physics through tests/scenarios/ct129/story.py. A test
says whether the shipped file is what this writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.scenarios.ct129 import looks, story
from tools.probes import PROBES

TARGET = Path(__file__).parents[2] / "bot" / "demo" / "ct129.json"


def case() -> dict[str, Any]:
    """Return the case as plain data."""
    asked = []
    for number, look in enumerate(looks.all_looks(), start=1):
        probe = PROBES[look.probe](**look.arguments)
        output = {
            "stdout": look.stdout.split("\n") if look.stdout else [],
            "stderr": look.stderr.split("\n") if look.stderr else [],
            "status": look.status,
            "took_s": look.took_s,
            "cut": False,
            "lost": "",
        }
        asked.append(
            {
                "id": f"E{number}",
                "probe": look.probe,
                "arguments": look.arguments,
                "source": story.HOST,
                "command": probe.command().shown(),
                "output": output,
            }
        )
    return {
        "schema": 1,
        "host": story.HOST,
        "question": story.QUESTION,
        "made": story.MADE,
        "asked": asked,
    }


def text() -> str:
    """Return the text of the file."""
    return json.dumps(case(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET} ({TARGET.stat().st_size} bytes)")
