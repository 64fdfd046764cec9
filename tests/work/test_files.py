"""Files and pasted texts: the same verdict as the command gives, sources by the names that people gave."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from bot import commands
from bot.investigate import Judged
from bot.message import GivenFile, Message
from bot.work import Fetched, Work
from tests.work.room import Room, text_of

DEV = Path(__file__).parents[1] / "scenarios" / "dev"
TEN = sorted(DEV.iterdir())[::8][:10]


@pytest.mark.parametrize("case", TEN, ids=lambda case: case.name)
def test_an_upload_gets_the_verdict_of_diagnose(
    room: Room, case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(path for path in (case / "evidence").iterdir() if path.is_file())
    question = (case / "question.txt").read_text(encoding="utf-8").strip()
    ts = room.upload(*files, text=question)
    room.work()
    (end,) = [event for _, event in room.watching.events if isinstance(event, Judged)]
    commands.diagnose(files, question, None, as_json=True)
    alone = json.loads(capsys.readouterr().out)
    assert end.verdict.category == alone["verdict"]["category"]
    assert end.verdict.cause == alone["verdict"]["cause"]
    assert end.verdict.headline == alone["verdict"]["headline"]
    assert [look.id for look in end.evidence] == [one["id"] for one in alone["evidence"]]
    sources = {look.source.split(":")[0] for look in end.evidence} - {"the question"}
    assert sources <= {path.name for path in files}
    run = room.store.runs.get(1)
    assert run
    assert (run.kind, run.state, run.category) == ("files", "done", alone["verdict"]["category"])
    assert room.letters(ts)[0].key == "run:1:trail"
    assert f"Looking at {len(files)} text" in text_of(room.letters(ts)[0])


def test_a_pasted_text_is_evidence_and_no_part_of_the_question(room: Room) -> None:
    log = (DEV / "ceil-03-x4-vs-prefill-traffic" / "evidence").iterdir()
    pasted = next(iter(sorted(log))).read_text(encoding="utf-8")
    ts = room.say("what is wrong with this?", pasted=(pasted,))
    room.work()
    learned = room.store.cases.load(1)
    assert learned
    assert learned.asked[0].source.split(":")[0] == "pasted text"
    assert learned.question == "what is wrong with this?"
    assert room.letters(ts, "verdict")


def test_what_could_not_be_fetched_is_said_beside_the_rest(room: Room, tmp_path: Path) -> None:
    folder = tmp_path / "fetched"
    folder.mkdir()
    source = DEV / "ceil-03-x4-vs-prefill-traffic" / "evidence"
    for path in source.iterdir():
        shutil.copy(path, folder / path.name)
    paths = tuple(sorted(folder.iterdir()))
    ts = room.upload(*paths)
    room.fetched = Fetched(paths, ("big.log is too large: 64 MB is the most.",), folder)
    room.work()
    said = text_of(room.letters(ts, "verdict")[0])
    assert said.startswith("big.log is too large: 64 MB is the most.")
    assert not folder.exists(), "what was fetched is removed when it is read"


def test_nothing_to_read_is_a_sentence(room: Room) -> None:
    ts = room.upload(text="what is wrong with this log?")
    room.say("what?", files=({"id": "F1", "name": "a.log"},))
    room.fetched = Fetched((), ("a.log is gone.",))
    room.work()
    assert room.runs()[-1].state == "failed"
    assert room.said()[-1].startswith("a.log is gone.\nWhat I can read: ")
    assert ts


def test_a_text_of_no_form_that_is_known_is_told_what_can_be_read(room: Room) -> None:
    ts = room.say("and this?", pasted=("Lorem ipsum dolor sit amet. " * 20,))
    room.work()
    assert "What I can read: serve logs" in text_of(room.letters(ts, "verdict")[0])


def test_two_files_of_one_name_are_told_apart(room: Room, tmp_path: Path) -> None:
    paths = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "note.txt")
        paths[-1].write_text(f"nothing of note {name}\n")
    room.upload(*paths)
    room.work()
    case = room.store.cases.load(1)
    assert case
    assert [one.source for one in case.asked] == ["note.txt", "note.txt (2)"]


def test_a_file_that_cannot_be_read_says_so_by_its_name_alone(room: Room, tmp_path: Path) -> None:
    ts = room.upload(tmp_path / "gone.log")
    room.work()
    said = room.said(ts)[-1]
    assert "gone.log is not there." in said
    assert str(tmp_path) not in said


def test_what_is_pasted_into_a_thread_is_judged_with_its_looks(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    room.work()
    before = room.store.cases.load(1)
    room.say("here is what you could not see", thread=ts, pasted=("some text of the host\n" * 30,))
    room.work()
    after = room.store.cases.load(2)
    assert before
    assert after
    assert (after.host, len(after.asked)) == ("CT129", len(before.asked) + 1)
    assert after.asked[-1].source == "pasted text"


def test_many_heaps_of_files_at_once_are_all_read(room: Room, tmp_path: Path) -> None:
    names = [f"heap{number}.log" for number in range(6)]
    all_fetch = threading.Barrier(len(names))

    def fetch(message: Message) -> Fetched:
        all_fetch.wait(60)  # Slack gives them all at the same time
        path = tmp_path / message.files[0].name
        path.write_text("hello\n", encoding="utf-8")
        return Fetched(paths=(path,))

    worker = Work(room.store, room.settings, room.watching, fetch=fetch)
    for name in names:
        room.say("what is wrong with this?", files=(GivenFile(id=name, name=name),))
    working = [
        threading.Thread(target=worker.carry_out, args=(run.id,), daemon=True)
        for run in room.runs()
    ]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join(60)
    assert {run.state for run in room.runs()} == {"done"}
