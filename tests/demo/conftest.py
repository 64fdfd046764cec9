"""A Chromium for the tests of the page; each test has its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo import browser


@pytest.fixture
def chromium_home() -> Iterator[Path]:
    """Where Chromium keeps its profile; the test is skipped where there is none."""
    if not browser.CHROMIUM:
        pytest.skip(browser.MISSING)
    with tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True) as home:
        yield Path(home)
