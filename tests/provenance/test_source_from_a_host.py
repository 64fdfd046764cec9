"""What of an engine's source leaves a host, and what does not: links, pipes, large and damaged files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.source.cache import SourceCache
from bot.source.installed import InstalledSource
from tests.provenance.hosts import ARGS, Counted, small, write
from tools.engine.source_tree import EngineSource, SourceTexts
from tools.errors import Absent, HostError, Unreadable
from tools.evidence import ask
from tools.host import Output
from tools.hosts.local import LocalHost
from tools.hosts.replay import ReplayHost
from tools.probes.source_listing import ListSource
from tools.probes.source_texts import ReadSourceTexts
from tools.provenance.flags import flags_of
from tools.provenance.tree import Tree

SECRET = "root:hunter2:a secret that is not of the engine"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write(tmp_path / "site-packages", small(**{"sglang/__init__.py": ""}))


def look(probe: Any) -> Any:
    (seen,) = ask(LocalHost(), [probe])
    assert seen.facts is not None, seen.trouble
    return seen.facts


def listing(site: Path, *words: str) -> EngineSource:
    return look(ListSource(words=words, source_path=str(site)))  # type: ignore[no-any-return]


def texts(site: Path, *paths: str) -> SourceTexts:
    return look(ReadSourceTexts(paths=paths, source_path=str(site)))  # type: ignore[no-any-return]


def installed(site: Path, folder: Path, *words: str) -> tuple[InstalledSource, Counted]:
    host, cache = Counted(LocalHost()), SourceCache(folder)
    question = InstalledSource.listing(host, cache, words, source_path=str(site))
    (seen,) = ask(host, [question])
    return InstalledSource(host, question, seen, cache), host


def test_a_listing_has_every_source_with_the_digest_of_its_bytes(site: Path) -> None:
    (site / "sglang/srt/data.json").write_text(SECRET)
    (site / "sglang/test").mkdir()
    (site / "sglang/test/case.py").write_text("")
    found = {file.path: file.digest for file in listing(site).files or ()}
    assert set(found) == {*small(), "sglang/__init__.py"}
    assert found[ARGS] == hashlib.sha256((site / ARGS).read_bytes()).hexdigest()


def test_the_host_says_which_files_hold_a_word_so_that_none_travels_for_it(site: Path) -> None:
    found = listing(site, "page_size", "no_such_word")
    names = [file.path for file in found.files or ()]
    assert {names[place] for place in found.holding["page_size"]} == {
        ARGS, "sglang/srt/model_executor/runner.py",
    }  # fmt: skip
    assert found.holding["no_such_word"] == ()


@pytest.mark.parametrize("path", ["sglang/../secret.py", "/etc/passwd", "sglang/.hidden/a.py", "etc/passwd",
                                  "sglang/a.json", "torch/__init__.py", "sglang.dist-info/RECORD"])  # fmt: skip
def test_what_is_no_source_of_the_engine_cannot_even_be_asked_for(path: str) -> None:
    with pytest.raises(ValidationError):
        ReadSourceTexts(paths=(path,))


def test_the_host_itself_refuses_a_path_that_leads_out(site: Path) -> None:
    (site / "secret.py").write_text(SECRET)
    asked = ReadSourceTexts.model_construct(paths=("sglang/../secret.py", "secret.py"), source_path=str(site), port=None)  # fmt: skip
    found = look(asked)
    assert found.contents == {}
    assert set(found.troubles) == {"sglang/../secret.py", "secret.py"}


@pytest.mark.parametrize("whole_folder", [False, True])
def test_a_link_that_leads_out_of_the_package_is_not_followed(
    site: Path, tmp_path: Path, whole_folder: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(SECRET)
    link = site / "sglang/srt" / ("folder" if whole_folder else "secret.py")
    link.symlink_to(outside if whole_folder else outside / "secret.py")
    name = "sglang/srt/folder/secret.py" if whole_folder else "sglang/srt/secret.py"
    found = texts(site, name, ARGS)
    assert set(found.contents) == {ARGS}
    assert "leads out" in found.troubles[name]
    assert [file.digest for file in listing(site).files or () if file.path == name] in ([], [None])


def test_a_link_within_the_package_is_followed(site: Path) -> None:
    (site / "sglang/srt/same.py").symlink_to(site / ARGS)
    assert texts(site, "sglang/srt/same.py").contents["sglang/srt/same.py"]


def test_a_pipe_and_a_link_to_nowhere_are_said_to_be_unreadable_and_nothing_hangs(
    site: Path, tmp_path: Path
) -> None:
    os.mkfifo(site / "sglang/srt/pipe.py")
    (site / "sglang/srt/gone.py").symlink_to(site / "sglang/srt/nowhere.py")
    source, _ = installed(site, tmp_path / "cache")
    for name in ("sglang/srt/pipe.py", "sglang/srt/gone.py"):
        assert name in source
        with pytest.raises(Unreadable, match=name):
            source[name]
    assert source.unread == ["sglang/srt/gone.py", "sglang/srt/pipe.py"]
    assert flags_of(Tree(source)), "the rest is read all the same"


def test_of_a_file_of_20_mb_four_come(site: Path, tmp_path: Path) -> None:
    (site / "sglang/srt/large.py").write_bytes(b"# long\n" * 3_000_000)
    source, _ = installed(site, tmp_path / "cache")
    assert len(source["sglang/srt/large.py"]) == 4 << 20


def test_many_large_files_come_in_several_looks(site: Path, tmp_path: Path) -> None:
    names = [f"sglang/srt/l{n}.py" for n in range(7)]
    for n, name in enumerate(names):
        (site / name).write_bytes(f"# {n}\n".encode() * 1_000_000)
    source, host = installed(site, tmp_path / "cache")
    source.bring(names)
    assert {len(source[name]) for name in names} == {4_000_000}
    assert len(host.asked) == 3, "the listing, and two looks of 16 MiB at most"


def test_a_damaged_cache_is_not_trusted(site: Path, tmp_path: Path) -> None:
    first, _ = installed(site, tmp_path / "cache")
    good = first[ARGS]
    kept = sorted(path for path in (tmp_path / "cache").glob("??/*"))
    for number, path in enumerate(kept):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if number % 2 else kept[number - 1].read_bytes())
    for note in (tmp_path / "cache/listings").iterdir():
        note.write_text("../../etc/passwd")
    again, host = installed(site, tmp_path / "cache")
    assert again[ARGS] == good
    assert len(host.asked) == 2
    mended = InstalledSource.listing(host, SourceCache(tmp_path / "cache"), source_path=str(site))
    assert mended.known


def test_a_listing_that_is_at_hand_is_not_sent_again(site: Path, tmp_path: Path) -> None:
    installed(site, tmp_path / "cache")
    question = InstalledSource.listing(LocalHost(), SourceCache(tmp_path / "cache"), source_path=str(site))  # fmt: skip
    assert look(question).files is None
    (site / "sglang/srt/rules.py").write_text("")
    assert look(question).files is not None


def test_what_is_changed_between_listing_and_reading_is_told(site: Path, tmp_path: Path) -> None:
    source, _ = installed(site, tmp_path / "cache")
    (site / ARGS).write_text("# upgraded meanwhile\n")
    with pytest.raises(Unreadable, match="changed while it was read"):
        source[ARGS]


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago(tmp_path: Path) -> None:
    cache = SourceCache(tmp_path, limit_bytes=250_000)
    digests = [cache.put(os.urandom(100_000)) for _ in range(4)]
    for age, digest in enumerate(digests):
        os.utime(tmp_path / digest[:2] / digest, (age, age))
    assert cache.get(digests[0]) is not None, "it was used now"
    cache.tidy()
    assert [digest in digests and cache.get(digest) is not None for digest in digests] == [
        True, False, False, True,
    ]  # fmt: skip


def test_a_folder_that_cannot_be_written_costs_time_alone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    source, _ = installed(site, tmp_path / "file" / "cache")
    assert source[ARGS] == small()[ARGS]


def test_an_engine_that_is_not_there_and_a_host_that_does_not_answer_differ(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="holds no package sglang"):
        installed(tmp_path, tmp_path / "cache")
    host, cache = ReplayHost("past", {}), SourceCache(tmp_path)
    question = InstalledSource.listing(host, cache)
    with pytest.raises(HostError):
        InstalledSource(host, question, ask(host, [question])[0], cache)


@pytest.mark.parametrize("text", ["", "{}", '{"source_texts": [["a", 5]], "troubles": {}, "left": [], "packed": "eJw="}',
                                  '{"source_texts": 3, "troubles": [], "left": 0, "packed": "%%"}'])  # fmt: skip
def test_an_answer_that_is_no_package_of_files_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        ReadSourceTexts().read(Output(stdout=text))


def test_an_answer_that_would_fill_the_memory_is_not_unpacked() -> None:
    import base64
    import zlib

    bomb = base64.b64encode(zlib.compress(bytes(256 << 20))).decode()
    text = f'{{"source_texts": [["a", {256 << 20}]], "troubles": {{}}, "left": [], "packed": "{bomb}"}}'
    with pytest.raises(Unreadable):
        ReadSourceTexts().read(Output(stdout=text))
