"""One look at a host: what could not be seen of it is never told as fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.health.look import look_at
from bot.health.summary import summarise
from bot.settings import HostSettings, Settings
from tests.lab.engine import Engine
from tests.lab.sshd import Lab
from tools.hosts.ssh import SshHost


@pytest.mark.parametrize(
    ("mood", "state", "why"),
    [
        ("healthy", "seen", ""),
        ("no_gpu", "blind", "Its GPUs cannot be seen: the NVIDIA driver is not loaded in the running kernel"),
        ("hangs", "blind", "Its GPUs cannot be seen: nvidia-smi did not answer within"),
    ],
)  # fmt: skip
def test_a_server_whose_gpus_do_not_answer_needs_somebody(
    lab: Lab, tmp_path: Path, mood: str, state: str, why: str
) -> None:
    lab.mood(mood)
    server = Engine(tmp_path)
    try:
        known = Settings(hosts={"lab": HostSettings(ssh_config=lab.config, port=server.port)})
        seen = look_at("lab", SshHost("lab", config_file=lab.config), known)
    finally:
        server.stop()
    assert (seen.state, seen.why[: len(why)]) == (state, why)
    summary = summarise("2026-12-01", [seen], {})
    assert (summary.fine, [item.text for item in summary.items]) == (
        (1, []) if state == "seen" else (0, [seen.why])
    )
