"""The pictures of a step, a load, a log, a change: drawn where matplotlib is, told in words for everybody."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bot.charts import ALT, beside_picture, pictures, waterfall_alt, waterfall_png
from bot.charts.history import history_png, history_title
from bot.charts.load import load_title, watched
from bot.demo import shipped
from bot.investigate import conclude
from bot.question import Question
from tests.engine.simulated import Line, decode, load, start
from tools.measure.difference import differences
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.headroom import Headroom
from tools.physics.interval import Interval
from tools.probes import PROBES
from tools.sglang.log import read_log

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
    assert drawn(room) == (720, 829)


def test_without_a_measured_prefill_there_is_one_panel(room: Headroom) -> None:
    alone = replace(room, prefill_tok_s=None)
    assert drawn(alone)[1] < drawn(room)[1]
    assert "prompt tokens" in waterfall_alt(room)
    assert "prompt tokens" not in waterfall_alt(alone)


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
    finding = "PCIe Gen1 x16 costs 1.9 of 58.2 ms a decode step, and 51 % of prefill."
    assert said.startswith(
        f"{finding} Waterfall of a decode step of 58.2 ms: weights 47.4 ms (43.1 to 51.7)"
    )
    assert "PCIe Gen1 x16 instead of PCIe Gen4 x16 1.9 ms (1.2 to 3.4)" in said
    assert "At the ceiling of this hardware it takes 53.5 ms" in said
    assert "Waterfall of a chunk of 4,096 prompt tokens of 2,863 ms: arithmetic 1,153 ms" in said
    assert "PCIe Gen1 x16 instead of PCIe Gen4 x16 1,441 ms (1,153 to 1,729)" in said
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


def test_all_that_was_learned_of_the_shipped_host_can_be_drawn(room: Headroom) -> None:
    found = pictures(shipped().evidence(PROBES), room)
    assert [one.name for one in found] == ["step", "load", "history"]
    assert found[1].title == "Under load every link gives 4 of 32 GB/s (Gen1 x16 of Gen4 x16)"
    assert "GPU 1, 25 samples in 5 s: link 4 GB/s, SM clock 210 to 1,800 MHz" in found[1].alt
    assert found[2].title == "Decode gave 54 to 82 tok/s with one request"
    pytest.importorskip("matplotlib")
    for one in found:
        data = one.draw() or b""
        assert struct.unpack(">I", data[16:20]) == (720,), "twice a thumbnail in Slack"
        assert len(data) < 200_000


def watch(**told: object) -> Gpus:
    samples = [
        {"index": 0, "at": f"{at}.0", "util_pct": 95, "pstate": 0, "link_gen": 4, "link_gen_max": 4,
         "link_width": 16, "link_width_max": 16, "sm_mhz": 1800.0} | told
        for at in range(6)
    ]  # fmt: skip
    return Gpus(samples=tuple(map(GpuSample.model_validate, samples)), window_s=6.0)


def test_the_title_of_a_load_says_which_link_is_slow_and_blames_no_idle_one() -> None:
    assert load_title(watch()).endswith("under load; clocks steady at 1,800 MHz")
    assert (
        load_title(watch(link_width=4))
        == "Under load the link gives 8 of 32 GB/s (Gen4 x4 of Gen4 x16)"
    )
    assert "prove nothing" in load_title(watch(link_gen=1, util_pct=0, pstate=8))


def test_times_of_nvidia_smi_and_of_nvml_are_both_a_course() -> None:
    assert watched(watch())
    assert watched(watch(at="2026/06/16 10:15:03.207"))
    assert not watched(watch(at="soon"))


def test_the_title_of_a_log_names_the_change_and_when_it_came() -> None:
    log = read_log("\n".join(slower_log()))
    assert re.fullmatch(
        r"A decode step: \+2\d % from 1\d:\d\d on, at the same load", history_title(log)
    )
    assert drawn_png(history_png(log))


def test_a_change_between_runs_is_drawn_with_what_could_not_be_shown() -> None:
    a = {"output rate, tok/s": [55.0, 55.4, 54.8], "first token, ms": [800.0, 830.0, 815.0]}
    b = {"output rate, tok/s": [57.1, 57.5, 56.9], "first token, ms": [805.0, 826.0, 811.0]}
    one = beside_picture("before.jsonl", "after.jsonl", differences(a, b))
    assert one.title.startswith("From A to B: output rate +3.8 %")
    assert "A is before.jsonl in 3 runs" in one.alt
    assert "first token, ms: 814.9 → 814.0, −0.1 % " in one.alt
    assert "(not shown to differ)" in one.alt
    assert drawn_png(one.draw())
    same = beside_picture("a", "b", differences(a, a))
    assert same.title.startswith("No difference is shown; ")


def slower_log() -> list[str]:
    def course(at: int) -> Line:
        line = load("daily", 3, 300)(at)
        return replace(line, step_ms=line.step_ms * 1.25) if at >= 180 else line

    return [*start(0), *decode(300, course, 3)]


def drawn_png(data: bytes | None) -> bool:
    pytest.importorskip("matplotlib")
    return (data or b"").startswith(b"\x89PNG")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_draws_into_a_folder_and_says_what(tmp_path: Path, as_json: bool) -> None:
    pytest.importorskip("matplotlib")
    ran = perfsleuth("demo", "--charts", str(tmp_path / "c"), *(["--json"] if as_json else []))
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [
        "history.png",
        "load.png",
        "step.png",
    ]
    assert ran.returncode == 0
    assert ("step.png: PCIe Gen1 x16 costs" in " ".join(ran.stdout.split())) is not as_json


def test_a_folder_that_cannot_be_is_said_before_anything_is_judged(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = perfsleuth("demo", "--charts", str(tmp_path / "no" / "c"))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is no folder for charts: name one, or a new one in one that exists." in " ".join(
        ran.stderr.split()
    )


def perfsleuth(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
