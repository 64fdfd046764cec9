"""The perfsleuth command: its arguments; what it does is in bot/commands.py, loaded when it is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from bot import ending
from bot.arguments import (
    AsJson,
    AskedFile,
    AskedHost,
    AskedText,
    CaseFile,
    Cases,
    Charts,
    Explained,
    Files,
    HostName,
    Hosts,
    Http,
    InSlack,
    Named,
    OfTheServer,
    OneOfTwo,
    OtherJudge,
    PagePort,
    Question,
    Save,
    To,
    WithAgent,
    WithFollowup,
)
from bot.bench.arguments import bench
from bot.health.arguments import health
from bot.keeping.arguments import export, tidy
from bot.source.arguments import explain_flag, list_flags
from bot.trying.arguments import try_change, tune
from bot.whatif.arguments import whatif

app = typer.Typer(
    name="perfsleuth",
    help="Ask why an LLM server is slow. It looks at the host, read-only, and says what is proven, "
    "what it costs, what to do, and what it could not see. Begin with: perfsleuth demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(short_help="Ask about a host, in your own words.")
def ask(
    text: Question,
    host: HostName = None,
    save: Save = None,
    charts: Charts = None,
    as_json: AsJson = False,
) -> None:
    """Ask about a host: "don't leave perf on the table on CT129"."""
    from bot import commands

    commands.ask(text, host, save, charts, as_json=as_json)


@app.command(short_help="Judge what is in files.")
def diagnose(
    files: Files,
    question: AskedText = None,
    question_file: AskedFile = None,
    save: Save = None,
    charts: Charts = None,
    as_json: AsJson = False,
    explain: Explained = None,
) -> None:
    """Judge what is in files: serve logs, nvidia-smi, lspci, kernel logs, arguments.

    Each file is recognised by its content, never by its name; gzip, docker, kubectl and journal
    wrappers are taken off.
    """
    from bot import commands, given

    if question is not None and question_file is not None:
        raise typer.BadParameter("give --question or --question-file, not both")
    asked = given.text_of(question_file).strip() if question_file else question or ""
    commands.diagnose(files, asked, save, charts, as_json=as_json, explained=explain)


@app.command(short_help="Judge a case file again.")
def replay(
    case: CaseFile,
    question: AskedText = None,
    charts: Charts = None,
    as_json: AsJson = False,
    explain: Explained = None,
) -> None:
    """Judge a case file again, with the parsers and rules of today."""
    from bot import commands

    commands.replay(case, question, charts, as_json=as_json, explained=explain)


@app.command(short_help="Set two hosts, cases or sets of files side by side.")
def compare(
    a: OneOfTwo,
    b: OneOfTwo,
    question: AskedText = None,
    port: OfTheServer = None,
    as_json: AsJson = False,
) -> None:
    """Compare two servers: who is faster, what differs, ranked by what it costs, and what that explains.

    A and B are each a host (as hosts.toml or ssh names it, with :PORT where it has several
    servers), a case file, a folder of files, or files joined by commas. Hosts are asked at the
    same time, read-only. A host of hosts.toml goes before a file of that name; ./NAME is the file.
    """
    from bot import commands

    commands.compare((a, b), question or "", port, as_json=as_json)


@app.command(short_help="Keep all answers of a host in one file.")
def capture(host: AskedHost, to: To = None) -> None:
    """Ask a host everything and keep it as one case file without secrets, to send to a colleague."""
    from bot import commands

    commands.capture(host, to or Path(f"{host.replace('/', '_')}.case.json"))


@app.command(short_help="Tell the CT129 story.")
def demo(
    as_json: AsJson = False, charts: Charts = None, slack: InSlack = False, port: PagePort = None
) -> None:
    """Tell the CT129 story from a shipped, synthetic case: no key, no network, no GPU.

    With --slack: a small page on this machine, on which the bot is asked as in Slack.
    """
    from bot import commands

    if slack:
        if as_json or charts:
            raise typer.BadParameter("--slack goes with neither --json nor --charts")
        commands.demo_in_slack(port or 0)
        return
    if port is not None:
        raise typer.BadParameter("--port goes with --slack")
    commands.demo(charts, as_json=as_json)


@app.command(short_help="Say what is set up and what is missing.")
def doctor(hosts: Hosts = None) -> None:
    """Say what is configured, what is missing, and what each host lets us see."""
    from bot.doctor import examine

    if not examine(hosts or []):
        raise typer.Exit(3)


@app.command("bot", short_help="Be the bot in Slack.")
def slack_bot(http: Http = None) -> None:
    """Be the bot in Slack until it is told to end; docs/slack.md is the set-up, doctor checks it.

    It takes SLACK_BOT_TOKEN and SLACK_APP_TOKEN from the environment, or SLACK_SIGNING_SECRET
    instead of the latter with --http.
    """
    from bot import commands

    commands.bot(http)


@app.command("eval", short_help="Judge cases whose answers are known.")
def evaluate(
    folder: Cases,
    agent: WithAgent = False,
    followup: WithFollowup = False,
    judge: OtherJudge = None,
    as_json: AsJson = False,
) -> None:
    """Judge cases whose answers are known, and count: right categories and causes, false alarms, time.

    With --agent: turns, tokens, money, and sentences of the model that did not stand in the
    evidence and so were not shown. docs/benchmark.md says how a case is made.
    """
    from bot import commands

    commands.evaluate(folder, agent=agent, followup=followup, judge=judge, as_json=as_json)


@app.command(short_help="List every question that can be asked.")
def probes(name: Named = None, as_json: AsJson = False) -> None:
    """List the read-only questions that can be put to a host, with the commands they run."""
    from bot.contents import probes_text

    typer.echo(probes_text(name, as_json=as_json))


@app.command(short_help="List every hypothesis that is judged.")
def rules(name: Named = None, as_json: AsJson = False) -> None:
    """List the hypotheses that are judged, and what each needs to know."""
    from bot.contents import rules_text

    typer.echo(rules_text(name, as_json=as_json))


app.command(short_help="Look at every host, lightly.")(health)
app.command(short_help="Say what a deployment would give.")(whatif)
app.command(short_help="Measure a server under our own load.")(bench)
app.command(short_help="Say which line of the engine's source set a flag.")(explain_flag)
app.command("try", short_help="Try a change: restart, measure, keep or take back.")(try_change)
app.command(short_help="Try what is predicted to help, one by one.")(tune)
app.command(short_help="Write kept cases into files.")(export)
app.command(short_help="Remove what was over long ago.")(tidy)
app.command("flags", short_help="List the flags of an installed engine.")(list_flags)


def main() -> None:
    """Run the command and end with its status: 0 a verdict, 2 it was wrong, 3 no host, 130 Ctrl-C."""
    sys.exit(ending.of(app))
