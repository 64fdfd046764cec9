from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.change.engine import StandIn, stand_in


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    """A stand-in whose cap of requests a change can lower or take out."""
    with stand_in(tmp_path, "--max-running-requests", "64") as one:
        yield one
