"""Raw answers of a server that can be restarted, as ReadLauncher brings them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.host import Output

GOLDEN = Path(__file__).parents[1] / "golden" / "ReadLauncher"
CT129 = (
    "/opt/sglang/venv/bin/python3", "-m", "sglang.launch_server", "--model-path", "/models/Qwen3.6-27B", "--host", "0.0.0.0",
    "--port", "30000", "--tp", "2", "--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3",
    "--disable-radix-cache", "--mem-fraction-static", "0.85", "--enable-metrics", "--api-key", "<dropped>",
)  # fmt: skip


def launcher(
    situation: str = "plain_nohup", argv: Sequence[str] = CT129, port: int = 30000, **more: Any
) -> Output:
    told = json.loads((GOLDEN / f"{situation}.out").read_text())
    told |= {"argv": list(argv), "port": port} | more
    return Output(stdout=json.dumps(told))
