"""A dry run of the argument resolution: what it notes, what it may not, and what never comes out of it."""

from __future__ import annotations

import ctypes
import errno
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.lab.engine import SITE, Engine
from tests.provenance.engines import source
from tests.provenance.hosts import ARGS, PACKAGE, boxed_python, write
from tools.engine.argument_trace import ArgumentTrace
from tools.evidence import ask
from tools.hosts.local import LocalHost
from tools.probes import PROBES
from tools.probes.argument_trace import TraceArguments

SECRETS = ("lab-secret-that-nobody-may-see", "hf_labSecretThatNobodyMaySee123")
GPU = {"gpu": "NVIDIA H100 80GB HBM3", "capability": (9, 0), "memory_mib": 81559, "gpus": 2}
TORCH = {
    "torch/__init__.py": "from torch import cuda, version\n",
    "torch/version.py": "cuda, hip = '12.8', None\n",
    "torch/cuda.py": "def _lazy_init(): open('/dev/nvidia0')\n",
}
Run = Callable[..., ArgumentTrace]


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Engine]]:
    """Starts the lab's server with the engine that tries everything; all end with the test."""
    monkeypatch.chdir(tmp_path)  # the server's own folder, which the resolver tries to write to
    found: list[Engine] = []

    def start(*more: str, boxed: bool = False) -> Engine:
        inside = tmp_path / ("inside" if boxed else "site")
        shutil.copytree(SITE, inside)
        shutil.copytree(SITE.parent / "server", tmp_path / "server")
        write(inside, {**PACKAGE, **TORCH, ARGS: source("dry")})
        own: dict[str, Any] = {"site": tmp_path / "site"}
        if boxed:
            (tmp_path / "site").mkdir()
            own["python"] = boxed_python(tmp_path)
        found.append(Engine(tmp_path, more=more, **own))
        return found[-1]

    yield start
    for one in found:
        one.stop()


@pytest.fixture
def run(started: Callable[..., Engine]) -> Run:
    def call(*more: str, gpu: dict[str, Any] = GPU, boxed: bool = False) -> ArgumentTrace:
        engine = started(*more, boxed=boxed)
        (look,) = ask(LocalHost(), [TraceArguments(port=engine.port, **gpu)])
        assert isinstance(look.facts, ArgumentTrace), look.trouble
        assert look.output is not None
        assert not [secret for secret in SECRETS if secret in look.output.stdout]
        return look.facts

    return call


def test_every_write_is_noted_in_order_with_the_line_that_made_it(run: Run) -> None:
    found = run()
    assert found.stopped is None
    text = source("dry").splitlines()
    told = [(one.field, one.places[0][:2]) for one in found.writes]
    wanted = [
        ("served_model_name", "self.served_model_name = self.api_key"),
        ("attention_backend", "self.attention_backend ="),
        ("chunked_prefill_size", "self.chunked_prefill_size = "),
        ("page_size", "self.page_size = 64"),
        ("cuda_graph_config", "self.cuda_graph_config = GraphConfig()"),
        ("cuda_graph_config.decode.max_bs", "self.cuda_graph_config.decode.max_bs ="),
        ("max_running_requests", "_resolved_overrides.append"),
        ("errors", "self.errors = "),
    ]
    lines = [(name, next(n for n, row in enumerate(text, 1) if part in row)) for name, part in wanted]  # fmt: skip
    assert told == [(name, (ARGS, line)) for name, line in lines]
    declared = next(one for one in found.writes if one.field == "max_running_requests")
    assert (declared.source, declared.old, declared.new) == ("a_rule", None, 48)
    assert declared.places[1][2] == "__post_init__"
    assert (found.asked["tp_size"], found.asked["page_size"]) == (2, None)
    assert (found.resolved["page_size"], found.resolved["max_running_requests"]) == (64, 48)


def test_what_is_asked_of_the_gpu_is_answered_from_what_is_known_and_said_to_be(run: Run) -> None:
    found = run()
    assert found.resolved["chunked_prefill_size"] == 8192
    assert found.resolved["cuda_graph_config"]["decode"]["max_bs"] == 2
    assert [one.partition(",")[0] for one in found.pretended] == [
        "nvidia-smi's memory.total", "the compute capability", "the count of GPUs",
    ]  # fmt: skip
    assert all(f"{ARGS}:" in one for one in found.pretended)


def test_the_kernel_refuses_machine_code_devices_network_files_and_programs(
    run: Run, tmp_path: Path
) -> None:
    tried = run().resolved["errors"]
    reading = tried.pop("reading")
    refused = errno.EACCES if ctypes.CDLL(None).syscall(444, None, 0, 1) > 0 else 0
    assert tried.pop("terminals") == refused, "refused where the kernel has Landlock"
    assert reading == 0, "it may read what the server may"
    assert tried.pop("ioctl") == errno.ENOTTY
    assert tried == dict.fromkeys(tried, errno.EACCES)
    assert len(tried) == 8
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("trial", "why", "asked"),
    [
        ("opens", "PermissionError", "device file /dev/nvidia0"),
        ("starts", "Refused", "GPU (torch.cuda was to be started)"),
        ("counts", "Refused", "the GPU's multi_processor_count"),
    ],
)
def test_what_wants_the_gpu_itself_ends_there_and_is_told(
    run: Run, trial: str, why: str, asked: str
) -> None:
    found = run("--trial", trial)
    assert found.stopped is not None
    assert (found.stopped.why, found.stopped.stage) == (why, "while the arguments were resolved")
    line = next(n for n, row in enumerate(source("dry").splitlines(), 1) if f"def _{trial}(" in row)
    assert found.stopped.at == f"{ARGS}:{line + 1}"
    assert found.refused == (f"{asked}, asked at {ARGS}:{line + 1}",)
    assert len(found.writes) == 8, "what was written before is kept"


def test_without_facts_of_a_gpu_none_is_pretended(run: Run) -> None:
    found = run(gpu={})
    assert found.stopped is not None
    assert "nvidia-smi" in found.refused[0]
    assert not found.pretended


def test_the_words_of_an_exception_stay_on_the_host(run: Run) -> None:
    found = run("--trial", "says")
    assert found.stopped is not None
    assert found.stopped.why == "ValueError"


def test_a_key_that_is_copied_into_a_field_that_may_be_told_is_dropped_there(run: Run) -> None:
    values = run().resolved
    told = [values[name] for name in ("api_key", "served_model_name", "attention_backend")]
    assert told == ["<dropped>"] * 3


def test_a_text_of_a_field_that_no_list_names_is_dropped(run: Run) -> None:
    assert run().resolved["note"] == "<dropped>"


def test_a_server_with_a_file_system_of_its_own_is_entered(run: Run) -> None:
    found = run(boxed=True)
    assert found.stopped is None
    assert found.resolved["errors"]["gpu"] == errno.EACCES


def test_no_device_is_opened_and_no_socket_made_as_strace_sees_it(
    started: Callable[..., Engine], tmp_path: Path
) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed here")
    engine = started()
    command = TraceArguments(port=engine.port, **GPU).command()
    seen = tmp_path / "seen"
    calls = "trace=open,openat,socket,connect,bind,execve"
    done = subprocess.run(
        ["strace", "-f", "-z", "-e", calls, "-o", seen, *command.argv], input=command.stdin,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if not done.stdout:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()[-200:]}")
    assert json.loads(done.stdout)["stopped"] is None
    rows = seen.read_text(errors="replace").splitlines()
    assert sum("execve(" in row for row in rows) >= 2, "the dry run itself was watched"
    assert not [row for row in rows if "/dev/nvidia" in row or "/dev/dri" in row]
    assert not [row for row in rows if "AF_INET" in row or "bind(" in row]


def working_in(folder: Path) -> list[bytes]:
    """The command lines of all processes whose working directory a folder is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_bytes())
    return found


def test_one_that_hangs_is_ended_and_nothing_of_it_is_left(
    started: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = started("--trial", "hangs")
    command = TraceArguments(port=engine.port, **GPU).command()
    text = command.stdin.replace("_LIMIT_S = 100", "_LIMIT_S = 3")
    done = subprocess.run(command.argv, input=text, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"failed": "it was not done within 3 s and was ended"}
    assert not [words for words in working_in(tmp_path) if b"'trace'" in words]


def test_no_table_of_questions_holds_it() -> None:
    assert TraceArguments not in PROBES.values()
