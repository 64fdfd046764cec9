"""The arguments of `perfsleuth whatif`; what it does is in command.py, loaded when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Count = Annotated[int | None, typer.Option(metavar="N", min=1)]
Switch = Annotated[str | None, typer.Option(metavar="on|off")]
Today = Annotated[
    str | None,
    typer.Argument(metavar="[HOST]", help="Start from what is seen there; a host or a case file."),
]
ConfigFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The model's config.json, or its folder.")
]
Format = Annotated[
    str | None, typer.Option(metavar="FORMAT", help="bf16, fp8, int4, awq, nvfp4, mxfp4; or auto.")
]
CacheFormat = Annotated[str | None, typer.Option(metavar="FORMAT", help="Of the KV cache: fp8.")]
Card = Annotated[str | None, typer.Option(metavar="NAME", help='As it is sold: "RTX A6000".')]
Copies = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Copies; ranks with --dp-attention.")
]
Groups = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Groups of GPUs with whole experts.")
]
Sent = Annotated[
    str | None, typer.Option(metavar="on|off", help="Experts are sent their own tokens (DeepEP).")
]
Steps = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=64, help="Draft forwards of a verify; 0 none.")
]
Drafts = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=1024, help="Tokens that a verify checks.")
]
Accepted = Annotated[
    float | None, typer.Option(metavar="X", min=1, max=64, help="Tokens that a step yields.")
]
Generation = Annotated[int | None, typer.Option(metavar="G", min=1, max=5, help="1 to 5.")]
Width = Annotated[int | None, typer.Option(metavar="W", min=1, max=16, help="Lanes, 1 to 16.")]
Wires = Annotated[
    str | None, typer.Option(metavar="on|off|KIND", help='"nvlink3_bridge", "nvlink4", ...')
]
Load = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=100_000, help="Sequences at a time.")
]
Tokens = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=100_000_000, help="Of each sequence.")
]
Claim = Annotated[
    float | None, typer.Option(metavar="TOK_S", min=0.001, help="Say whether this rate can be.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, not the table.")]


def whatif(
    host: Today = None,
    model_config: ConfigFile = None,
    dtype: Format = None,
    kv_dtype: CacheFormat = None,
    gpu: Card = None,
    tp: Count = None,
    dp: Copies = None,
    dp_attention: Switch = None,
    ep: Groups = None,
    all_to_all: Sent = None,
    spec_steps: Steps = None,
    draft_tokens: Drafts = None,
    accept_len: Accepted = None,
    pcie_gen: Generation = None,
    pcie_width: Width = None,
    p2p: Switch = None,
    nvlink: Wires = None,
    custom_all_reduce: Switch = None,
    batch: Load = None,
    context: Tokens = None,
    cuda_graph: Switch = None,
    overlap: Switch = None,
    claim: Claim = None,
    as_json: AsJson = False,
) -> None:
    """Say what a deployment would give: a step in ms, tokens per second, and where the time goes.

    From a config.json and the name of a GPU alone; or from a host, a case or files, and then today
    beside the change. Each figure is low, middle and high. docs/physics.md says how far to trust it.
    """
    from bot.whatif import options
    from bot.whatif.command import run
    from tools.physics.wanted import Wanted

    wanted = Wanted(
        dtype=options.known_format(dtype),
        kv_dtype=kv_dtype,
        gpu=options.gpu_called(gpu) if gpu is not None else None,
        tp=tp,
        dp=dp,
        dp_attention=options.switch("--dp-attention", dp_attention),
        ep=ep,
        all_to_all=options.switch("--all-to-all", all_to_all),
        spec_steps=spec_steps,
        draft_tokens=draft_tokens,
        accept_len=accept_len,
        pcie_gen=pcie_gen,
        pcie_width=pcie_width,
        p2p=options.switch("--p2p", p2p),
        nvlink=nvlink,
        custom=options.switch("--custom-all-reduce", custom_all_reduce),
        batch=batch,
        context=context,
        graph=options.switch("--cuda-graph", cuda_graph),
        overlap=options.switch("--overlap", overlap),
    )
    run(host, model_config, wanted, claim, as_json=as_json)
