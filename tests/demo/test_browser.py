"""The browser of these tests clicks on what is meant, also where a page moves under the mouse."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.demo.browser import CHROMIUM, MISSING, Browser

MOVES = """
document.body.innerHTML = '<button id=other>other</button><button id=meant style="position:fixed">meant</button>';
window.clicks = {meant: 0, other: 0}; window.moves = 0;
for (const one of ['meant', 'other'])
    document.getElementById(one).onclick = () => window.clicks[one]++;
const moving = setInterval(() => {
    const meant = document.getElementById('meant');
    meant.style.top = 40 + 97 * (++window.moves % 5) + 'px';
    meant.replaceWith(Object.assign(meant.cloneNode(true), {onclick: meant.onclick}));
    if (window.moves > 400) clearInterval(moving);
}, 5);
"""


@pytest.mark.skipif(not CHROMIUM, reason=MISSING)
def test_a_button_that_moves_and_is_drawn_anew_is_clicked_once(chromium_home: Path) -> None:
    async def run() -> None:
        async with Browser(chromium_home) as browser:
            await browser.value(MOVES)
            await browser.click("#meant")
            assert await browser.value("window.clicks") == {"meant": 1, "other": 0}

    asyncio.run(run())
