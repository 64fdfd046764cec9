"""For the tests of the agent: a provider's library repeats a request as ever, and waits less before it does."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def libraries_wait_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
