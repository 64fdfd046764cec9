"""What was fetched is gone when its process is gone, however that ended."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bot.slack.reception.shelf import Shelf

_HOLDS = """
import sys
from bot.slack.reception.shelf import Shelf
folder = Shelf().folder()
(folder / "serve.log").write_text("of somebody")
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_holds_is_not(
    tmp_path: Path,
) -> None:
    living, killed = _process(), _process()
    held, left = _folder_of(living), _folder_of(killed)
    killed.kill()
    killed.communicate(timeout=60)
    strange = tmp_path / "perfsleuth-files-link"
    strange.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere" / "kept").mkdir(parents=True)
    assert left.is_dir()
    Shelf()
    assert not left.parent.exists()
    assert (held / "serve.log").is_file()
    assert (tmp_path / "elsewhere" / "kept").is_dir()
    living.communicate(timeout=60)


def test_a_shelf_gives_new_folders_and_takes_all_of_them_away(tmp_path: Path) -> None:
    shelf = Shelf()
    one, two = shelf.folder(), shelf.folder()
    assert one != two
    assert one.stat().st_mode & 0o777 == one.parent.stat().st_mode & 0o777 == 0o700
    shelf.close()
    assert not list(tmp_path.iterdir())


def test_a_shelf_that_was_tidied_away_is_made_anew(tmp_path: Path) -> None:
    shelf = Shelf()
    first = shelf.folder()
    first.rmdir()
    first.parent.rmdir()
    assert shelf.folder().is_dir()
    shelf.close()


def _process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout
    return Path(process.stdout.readline().strip())
