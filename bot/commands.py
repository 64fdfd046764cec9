"""What each command does: ask a host, judge files or a case, keep what was seen."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import drawing, settings, telling
from bot.demo import shipped
from bot.given import text_of
from bot.investigate import Judged, conclude, investigate
from bot.narrator import Explanation
from bot.planner import Planner, Playbook
from bot.question import Question
from bot.question.comparing import comparing
from bot.reach import chosen, parted, reach
from bot.source.look import SourceLook
from tools.case import Case
from tools.errors import HostError, ToolsError
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.hosts.local import LocalHost
from tools.probes import PROBES
from tools.rules import RULES

if TYPE_CHECKING:
    from bot.agent.agent import Agent


def ask(
    text: str, host: str | None, save: Path | None, charts: Path | None = None, *, as_json: bool
) -> None:
    """Investigate the host that a text names; raise HostError if it answers nothing."""
    drawing.ready(charts)
    known = settings.load()
    question = Question.of(text, known.hosts)
    if host is None and (pair := comparing(text, known.hosts)):
        _ask_both(pair, question, save or charts, as_json=as_json)
        return
    name, port = parted(chosen(question.hosts, host, known))
    question = replace(question, port=port or question.port)
    agent = _agent(known, name, question)
    playbook, scope = _playbook(name, known)
    planner = agent.planner(playbook, scope) if agent else playbook
    kept: list[dict[str, Any]] = []
    explain = _explaining(agent, question, kept, planner)
    end = _look_at(name, question, known, planner, explain, as_json=as_json)
    if save:
        _keep(save, name, question, end, [*planner.exchanges_kept(), *kept])
    _insist(name, end)
    drawing.of_case(charts, end.evidence, end.verdict.headroom, aloud=not as_json)


def diagnose(
    files: list[Path],
    text: str,
    save: Path | None,
    charts: Path | None = None,
    *,
    as_json: bool,
    explained: bool | None = None,
) -> None:
    """Judge what is in files; `explained` by a model or not (None: if one is configured)."""
    drawing.ready(charts)
    question = Question.of(text)
    evidence = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(files, PROBES, LocalHost()), start=1)
    ]
    end = conclude(question, evidence)
    kept: list[dict[str, Any]] = []
    explain = _explaining(_offline(question, explained=explained), question, kept)
    telling.tell(question, None, end, as_json=as_json, explain=explain)
    if save:
        _keep(save, None, question, end, kept)
    drawing.of_case(charts, end.evidence, end.verdict.headroom, aloud=not as_json)


def replay(
    path: Path,
    text: str | None,
    charts: Path | None = None,
    *,
    as_json: bool,
    explained: bool | None = None,
) -> None:
    """Judge a case file again; `explained` by a model or not (None: if one is configured)."""
    drawing.ready(charts)
    case = Case.load(text_of(path), name=str(path))
    end = _tell_case(case, text, as_json=as_json, explained=explained)
    drawing.of_case(charts, end.evidence, end.verdict.headroom, aloud=not as_json)


def compare(names: tuple[str, str], text: str, port: int | None, *, as_json: bool) -> None:
    """Set two hosts, cases or sets of files side by side; raise HostError if one answers nothing."""
    from bot import comparing

    comparing.run(names, text, port, as_json=as_json)


def demo(charts: Path | None = None, *, as_json: bool) -> None:
    """Tell the shipped case."""
    drawing.ready(charts)
    end = _tell_case(shipped(), None, as_json=as_json, explained=False)
    drawing.of_case(charts, end.evidence, end.verdict.headroom, aloud=not as_json)


def demo_in_slack(port: int) -> None:
    """Serve the page on which the bot is asked as in Slack, until Ctrl-C."""
    from bot.demo import slack

    slack.demo(port)


def capture(host: str, path: Path) -> None:
    """Ask a host everything and keep it; raise HostError if it answers nothing."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ToolsError(f"{path} cannot be written: name a file in a folder that exists.")
    host, port = parted(host)
    question = replace(Question.of(f"capture {host}", [host]), port=port)
    known = settings.load()
    playbook = _playbook(host, known)[0]
    end = _look_at(host, question, known, playbook, telling.unexplained, as_json=False)
    _insist(host, end)
    _keep(path, host, question, end)
    sys.stdout.write(
        f"\nKept {len(end.evidence)} looks in {path}. Secrets were dropped while reading; "
        "look through it before you send it.\n"
    )


def evaluate(
    folder: Path, *, agent: bool, followup: bool, judge: str | None, as_json: bool
) -> None:
    """Judge cases whose answers are known, with the models of hosts.toml as well if `agent`."""
    from bot.evaluate import tell

    tell(folder, agent=agent, followup=followup, judge=judge, as_json=as_json)


def bot(http: str | None) -> None:
    """Be the bot in Slack until a signal ends it."""
    from bot.serve import serve

    serve(http)


def _ask_both(
    pair: tuple[str, str], question: Question, save: Path | None, *, as_json: bool
) -> None:
    if save:
        raise ToolsError("--save and --charts are of one host: capture each, then compare.")
    compare(pair, question.text, question.port, as_json=as_json)


def _agent(known: settings.Settings, host: str, question: Question) -> Agent | None:
    """Return who helps with this investigation; nothing of it is imported where no model is set up."""
    if not known.models:
        return None
    from bot.agent.agent import Agent

    agent = Agent.of(known)
    return agent.on(host, question.port) if agent else None


def _playbook(name: str, known: settings.Settings) -> tuple[Playbook, Mapping[str, Any]]:
    scope = known.host(name).scope()
    return Playbook(PROBES, RULES, scope), scope


def _offline(question: Question, *, explained: bool | None) -> Agent | None:
    """Return who explains what files tell; settings that are broken matter to who asks for it alone."""
    if explained is False:
        return None
    try:
        known = settings.load()
    except settings.SettingsError:
        if explained:
            raise
        return None
    if explained and not known.models:
        raise ToolsError("No model is configured: add [[models]] to hosts.toml, or drop --explain.")
    return _agent(known, "", question)


def _explaining(
    agent: Agent | None,
    question: Question,
    kept: list[dict[str, Any]],
    planner: Planner | None = None,
) -> telling.Explain:
    """Return who explains a verdict; what was given and said is added to `kept`."""
    if agent is None:
        return telling.unexplained

    def explain(end: Judged) -> Explanation | None:
        if not any(look.facts for look in end.evidence):
            return None
        explanation = agent.explain(question, end, planner)
        kept.extend(explanation.exchanges_kept())
        return explanation

    return explain


def _look_at(
    name: str,
    question: Question,
    known: settings.Settings,
    planner: Planner,
    explain: telling.Explain,
    *,
    as_json: bool,
) -> Judged:
    source = SourceLook(known.host(name).scope(), port=question.port)
    events = investigate(question, planner, reach(name, known), source=source)
    return telling.follow(question, name, events, as_json=as_json, explain=explain)


def _tell_case(case: Case, text: str | None, *, as_json: bool, explained: bool | None) -> Judged:
    question = Question.of(text or case.question, [case.host] if case.host else [])
    end = conclude(question, case.evidence(PROBES)).with_source()
    explain = _explaining(_offline(question, explained=explained), question, [])
    telling.tell(question, case.host, end, as_json=as_json, made=case.made, explain=explain)
    return end


def _keep(
    path: Path,
    host: str | None,
    question: Question,
    end: Judged,
    exchanges: Sequence[dict[str, Any]] = (),
) -> None:
    kept = Case.of(host, question.text, "captured", end.evidence, exchanges)
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
