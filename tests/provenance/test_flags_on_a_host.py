"""explain-flag and flags of a host over a real sshd: what its own server was started with, and from which source."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.source.cache import SourceCache
from bot.source.ground import of_host
from tests.lab.sshd import Lab
from tests.provenance.engines import lines, wheel_or_skip
from tests.provenance.hosts import ARGS, Counted, Served, small
from tests.provenance.test_real_engines import QWEN
from tools.errors import Unreadable
from tools.hosts.ssh import SshHost
from tools.provenance.flags import flags_of
from tools.provenance.tree import Tree


@pytest.fixture(scope="module")
def served(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    config = folder / "launch.yaml"
    config.write_text("page-size: 64\nenable-lora: true\n")
    found = Served(folder, lab, small(), "--config", str(config))
    yield found
    found.engine.stop()


@pytest.fixture
def run(
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Any:
    monkeypatch.setenv("PERFSLEUTH_HOSTS", str(served.hosts))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    served.says(tp_size=2, chunked_prefill_size=4096)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["perfsleuth", *words])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr()
        return int(end.value.code or 0), told.out, told.err

    return call


def test_a_flag_of_a_host_is_explained_from_its_own_source_and_its_own_gpu(run: Any) -> None:
    status, out, err = run("explain-flag", "chunked_prefill_size", "lab", "--json")
    assert status == 0, err
    answer = json.loads(out)
    line = lines(Tree(small()), ARGS, "self.chunked_prefill_size = 4096")
    fired = [(site["file"], site["line"]) for site in answer["sites"] if site["state"] == "fired"]
    assert fired == [(ARGS, line)]
    assert (answer["asked"], answer["resolved"], answer["overridden"]) == (None, 4096, True)
    assert not [
        what for what in answer.get("unseen", ()) if "config.json" in what or "runs with" in what
    ]


def test_what_the_config_file_of_the_launch_says_was_asked(run: Any) -> None:
    status, out, err = run("explain-flag", "page_size", "lab", "--json")
    assert status == 0, err
    assert json.loads(out)["asked"] == 64
    assert "64, as passed" in run("explain-flag", "page_size", "lab")[1]


def test_all_flags_of_a_host_are_explained_and_no_secret_is_shown(run: Any) -> None:
    status, out, err = run("explain-flag", "--all", "lab", "--json")
    assert status == 0, err
    rows = {row["flag"]: row for row in json.loads(out)["flags"]}
    assert rows["attention_backend"]["resolved"] == "flashinfer"
    assert "secret" not in out + err
    assert "hf_lab" not in out + err


def test_the_schedulers_value_stands_where_they_agree(run: Any, served: Served) -> None:
    served.says(page_size=64, internal_states=[{"page_size": 1}, {"page_size": 1}])
    answer = json.loads(run("explain-flag", "page_size", "lab", "--json")[1])
    assert (answer["asked"], answer["resolved"], answer["overridden"]) == (64, 1, True)
    served.says(page_size=64, internal_states=[{"page_size": 1}, {"page_size": 2}])
    assert json.loads(run("explain-flag", "page_size", "lab", "--json")[1])["resolved"] == 64


def test_flags_of_a_host_are_those_of_its_source(run: Any) -> None:
    status, out, err = run("flags", "lab", "--search", "graph", "--json")
    assert status == 0, err
    names = [flag["names"] for flag in json.loads(out)["flags"]]
    assert names == [["--disable-graph"], ["--enforce-graph"]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("explain-flag", "page_size"), "give either HOST or --source DIR"),
        (("explain-flag", "page_size", "lab", "--source", "."), "give either HOST or --source DIR"),
        (("flags",), "give either HOST or --source DIR"),
        (("explain-flag", "lab", "--all", "--argv", "x"), "--argv goes with --source"),
        (("flags", "--source", ".", "--port", "1"), "--port goes with HOST"),
        (("explain-flag", "--all", "page_size", "lab"), "give FLAG or --all"),
        (("explain-flag", "no_such", "lab"), "is no flag of this version"),
    ],
)
def test_a_wrong_command_is_told_so_in_a_sentence(
    run: Any, words: tuple[str, ...], says: str
) -> None:
    status, out, err = run(*words)
    told = " ".join(err.replace("│", " ").split())
    assert (status, out) == (2, "")
    assert says in told


def test_a_host_that_is_not_there_ends_with_3_and_one_sentence(run: Any) -> None:
    status, out, err = run("explain-flag", "page_size", "gone")
    assert (status, out, len(err.strip().splitlines())) == (3, "", 1)
    assert err.startswith("perfsleuth: ")


def test_a_port_without_a_server_names_those_that_are_there(run: Any) -> None:
    status, out, err = run("explain-flag", "page_size", "lab", "--port", "1")
    assert (status, out) == (2, "")
    assert "no model server on port 1; there is" in err


def test_a_source_that_is_not_whole_is_no_source(run: Any, served: Served, tmp_path: Path) -> None:
    args = served.site / ARGS
    args.rename(tmp_path / "away")
    try:
        status, _, err = run("explain-flag", "page_size", "lab")
    finally:
        (tmp_path / "away").rename(args)
    assert status == 2
    assert "holds no srt/server_args.py" in err


def test_files_travel_once_and_only_what_changed_travels_again(
    lab: Lab, served: Served, tmp_path: Path
) -> None:
    scope = {"port": served.engine.port}
    with SshHost("lab", config_file=lab.config) as ssh:
        asked: list[tuple[int, int]] = []
        for change in ("", "", "# a patch\n"):
            rules = served.site / "sglang/srt/rules.py"
            rules.write_text(rules.read_text() + change)
            host = Counted(ssh)
            ground = of_host(host, "page_size", scope=scope, cache=SourceCache(tmp_path))
            assert ground.explained().one("page_size").asked == 64
            asked.append((len(host.asked), ground.texts.brought_files))  # type: ignore[attr-defined]
    files = asked[0][1]
    assert files >= 3
    assert asked[1] == (1, 0), "all is at hand: one look, and no file travels"
    assert asked[2] == (2, 1), "one file was patched: it alone travels"


def test_answers_that_are_at_hand_are_not_asked_for_again(
    lab: Lab, served: Served, tmp_path: Path
) -> None:
    from tools.evidence import ask
    from tools.probes import PROBES

    port = served.engine.port
    names = ("ReadLaunch", "ReadServerInfo", "ReadModelConfig", "ReadGpus", "ReadEnvironment")
    with SshHost("lab", config_file=lab.config) as ssh:
        looks = ask(ssh, [PROBES[n](**({"port": port} if n != "ReadGpus" else {})) for n in names])
        host = Counted(ssh)
        of_host(host, "page_size", looks=looks, scope={"port": port}, cache=SourceCache(tmp_path))
    assert {type(one).__name__ for one in host.asked[0]} == {"ListSource", "ReadServerLog"}


def test_a_server_with_a_disk_of_its_own_is_read_through_its_own_root(
    lab: Lab, tmp_path: Path
) -> None:
    may = subprocess.run(["unshare", "-m", "mount", "--bind", "/tmp", "/tmp"], capture_output=True)
    if may.returncode:
        pytest.skip("nobody may make mounts of his own here")
    texts = small(**{"sglang/srt/linked.py": ""})
    served = Served(tmp_path, lab, texts, boxed=True)
    link = tmp_path / "inside/sglang/srt/linked.py"
    link.unlink()
    link.symlink_to(tmp_path / "inside/sglang/srt/rules.py")
    try:
        with SshHost("lab", config_file=lab.config) as ssh:
            cache, scope = SourceCache(tmp_path / "cache"), {"port": served.engine.port}
            ground = of_host(ssh, "page_size", launch=False, scope=scope, cache=cache)
            assert flags_of(ground.tree)
            with pytest.raises(Unreadable):
                ground.texts["sglang/srt/linked.py"]
    finally:
        served.engine.stop()
    assert not list((tmp_path / "site").iterdir()), "from outside there is nothing"


def test_the_seed_deployment_is_answered_over_ssh_as_from_its_folder(
    lab: Lab, tmp_path: Path
) -> None:
    wheel = wheel_or_skip("0.5.11")
    texts = {
        path.relative_to(wheel).as_posix(): path.read_text(encoding="utf-8-sig")
        for path in (*wheel.glob("sglang/srt/**/*.py"), *wheel.glob("sglang-*.dist-info/METADATA"))
    }
    more = ("--speculative-algorithm", "NEXTN", "--mamba-scheduler-strategy", "extra_buffer")
    served = Served(tmp_path, lab, texts, *more)
    served.says(tp_size=2, disable_piecewise_cuda_graph=True)
    (served.model / "config.json").write_text(json.dumps(QWEN))
    try:
        with SshHost("lab", config_file=lab.config) as ssh:
            host = Counted(ssh)
            flag, scope = "disable_piecewise_cuda_graph", {"port": served.engine.port}
            ground = of_host(host, flag, scope=scope, cache=SourceCache(tmp_path / "cache"))
            found = ground.explained().one(flag)
    finally:
        served.engine.stop()
    fired = [(s.file, s.line, s.log) for s in found.sites if s.state == "fired"]
    assert fired == [(ARGS, 1230, None)], (found.sentence, ground.unseen)
    assert "is wrong." in found.sentence
    assert len(host.asked) <= 6
