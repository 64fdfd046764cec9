"""A --config file: what it gives is overridden, or left out of a copy; the file itself is never touched."""

from __future__ import annotations

from pathlib import Path

from tests.change.engine import keepers, on_host, stand_in, until
from tests.lab.sshd import wait_for
from tools.change import Edit

CONFIG = "# flags of the house\nmodel-path: /models/x\nmax_running_requests: 5\nchunked-prefill-size: 4096\ncuda-graph-bs:\n  - 1\n  - 2\n'random_seed': 7\napi-key: {key}\n"


def test_a_flag_of_a_config_file_is_overridden_or_left_out_of_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    text = CONFIG.replace("cuda-graph-bs:\n  - 1\n  - 2\n", "").format(key="a-key-of-the-file")
    file.write_text(text)
    file.chmod(0o640)
    copy = tmp_path / "serve.perfsleuth.yaml"
    with stand_in(tmp_path, "--config", "serve.yaml", key="") as server:
        server.key = "a-key-of-the-file"
        before = server.start()
        assert server.info()["max_running_requests"] == 5
        over = Edit(drop=("--max-running-requests",), add=("--max-running-requests", "2"))
        gone = (
            Edit(drop=("--max-running-requests",)),
            Edit(drop=("--config",), add=("--config", "serve.perfsleuth.yaml")),
        )
        for edits, most in (((over,), 2), (gone, 64)):
            keeper = server.keeper()
            status = keeper.begin(server.proposal(*edits), "e1", 1)
            assert status.state == "armed", status.trouble
            assert not copy.exists()
            keeper.stop()
            until(keeper, "stopped")
            keeper.start()
            until(keeper, "ready")
            assert server.info()["max_running_requests"] == most
            assert server.info()["random_seed"] == 7 if most == 2 else True
            assert copy.exists() == (most == 64)
            if most == 64:
                assert copy.stat().st_mode & 0o777 == 0o640
                assert copy.read_text() == text.replace("max_running_requests: 5\n", "")
            keeper.restore()
            until(keeper, "restored")
            assert server.start() == before
            assert file.read_text() == text
            assert not copy.exists()
            keeper.dismiss()
            wait_for(lambda: not keepers(server.port), "the keeper does not leave")
        copy.write_text("of somebody else")
        status = server.keeper().begin(server.proposal(*gone), "e1", 1)
        assert status.trouble
        assert "is there already" in status.trouble.sentence
        assert copy.read_text() == "of somebody else"


def test_only_the_named_keys_leave_a_yaml(tmp_path: Path) -> None:
    without = on_host("identity", "argv_edit", "keeper_start", "keeper_launcher", "keeper_config")[
        "without"
    ]
    text = CONFIG.format(key="k")
    assert without(text, {"cuda_graph_bs", "random_seed"}) == text.replace(
        "cuda-graph-bs:\n  - 1\n  - 2\n'random_seed': 7\n", ""
    )
    assert without(text, {"nothing"}) == text
