"""Over a real sshd, and with what else looks at a server: the keeper outlives the connection that began it."""

from __future__ import annotations

from pathlib import Path

from tests.change.engine import BOUNDS, KEY, keepers, stand_in, until
from tests.change.held import TWO
from tests.lab.sshd import Lab, answers, wait_for
from tools.change.keeper import Keeper
from tools.evidence import ask
from tools.hosts.local import LocalHost
from tools.hosts.ssh import SshHost
from tools.measure.load import Load, put
from tools.probes.launch import ReadLaunch
from tools.probes.metrics import ReadMetrics
from tools.probes.server_info import ReadServerInfo
from tools.probes.server_log import ReadServerLog


def test_it_is_the_same_over_ssh(lab: Lab, tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        host = SshHost("lab", config_file=lab.config)
        keeper = Keeper(host, server.port)
        assert keeper.begin(server.proposal(TWO), "e1", 1).state == "armed"
        keeper.stop()
        until(keeper, "stopped")
        host.close()
        lab.sshd.kill()
        wait_for(lambda: not answers(lab.sshd.port), "sshd lives on")
        assert len(keepers(server.port)) == 2
        lab.sshd.start()
        after = SshHost("lab", config_file=lab.config)
        again = Keeper(after, server.port, name="e1", fence=1)
        again.start()
        until(again, "ready")
        assert server.info()["max_running_requests"] == 2
        again.restore()
        until(again, "restored")
        assert server.start() == before
        after.close()


def test_without_ssh_the_old_server_comes_back_by_itself(lab: Lab, tmp_path: Path) -> None:
    with stand_in(tmp_path, "--max-running-requests", "64") as server:
        before = server.start()
        host = SshHost("lab", config_file=lab.config)
        keeper = Keeper(host, server.port)
        keeper.begin(
            server.proposal(TWO, bounds=BOUNDS.model_copy(update={"silence_s": 6.0})), "e1", 1
        )
        keeper.stop()
        until(keeper, "stopped")
        host.close()
        lab.sshd.kill()
        try:
            wait_for(lambda: bool(server.pids()) and server.serves(), "nothing brings it back")
            assert server.start() == before
        finally:
            lab.sshd.start()


def test_the_probes_and_a_burst_take_the_stand_in_for_a_server(tmp_path: Path) -> None:
    with stand_in(
        tmp_path, "--max-running-requests", "64", "--enable-metrics", "--tp", "2"
    ) as server:
        port = server.port
        probes = [
            ReadLaunch(port=port),
            ReadServerInfo(port=port),
            ReadMetrics(port=port),
            ReadServerLog(port=port),
        ]
        found = ask(LocalHost(), probes)
        assert [
            one.trouble
            for one in found
            if one.trouble and not isinstance(one.probe, ReadServerInfo)
        ] == []
        assert "API key" in found[1].trouble, "it wants a key for that, as the real one does"
        launch = found[0].facts.model_dump()  # type: ignore[union-attr]
        assert (launch["flags"]["max_running_requests"], launch["flags"]["tp_size"]) == (64, 2)
        assert launch["log_path"] == str(server.log)
        assert KEY not in "".join(one.output.stdout for one in found if one.output)
        burst = put(Load(port=port, seconds=5, streams=(1, 4)), LocalHost())[0]
        assert not burst.trouble, burst.trouble
        decode = burst.facts.model_dump()["decode"]  # type: ignore[union-attr]
        assert [one["streams"] for one in decode] == [1, 4]
