"""The perfsleuth command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.terminal import Terminal, say_error
from tools.errors import HostError, ToolsError

if TYPE_CHECKING:
    from bot.investigate import Event, Judged
    from bot.question import Question

app = typer.Typer(
    name="perfsleuth",
    help="Ask what is wrong with the speed of an LLM server. "
    "It looks at the host, proves, and says what costs how much.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the story.")]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Keep the looks as a case file.")
]
HostName = Annotated[
    str | None,
    typer.Option(
        "--host", metavar="NAME", help="The host to look at, if the text does not name it."
    ),
]
AskedText = Annotated[
    str | None, typer.Option("--question", metavar="TEXT", help="What you want to know.")
]
AskedFile = Annotated[
    Path | None,
    typer.Option("--question-file", metavar="FILE", help="A file that holds the question."),
]


@app.command()
def ask(text: str, host: HostName = None, save: Save = None, as_json: AsJson = False) -> None:
    """Ask about a host: "don't leave perf on the table on CT129"."""
    from bot import settings
    from bot.investigate import investigate
    from bot.planner import Playbook
    from bot.question import Question
    from bot.reach import chosen, reach
    from tools.probes import PROBES
    from tools.rules import RULES

    known = settings.load()
    question = Question.of(text, known.hosts)
    name = chosen(question.hosts, host, known)
    playbook = Playbook(PROBES, RULES, known.host(name).scope())
    end = _follow(
        question, name, investigate(question, playbook, reach(name, known)), as_json=as_json
    )
    _keep(save, name, question, end)
    if all(look.output is None or look.output.lost for look in end.evidence):
        raise HostError(end.evidence[0].trouble if end.evidence else f"{name} was asked nothing.")


@app.command()
def diagnose(
    files: list[Path],
    question: AskedText = None,
    question_file: AskedFile = None,
    save: Save = None,
    as_json: AsJson = False,
) -> None:
    """Judge what is in files: serve logs, nvidia-smi, lspci, dmesg, server arguments; by content, not by name."""
    from bot.investigate import conclude
    from bot.question import Question
    from tools.evidence import read_back
    from tools.hosts.files import read_texts
    from tools.probes import PROBES

    asked = Question.of(_question(question, question_file))
    evidence = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(files, PROBES), start=1)
    ]
    _keep(save, None, asked, _tell(asked, None, conclude(asked, evidence), as_json=as_json))


@app.command()
def replay(case: Path, question: AskedText = None, as_json: AsJson = False) -> None:
    """Judge a case file again, with the parsers and rules of today."""
    from bot.investigate import conclude
    from bot.question import Question
    from tools.case import Case
    from tools.probes import PROBES

    kept = Case.load(_text_of(case), name=str(case))
    asked = Question.of(question or kept.question, [kept.host] if kept.host else [])
    _tell(asked, kept.host, conclude(asked, kept.evidence(PROBES)), as_json=as_json)


@app.command()
def capture(
    host: str,
    to: Annotated[
        Path | None,
        typer.Option("--to", "-o", metavar="FILE", help="Where to write; default HOST.case.json."),
    ] = None,
) -> None:
    """Ask a host everything and keep it as one case file without secrets, to send to a colleague."""
    from bot import settings
    from bot.investigate import investigate
    from bot.planner import Playbook
    from bot.question import Question
    from bot.reach import reach
    from tools.probes import PROBES
    from tools.rules import RULES

    known = settings.load()
    question = Question.of(f"capture {host}", [host])
    playbook = Playbook(PROBES, RULES, known.host(host).scope())
    end = _follow(
        question, host, investigate(question, playbook, reach(host, known)), as_json=False
    )
    if all(look.output is None or look.output.lost for look in end.evidence):
        raise HostError(end.evidence[0].trouble if end.evidence else f"{host} was asked nothing.")
    path = to or Path(f"{host.replace('/', '_')}.case.json")
    _keep(path, host, question, end)
    typer.echo(
        f"Kept {len(end.evidence)} looks in {path}. Secrets were dropped while reading; "
        "look through it before you send it."
    )


@app.command()
def demo(as_json: AsJson = False) -> None:
    """Tell the CT129 story from a shipped, synthetic case: no key, no network, no GPU."""
    from bot.demo import shipped
    from bot.investigate import conclude
    from bot.question import Question
    from tools.probes import PROBES

    kept = shipped()
    asked = Question.of(kept.question, [kept.host] if kept.host else [])
    _tell(asked, kept.host, conclude(asked, kept.evidence(PROBES)), as_json=as_json, made=kept.made)


@app.command()
def doctor(
    hosts: Annotated[
        list[str] | None, typer.Argument(help="Hosts to try; default all of hosts.toml.")
    ] = None,
) -> None:
    """Say what is configured, what is missing, and whether each host can be reached and with which rights."""
    from bot.doctor import examine

    if not examine(hosts or [], Terminal()):
        raise typer.Exit(3)


@app.command()
def probes(name: Annotated[str | None, typer.Argument()] = None, as_json: AsJson = False) -> None:
    """List the read-only questions that perfsleuth can put to a host, and the commands they run."""
    from bot.contents import probes_text

    typer.echo(probes_text(name, as_json=as_json))


@app.command()
def rules(name: Annotated[str | None, typer.Argument()] = None, as_json: AsJson = False) -> None:
    """List the hypotheses that perfsleuth judges, and what each needs to know."""
    from bot.contents import rules_text

    typer.echo(rules_text(name, as_json=as_json))


def _follow(question: Question, host: str, events: Iterable[Event], *, as_json: bool) -> Judged:
    """Tell an investigation while it happens."""
    from bot import narrator
    from bot.investigate import Asking, Judged, Learned

    terminal = Terminal()
    if not as_json:
        terminal.tell([narrator.understood(question, host)])
    for event in events:
        if isinstance(event, Asking):
            terminal.waiting(f"  asking {host}: {len(event.probes)} looks, read-only …")
        elif isinstance(event, Learned) and not as_json:
            terminal.tell(narrator.look(event.look))
        elif isinstance(event, Judged):
            _conclude(question, host, event, terminal, as_json=as_json)
            return event
    raise AssertionError("an investigation ends with a verdict")


def _tell(
    question: Question, host: str | None, end: Judged, *, as_json: bool, made: str = ""
) -> Judged:
    """Tell an investigation whose looks are already there."""
    from bot import narrator

    terminal = Terminal()
    if not as_json:
        terminal.tell(narrator.asked(question))
        terminal.tell([narrator.understood(question, host or f"{len(end.evidence)} texts", made)])
        for look in end.evidence:
            terminal.tell(narrator.look(look))
    _conclude(question, host, end, terminal, as_json=as_json)
    return end


def _conclude(
    question: Question, host: str | None, end: Judged, terminal: Terminal, *, as_json: bool
) -> None:
    from bot import narrator
    from bot.report import report

    if as_json:
        typer.echo(
            json.dumps(
                report(host, question.text, end.verdict, end.evidence), ensure_ascii=False, indent=1
            )
        )
        return
    terminal.tell(narrator.deployed(host, str(end.deployment)))
    terminal.tell(narrator.verdict(end.verdict))


def _keep(path: Path | None, host: str | None, question: Question, end: Judged) -> None:
    if path is None:
        return
    from tools.case import Case

    try:
        path.write_text(
            Case.of(host, question.text, "captured", end.evidence).dump(), encoding="utf-8"
        )
    except OSError as why:
        raise ToolsError(f"{path} cannot be written: {why.strerror}.") from None


def _question(text: str | None, file: Path | None) -> str:
    if text is not None and file is not None:
        raise typer.BadParameter("give --question or --question-file, not both")
    return _text_of(file).strip() if file else text or ""


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as why:
        raise ToolsError(f"{path} cannot be read: {why.strerror}.") from None


def main() -> None:
    """Run the command: 0 a verdict, 2 the command was wrong, 3 the host could not be asked."""
    try:
        app()
    except HostError as why:
        say_error(str(why))
        sys.exit(3)
    except ToolsError as why:
        say_error(str(why))
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has gone; there is nobody to tell
        sys.exit(0)
