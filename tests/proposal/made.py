"""A proposal as a person sees it, for tests."""

from __future__ import annotations

from typing import Any

from tools.change import Change, Edit, Identity, Predicted, Proposal

OLD = (
    "python3", "-m", "sglang.launch_server", "--model-path", "/models/Qwen3.6-27B", "--tp", "2", "--port", "30000",
    "--chunked-prefill-size", "2048", "--api-key", "***",
)  # fmt: skip
NEW = (*OLD[:9], *OLD[11:], "--chunked-prefill-size", "4096")


def proposal(host: str = "CT129", port: int = 30000, **more: Any) -> Proposal:
    told: dict[str, Any] = {
        "host": host,
        "port": port,
        "engine": "sglang",
        "version": "0.5.15",
        "model": "Qwen3.6-27B",
        "change": Change(set={"chunked_prefill_size": 4096}),
        "identity": Identity(
            pid=4242, started_ticks=99, boot_id="0b5c1f00-0000-4000-8000-000000000001", digest="a" * 64
        ),
        "launcher": "plain",
        "old": OLD,
        "new": NEW,
        "edits": (Edit(drop=("--chunked-prefill-size",), takes=1, add=("--chunked-prefill-size", "4096")),),
        "interrupts": ("3 requests run now.", "The last start took 84 s."),
        "predicted": Predicted(prefill_pct=(8.0, 14.0, 21.0), why="fewer, larger chunks"),
        "proofs": {"chunked_prefill_size": "chunked_prefill_size=4096"},
        "undo": "The old command line is started again.",
    }  # fmt: skip
    return Proposal(**(told | more))
