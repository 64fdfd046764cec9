"""Write bot/demo/ct130.json: a healthy twin of CT129, for whoever compares the two.

    .venv/bin/python -m tests.scenarios.make_ct130

The same engine, model and cards; under load its links rise to Gen4, the step is what
tools.physics makes of CT129's without the slow link, and prefixes are kept and used. Deterministic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from unittest.mock import patch

from tests.scenarios import make_ct129
from tests.scenarios.ct129 import story
from tools.physics import Link, decode_step

TARGET = make_ct129.TARGET.with_name("ct130.json")
_CACHED = (story.deployment, story.unexplained_ms, story._step_ms)


def _healthy_step_ms() -> float:
    """Return CT129's measured step without what its slow link adds."""
    slow = story.deployment()
    healthy = decode_step(slow.over(Link.pcie(4))).ms.mid
    return story.STEP_MS - decode_step(slow).ms.mid + healthy


@contextmanager
def twin() -> Iterator[None]:
    """Let the story be that of the twin."""
    told = {
        "SEED": 130,
        "HOST": "CT130",
        "QUESTION": "how is decode on CT130? it does 57 tok/s",
        "DRIVER": "580.105.08",
        "STARTED": datetime(2026, 11, 24, 7, 3, 51),
        "LINK_GEN": 4,
        "PREFIX_CACHE": True,
        "SOURCE": False,
        "STEP_MS": _healthy_step_ms(),
    }
    with patch.multiple(story, **told):
        _forget()
        yield
    _forget()


def text() -> str:
    """Return the text of the file."""
    with twin():
        return json.dumps(make_ct129.case(), indent=1, ensure_ascii=False) + "\n"


def _forget() -> None:
    for cached in _CACHED:
        cached.cache_clear()


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET} ({TARGET.stat().st_size} bytes)")
