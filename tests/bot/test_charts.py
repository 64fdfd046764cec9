"""The picture of a decode step: drawn where matplotlib is, told in words for everybody."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bot.charts import ALT, waterfall_alt, waterfall_png
from bot.demo import shipped
from bot.investigate import conclude
from bot.question import Question
from tools.physics.headroom import Headroom
from tools.physics.interval import Interval
from tools.probes import PROBES

ROOT = Path(__file__).parents[2]
ENVIRON = {name: value for name, value in os.environ.items() if name != "MPLCONFIGDIR"}


@pytest.fixture(scope="module")
def room() -> Headroom:
    case = shipped()
    judged = conclude(Question.of(case.question), case.evidence(PROBES)).verdict
    assert judged.headroom
    return judged.headroom


def drawn(room: Headroom) -> tuple[int, int]:
    """Draw it and return how wide and high it is, in pixels."""
    pytest.importorskip("matplotlib")
    png = waterfall_png(room)
    assert png is not None
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(png) < 200_000
    wide, high = struct.unpack(">II", png[16:24])
    return wide, high


def test_the_waterfall_is_a_picture_that_fits_a_thread(room: Headroom) -> None:
    assert drawn(room) == (880, 658)


def test_without_a_measured_prefill_there_is_one_panel(room: Headroom) -> None:
    assert drawn(replace(room, prefill_tok_s=None))[1] < drawn(room)[1]
    assert "prefill" not in waterfall_alt(replace(room, prefill_ceiling=None))


def test_a_step_that_is_faster_than_its_terms_can_be_drawn(room: Headroom) -> None:
    terms = (*room.terms[:-1], ("unexplained", Interval(-7.0, -3.0, 1.0)))
    assert drawn(replace(room, terms=terms))
    assert "unexplained −3.0 ms (−7.0 to 1.0)" in waterfall_alt(replace(room, terms=terms))


def test_a_name_of_a_host_is_text_and_no_formula(room: Headroom) -> None:
    terms = (
        ("$\\frac{1}$ _x_ \x1b[31m\u202e" + "long " * 50, Interval(1.0, 2.0, 3.0)),
        *room.terms,
    )
    assert drawn(replace(room, terms=terms))
    assert "\x1b" not in waterfall_alt(replace(room, terms=terms))


def test_the_words_tell_what_the_picture_shows(room: Headroom) -> None:
    said = waterfall_alt(room)
    assert said.startswith("Waterfall of a decode step of 58.2 ms: weights 47.4 ms (43.1 to 51.7)")
    assert "PCIe Gen1 x16 instead of PCIe Gen4 x16 1.9 ms (1.2 to 3.4)" in said
    assert "The ceiling of this hardware is 53.5 ms" in said
    assert "1,431 tok/s of 3,002 (2,401 to 3,602)" in said
    assert len(waterfall_alt(replace(room, terms=room.terms * 50))) <= ALT


def test_threads_take_turns(room: Headroom) -> None:
    pytest.importorskip("matplotlib")
    with ThreadPoolExecutor(4) as pool:
        pictures = set(pool.map(lambda _: waterfall_png(room), range(8)))
    assert len(pictures) == 1


def run(script: str, **environ: str) -> str:
    before = (
        "import sys\n"
        "from bot import charts\n"
        "from tools.physics.headroom import Headroom\n"
        "from tools.physics.interval import Interval\n"
        "one = Interval(1.0, 2.0, 3.0)\n"
        "room = Headroom(50.0, 1, 1.0, 20.0, one, one, one, (('host', one),))\n"
    )
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", before + script],
        cwd=ROOT, capture_output=True, text=True, check=True, env={**ENVIRON, **environ},
    ).stdout.strip()  # fmt: skip


def test_where_matplotlib_is_missing_there_is_no_picture() -> None:
    assert run("sys.modules['matplotlib'] = None\nprint(charts.waterfall_png(room))") == "None"


def test_matplotlib_is_loaded_when_it_is_needed_and_pyplot_never() -> None:
    pytest.importorskip("matplotlib")
    script = (
        "print('matplotlib' in sys.modules)\n"
        "charts.waterfall_png(room)\n"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    assert run(script).split() == ["False", "True", "False"]


def test_without_a_home_to_write_to_the_fonts_are_kept_elsewhere() -> None:
    pytest.importorskip("matplotlib")
    script = "import os\ncharts.waterfall_png(room)\nprint(os.environ['MPLCONFIGDIR'])"
    assert "perfsleuth-charts-" in run(script, HOME="/dev/null", XDG_CONFIG_HOME="/dev/null/x")
