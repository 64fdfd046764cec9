"""The command that compares: cases, files and hosts, a dead one among them, asked at the same time."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.comparing import both
from bot.demo import shipped, shipped_path
from bot.given import given
from bot.settings import HostSettings, Settings
from tests.bot.test_cli import run
from tools.errors import ToolsError
from tools.host import Asks, Host, Output
from tools.hosts.replay import ReplayHost
from tools.probes import PROBES

CT129, CT130 = (str(shipped_path(name)) for name in ("ct129", "ct130"))
HEADLINE = "CT130 decodes 4.1 % faster (2.7 to 5.6 %) at 1 running request"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hosts = {
        "CT129": f'case = "{CT129}"',
        "CT130": f'case = "{CT130}"',
        "dead": 'ssh = "no-such-host.invalid"',
    }
    text = "\n".join(f"[hosts.{name}]\n{how}" for name, how in hosts.items())
    (tmp_path / "hosts.toml").write_text(text)
    return tmp_path


def test_two_hosts_are_asked_and_compared(folder: Path) -> None:
    done = run("compare", "ct129", "CT130", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Looking at CT129 and CT130."
    assert HEADLINE in " ".join(done.stdout.split())
    assert "CT129: decode −3.3 % (−5.7 to −2)" in done.stdout


def test_a_question_that_compares_two_hosts_goes_there(folder: Path) -> None:
    done = run("ask", "why is CT130 faster than CT129?", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert HEADLINE in " ".join(done.stdout.split())


def test_a_host_and_a_case_of_it_are_told_apart(folder: Path) -> None:
    done = run("compare", "CT129", CT129, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "CT129 (now) and CT129 (ct129.json) decode alike" in done.stdout
    assert "Nothing that costs differs." in done.stdout


def test_of_a_dead_host_one_sentence_says_why_and_the_other_is_told(folder: Path) -> None:
    done = run("compare", "CT129", "dead", cwd=folder)
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1
    assert "no-such-host.invalid is unknown" in done.stderr
    assert "dead could not be asked, so there is no comparison. Of CT129:" in done.stdout
    assert "Hardware: The PCIe links of GPU 0 and GPU 1 run at Gen1" in " ".join(
        done.stdout.split()
    )


def test_json_is_one_object_of_two_sides(folder: Path) -> None:
    done = run("compare", "CT129", "CT130", "--json", "--question", "decode?", cwd=folder)
    told = json.loads(done.stdout)
    assert [side["name"] for side in told["sides"]] == ["CT129", "CT130"]
    compared = told["comparison"]
    assert compared["faster"] == "CT130"
    first = compared["differences"][0]
    assert (first["what"], first["values"]) == ("link under load", ["Gen1 x16", "Gen4 x16"])
    assert first["found_on"] == "CT129"
    looks = [{look["id"] for look in side["evidence"]} for side in told["sides"]]
    for one in (*compared["differences"], *compared["speed"]):
        assert all(set(ids) <= looks[n] for n, ids in enumerate(one["evidence"]))
    lost = json.loads(run("compare", "dead", "CT130", "--json", cwd=folder).stdout)
    assert lost["comparison"] is None
    assert "unknown" in lost["sides"][0]["trouble"]


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal_but_a_command_to_copy(width: int) -> None:
    done = run("compare", CT129, CT130, COLUMNS=str(width))
    assert max(map(len, done.stdout.splitlines())) <= width


def test_files_are_a_side_by_folder_or_by_commas(tmp_path: Path) -> None:
    evidence = tmp_path / "sick" / "evidence"
    evidence.mkdir(parents=True)
    for look in shipped("ct129").asked:
        if look.probe in ("ReadServerLog", "ReadTopology"):
            (evidence / f"{look.id}.txt").write_text(look.output.output().stdout)
    one = given(str(evidence), Settings(), PROBES)
    assert one.name == "sick"
    assert len([look for look in one.looks if look.facts]) == 2
    listed = ",".join(str(path) for path in sorted(evidence.iterdir()))
    assert given(listed, Settings(), PROBES).name == "E3.txt and 1 more"
    done = run("compare", str(evidence), CT130)
    assert done.returncode == 0, done.stderr
    assert "CT130 decodes 4.1 % faster" in done.stdout
    assert "Not seen of sick, so not compared: the GPUs" in done.stdout


def test_a_host_of_the_inventory_goes_before_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("CT129").write_text(Path(CT129).read_text())
    known = Settings(hosts={"ct129": HostSettings(local=True)})
    assert given("CT129:30001", known, PROBES).host == "ct129"
    assert given("CT129:30001", known, PROBES).port == 30001
    assert given("./CT129", known, PROBES).looks
    assert given("gpu-9", known, PROBES).host == "gpu-9"
    for wrong in ("", "serve.log", "no/such", "a.txt,b.txt"):
        with pytest.raises(ToolsError):
            given(wrong, known, PROBES)


class Together(ReplayHost):
    """A host of the past that answers only while the other one is being asked as well."""

    def __init__(self, name: str, gate: threading.Barrier) -> None:
        looks = shipped(name.lower()).evidence(PROBES)
        super().__init__(
            name, {look.probe.key: look.output for look in looks if look.probe and look.output}
        )
        self._gate = gate
        self.closed = False

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        self._gate.wait(timeout=30)
        return super().answer(probes)

    def close(self) -> None:
        self.closed = True


def test_both_hosts_are_asked_at_the_same_time_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, made = threading.Barrier(2), []

    def reach(name: str, _known: Settings) -> Host:
        made.append(Together(name, gate))
        return made[-1]

    monkeypatch.setattr(both, "reach", reach)
    known = Settings(hosts={name: HostSettings(local=True) for name in ("CT129", "CT130")})
    pair = (given("CT129", known, PROBES), given("CT130", known, PROBES))
    looked = both.look_at_both(pair, "", known)
    assert [one.end.verdict.category for one in looked] == ["hardware", "at_ceiling"]
    assert all(host.closed for host in made)
