"""A dry run beside a real engine: it comes to what the engine itself runs with, and touches nothing of it."""

from __future__ import annotations

import json

from tests.lab.sshd import descendants
from tests.real_engine.conftest import KEY
from tests.real_engine.engine import RealEngine
from tools.engine.argument_trace import ArgumentTrace
from tools.evidence import ask
from tools.hosts.local import LocalHost
from tools.probes.argument_trace import TraceArguments

_OWN = {"random_seed", "nccl_port", "api_key", "admin_api_key"}  # drawn anew, or kept on the host


def test_it_ends_with_what_the_engine_itself_says_it_runs_with(engine: RealEngine) -> None:
    before = descendants(engine.process.pid)
    (look,) = ask(LocalHost(), [TraceArguments(port=engine.port)])
    found = look.facts
    assert isinstance(found, ArgumentTrace), look.trouble
    assert look.output is not None
    assert KEY not in look.output.stdout
    assert found.stopped is None
    assert found.refused == ()
    said = json.loads(engine.ask("GET", "/server_info")[1])
    names = [name for name in found.resolved if name in said and name not in _OWN]
    assert len(names) > 300
    pairs = {name: (found.resolved[name], said[name]) for name in names}
    differ = {
        name: (ours, theirs)
        for name, (ours, theirs) in pairs.items()
        if ours != theirs and theirs != "<redacted>" and "<dropped>" not in str(ours)
    }
    assert differ == {}
    assert [one for one in found.writes if one.field == "sampling_backend" or one.source]
    assert set(descendants(engine.process.pid)) <= set(before)
    assert engine.ask("GET", "/v1/models")[0] == 200
