"""What a person may type after a command of bot/cli.py: arguments and options, each with its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Question = Annotated[
    str, typer.Argument(metavar="TEXT", help="What is wrong, what it does now and did before.")
]
Explained = Annotated[
    bool | None,
    typer.Option(
        "--explain/--no-explain",
        help="Let a model of hosts.toml explain the verdict; default: if one is set up.",
        show_default=False,
    ),
]
CaseFile = Annotated[
    Path, typer.Argument(metavar="CASE", help="A file that capture or --save wrote.")
]
AskedHost = Annotated[
    str, typer.Argument(metavar="HOST[:PORT]", help="A name of hosts.toml, or one that ssh knows.")
]
OneOfTwo = Annotated[str, typer.Argument(help="HOST[:PORT], a case file, a folder, or FILE,FILE.")]
OfTheServer = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=1, max=65535, help="Of the server on both hosts."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, not the story.")]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Keep the looks as a case file.")
]
Charts = Annotated[
    Path | None,
    typer.Option(
        "--charts", metavar="FOLDER", help="Draw the step, the load and the log there, as PNG."
    ),
]
HostName = Annotated[
    str | None,
    typer.Option("--host", metavar="NAME[:PORT]", help="The host, if the text does not name it."),
]
AskedText = Annotated[
    str | None, typer.Option("--question", metavar="TEXT", help="What you want to know.")
]
AskedFile = Annotated[
    Path | None,
    typer.Option("--question-file", metavar="FILE", help="A file that holds the question."),
]
Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Files, or - for stdin.")]
To = Annotated[
    Path | None,
    typer.Option("--to", "-o", metavar="FILE", help="Where to; default HOST.case.json."),
]
Hosts = Annotated[
    list[str] | None, typer.Argument(metavar="HOST", help="Default: all of hosts.toml.")
]
Http = Annotated[
    str | None,
    typer.Option(
        "--http", metavar="HOST:PORT", help="Take signed HTTP requests there, not Socket Mode."
    ),
]
InSlack = Annotated[
    bool, typer.Option("--slack", help="On a local page that looks like Slack, with the real bot.")
]
PagePort = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=65535, help="Of that page, on 127.0.0.1; default: any."),
]
Named = Annotated[str | None, typer.Argument(metavar="NAME", help="One of them, in full.")]
Cases = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folders with question.txt, evidence/, expected.json.")
]
WithAgent = Annotated[
    bool,
    typer.Option("--agent", help="Judge once more with the models of hosts.toml, and compare."),
]
WithFollowup = Annotated[
    bool,
    typer.Option("--followup", help="Hand out followup/ too, in the cases that have it."),
]
OtherJudge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="COMMAND",
        help="Judge with another program too: {question}, {files}, {dir} are filled in.",
    ),
]
