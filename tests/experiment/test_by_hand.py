"""What a person types where nobody could bring the old server back: real names, and the keeper's own commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.experiment.by_hand import by_hand
from bot.experiment.record import Record
from tests.experiment.pretend import proposal
from tools.change import HeldBy, Server, Status
from tools.host import Output
from tools.probes.launcher import ReadLauncher

GOLDEN = Path(__file__).parents[1] / "golden/ReadLauncher"


def record(launcher: str, held: HeldBy, *steps: str) -> Record:
    seen = Status(name="n", fence=1, state="lost", old=Server(), steps=steps) if steps else None
    made = proposal(launcher=launcher, held_by=held)
    return Record(
        run=1, name="n", fence=1, phase="needs_person", proposal=made, began_at=0, seen=seen
    )


def lines(launcher: str, held: HeldBy, *steps: str) -> list[str]:
    return [one.text for one in by_hand(record(launcher, held, *steps))]


@pytest.mark.parametrize(
    ("situation", "launcher", "says"),
    [
        (
            "systemd_system_unit",
            "systemd",
            (
                "rm -f /run/systemd/system/sglang.service.d/95-perfsleuth-trial.conf",
                "systemctl daemon-reload; systemctl reset-failed sglang.service; systemctl start sglang.service",
            ),
        ),
        (
            "docker_unless_stopped",
            "docker",
            ("docker rename sglang-perfsleuth-old sglang; docker start sglang",),
        ),
        (
            "compose_service",
            "compose",
            ("compose -p ", "up -d --no-deps --force-recreate "),
        ),
        ("plain_nohup", "plain", ("python -m sglang.launch_server --max-running-requests 2",)),
    ],
)
def test_the_commands_have_the_names_that_were_seen(
    situation: str, launcher: str, says: tuple[str, ...]
) -> None:
    seen = ReadLauncher().read(Output(stdout=(GOLDEN / f"{situation}.out").read_text()))
    told = "\n".join(lines(launcher, HeldBy.of(seen)))
    for one in says:
        assert one in told
    assert "ss -ltnp 'sport = :30000'" in told
    for placeholder in ("UNIT", "CONTAINER", "None"):
        assert placeholder not in told


def test_a_unit_of_a_user_is_told_as_that_user_s() -> None:
    told = lines("systemd", HeldBy(unit="sglang.service", owner=1000))
    assert "rm -f /run/user/1000/systemd/user/sglang.service.d/95-perfsleuth-trial.conf" in told
    assert told[-1].startswith("systemctl --user daemon-reload")


def test_what_the_keeper_told_comes_before_what_we_would_say() -> None:
    told = lines(
        "docker", HeldBy(runtime="docker", container="sglang"),
        "12:00:01 starting the old server again", "12:00:09 by hand: docker start sglang-7",
    )  # fmt: skip
    assert told[0] == "12:00:01 starting the old server again"
    assert told[-2:] == ["Bring the old server back:", "docker start sglang-7"]


def test_without_names_the_old_command_line_is_told() -> None:
    told = lines("systemd", HeldBy())
    assert told[-1] == "python -m sglang.launch_server --max-running-requests 2"
