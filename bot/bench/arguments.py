"""The arguments of `perfsleuth bench`; what it does is in the files beside, loaded when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Where = Annotated[
    str | None,
    typer.Argument(metavar="HOST[:PORT]", help="A name of hosts.toml, or one that ssh knows."),
]
OwnBurst = Annotated[
    bool, typer.Option("--burst", help="Seconds of our own load, with GPUs and cores watched.")
]
Pair = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--compare", metavar="A B", help="Result files, cases or folders of earlier runs."
    ),
]
Port = Annotated[
    int | None, typer.Option("--port", metavar="N", min=1, max=65535, help="Of the server.")
]
Seconds = Annotated[
    int, typer.Option("--seconds", metavar="N", min=5, max=15, help="Of the burst, at the most.")
]
Streams = Annotated[
    str, typer.Option("--streams", metavar="N,N", help="Counts of requests at once; 8 at the most.")
]
Others = Annotated[
    int,
    typer.Option(
        "--others", metavar="N", min=0, max=8, help="Requests of others that may run meanwhile."
    ),
]
Runs = Annotated[int, typer.Option("--runs", metavar="N", min=1, max=40, help="One after another.")]
Requests = Annotated[
    int, typer.Option("--requests", metavar="N", min=1, max=256, help="Of each run.")
]
AtOnce = Annotated[int, typer.Option("--at-once", metavar="N", min=1, max=32, help="Of them.")]
Input = Annotated[
    int, typer.Option("--input-tokens", metavar="N", min=1, max=16384, help="Of each prompt.")
]
Output = Annotated[
    int, typer.Option("--output-tokens", metavar="N", min=2, max=4096, help="Of each answer.")
]
Judge = Annotated[
    bool, typer.Option("--judge", help="Look at the host too, and judge with what was measured.")
]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Keep the raw answers as a case file.")
]
Charts = Annotated[
    Path | None,
    typer.Option(
        "--charts", metavar="FOLDER", help="Draw links and clocks, or A and B, there, as PNG."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, not the story.")]


def bench(
    host: Where = None,
    burst: OwnBurst = False,
    compare: Pair = None,
    port: Port = None,
    seconds: Seconds = 10,
    streams: Streams = "1,4",
    others: Others = 0,
    runs: Runs = 3,
    requests: Requests = 16,
    at_once: AtOnce = 4,
    input_tokens: Input = 512,
    output_tokens: Output = 128,
    judge: Judge = False,
    save: Save = None,
    charts: Charts = None,
    as_json: AsJson = False,
) -> None:
    """Measure a server under bounded load of our own; it is begun only while nobody else is served.

    Without --burst the engine's own bench_serving runs on the host, in the server's environment, with
    random data that is fetched from nowhere. With --burst, streams of ours and one long prompt give step
    time, prefill rate and the links under load. --compare says whether two sets of runs differ.
    """
    if compare is not None:
        if host is not None or burst:
            raise typer.BadParameter("--compare takes files of earlier runs, and no host")
        from bot.bench.compared import compare as set_beside

        set_beside(compare, charts, as_json=as_json)
        return
    if host is None:
        raise typer.BadParameter("name a host, or two sets of runs with --compare")
    from bot.bench import measured

    if burst:
        load = (seconds, streams, others)
        measured.burst(host, port, load, save, charts, judged=judge, as_json=as_json)
        return
    sizes = {"requests": requests, "at_once": at_once, "input_tokens": input_tokens}
    sizes |= {"output_tokens": output_tokens, "others": others}
    if judge or charts:
        name = "--judge goes with --burst" if judge else "--charts goes with --burst or --compare"
        raise typer.BadParameter(name)
    measured.serving(host, port, runs, sizes, save, as_json=as_json)
