"""What each command does: ask a host, judge files or a case, keep what was seen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from bot import settings, telling
from bot.demo import shipped
from bot.investigate import Judged, conclude, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.reach import chosen, parted, reach
from tools.case import Case
from tools.errors import HostError, ToolsError
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.hosts.files.bounded import read_bounded
from tools.probes import PROBES
from tools.rules import RULES

CASE_BYTES = 256 << 20  # of all answers of a host together


def ask(text: str, host: str | None, save: Path | None, *, as_json: bool) -> None:
    """Investigate the host that a text names; raise HostError if it answers nothing."""
    known = settings.load()
    question = Question.of(text, known.hosts)
    name, port = parted(chosen(question.hosts, host, known))
    question = replace(question, port=port or question.port)
    end = _look_at(name, question, known, as_json=as_json)
    if save:
        _keep(save, name, question, end)
    _insist(name, end)


def diagnose(files: list[Path], text: str, save: Path | None, *, as_json: bool) -> None:
    """Judge what is in files."""
    question = Question.of(text)
    evidence = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(files, PROBES), start=1)
    ]
    end = conclude(question, evidence)
    telling.tell(question, None, end, as_json=as_json)
    if save:
        _keep(save, None, question, end)


def replay(path: Path, text: str | None, *, as_json: bool) -> None:
    """Judge a case file again."""
    _tell_case(Case.load(text_of(path), name=str(path)), text, as_json=as_json)


def demo(*, as_json: bool) -> None:
    """Tell the shipped case."""
    _tell_case(shipped(), None, as_json=as_json)


def demo_in_slack(port: int) -> None:
    """Serve the page on which the bot is asked as in Slack, until Ctrl-C."""
    from bot.demo import slack

    slack.demo(port)


def capture(host: str, path: Path) -> None:
    """Ask a host everything and keep it; raise HostError if it answers nothing."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ToolsError(f"{path} cannot be written: name a file in a folder that exists.")
    question = Question.of(f"capture {host}", [host])
    host, port = parted(host)
    question = replace(question, port=port)
    end = _look_at(host, question, settings.load(), as_json=False)
    _insist(host, end)
    _keep(path, host, question, end)
    sys.stdout.write(
        f"\nKept {len(end.evidence)} looks in {path}. Secrets were dropped while reading; "
        "look through it before you send it.\n"
    )


def bot(http: str | None) -> None:
    """Be the bot in Slack until a signal ends it."""
    from bot.serve import serve

    serve(http)


def text_of(path: Path) -> str:
    """Return the text of a file; raise ToolsError with what is wrong with it."""
    found = read_bounded(path, CASE_BYTES)
    if found.note:
        raise ToolsError(f"{path} is too large or not whole. {found.note}")
    return found.data.decode("utf-8", "replace")


def _look_at(name: str, question: Question, known: settings.Settings, *, as_json: bool) -> Judged:
    playbook = Playbook(PROBES, RULES, known.host(name).scope())
    events = investigate(question, playbook, reach(name, known))
    return telling.follow(question, name, events, as_json=as_json)


def _tell_case(case: Case, text: str | None, *, as_json: bool) -> None:
    question = Question.of(text or case.question, [case.host] if case.host else [])
    end = conclude(question, case.evidence(PROBES))
    telling.tell(question, case.host, end, as_json=as_json, made=case.made)


def _keep(path: Path, host: str | None, question: Question, end: Judged) -> None:
    kept = Case.of(host, question.text, "captured", end.evidence)
    data = kept.dump().encode("utf-8", "replace")  # before the file is opened, and so emptied
    try:
        path.write_bytes(data)
    except (OSError, ValueError) as why:
        raise ToolsError(
            f"{path} cannot be written: {getattr(why, 'strerror', None) or why}."
        ) from None


def _insist(host: str, end: Judged) -> None:
    if all(look.output is None or look.output.lost for look in end.evidence):
        raise HostError(end.evidence[0].trouble if end.evidence else f"{host} was asked nothing.")
