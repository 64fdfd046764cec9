"""The bot's own health: what a monitor reads, and that nothing listens unless it is asked for."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot import log, traces
from bot.pulse.alive import Alive
from bot.pulse.metrics import KIND, Metrics
from bot.pulse.port import Port, PulseError
from bot.pulse.pulse import Pulse
from bot.store import Store
from bot.tally import Tally


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(f"sqlite:///{tmp_path}/store.sqlite", executor="bot-0")
    yield store
    store.close()


def get(port: Port, path: str) -> tuple[int, str, str]:
    address = f"http://127.0.0.1:{port.number}{path}"
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as why:
        return why.code, why.headers["Content-Type"], why.read().decode()


def test_healthz_says_in_one_sentence_what_is_wrong() -> None:
    alive, wrong = Alive(), [""]
    port = Port(("127.0.0.1", 0), alive)
    try:
        assert get(port, "/healthz")[::2] == (503, "The bot is starting.\n")
        alive.watch((("It", lambda: wrong[0]),))
        assert get(port, "/healthz?now")[::2] == (200, "ok\n")
        wrong[0] = "Slack is not connected; the connection is made anew."
        assert get(port, "/healthz")[::2] == (503, wrong[0] + "\n")
        assert get(port, "/livez")[0] == 200  # no reason to restart it
        assert get(port, "/")[0] == 404
    finally:
        port.close()


def test_a_check_that_hangs_holds_nobody_up() -> None:
    let, asked = threading.Event(), list[int]()

    def hangs() -> str:
        asked.append(1)
        let.wait(60)
        return ""

    alive = Alive(within_s=0.05)
    alive.watch((("The database", hangs),))
    assert alive.sentence() == alive.sentence() == "The database did not answer within 0.05 s."
    assert len(asked) == 1  # one thread waits for it
    let.set()


def test_a_port_that_is_taken_is_told(store: Store) -> None:
    first = Port(("127.0.0.1", 0), Alive())
    try:
        with pytest.raises(PulseError, match=r"PERFSLEUTH_METRICS: 127\.0\.0\.1:\d+ cannot be"):
            Port(("127.0.0.1", first.number), Alive())
    finally:
        first.close()


def test_the_pulse_of_a_bot_tells_store_slack_loop_and_queue(store: Store) -> None:
    office: Any = SimpleNamespace(
        replica=SimpleNamespace(store=store, beating=True),
        door=SimpleNamespace(stands=True),
        jobs=SimpleNamespace(alive=True),
    )

    async def story() -> list[tuple[int, str]]:
        pulse, said = Pulse(("127.0.0.1", 0)), []
        assert pulse.port is not None
        pulse.of(office, asyncio.get_running_loop())

        async def ask() -> None:
            assert pulse.port is not None
            status, _, text = await asyncio.to_thread(get, pulse.port, "/healthz")
            said.append((status, text.split(":")[0].split(";")[0].strip()))

        await ask()
        office.door.stands = False
        await ask()
        office.door.stands, office.jobs.alive = True, False
        await ask()
        office.jobs.alive, office.replica.beating = True, False
        await ask()
        metrics = await asyncio.to_thread(get, pulse.port, "/metrics")
        assert metrics[0] == 200
        assert "perfsleuth_store_up 1.0" in metrics[2]
        pulse.close()
        return said

    assert asyncio.run(story()) == [
        (200, "ok"),
        (503, "Slack is not connected"),
        (503, "No work is taken up"),
        (503, "This replica is silent"),
    ]
    assert Pulse(None).port is None


def test_metrics_count_what_the_store_and_the_process_know(store: Store) -> None:
    for number, (state, category) in enumerate(
        [("done", "hardware"), ("done", "hardware"), ("failed", None), ("waiting", None)]
    ):
        run = store.runs.add(f"k{number}", "host", host="a", channel="C", thread="1", user="U")
        assert run is not None
        if state != "waiting":
            store.runs.end(run.id, state, category=category)  # type: ignore[arg-type]
    store.ledger.take("2026-11-30", 1200, 0.5)
    store.replicas.beat("w")
    tally = Tally()
    tally.slack_trouble("throttled")
    tally._timed("answered", 0.3)
    tally._timed("answered", 50.0)
    text = Metrics(store.counts, tally).text().decode()
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["perfsleuth_runs_total", "done", "host"] == 2
    assert found["perfsleuth_runs_open", "host", "waiting"] == 1
    assert found["perfsleuth_verdicts_total", "hardware"] == 2
    assert found["perfsleuth_model_tokens_total",] == 1200
    assert found["perfsleuth_model_usd_total",] == 0.5
    assert found["perfsleuth_slack_errors_total", "throttled"] == 1
    assert found["perfsleuth_look_seconds_bucket", "0.25", "answered"] == 0
    assert found["perfsleuth_look_seconds_bucket", "0.5", "answered"] == 1
    assert found["perfsleuth_look_seconds_bucket", "45", "answered"] == 1
    assert found["perfsleuth_look_seconds_bucket", "+Inf", "answered"] == 2
    assert found["perfsleuth_look_seconds_count", "answered"] == 2
    assert found["perfsleuth_replicas",] == 1
    assert "0.0.4" in KIND


def test_without_the_store_the_rest_is_told(store: Store) -> None:
    text = Metrics(_Gone(), Tally()).text().decode()
    assert "perfsleuth_store_up 0.0" in text
    assert "perfsleuth_runs" not in text


class _Gone:
    def now(self) -> Any:
        from bot.store import StoreError

        raise StoreError("The database does not answer.")


def test_a_json_log_names_the_run_and_holds_no_secret() -> None:
    lines, handler = [], logging.StreamHandler()
    handler.emit = lambda record: lines.append(log.OneObject().format(record))  # type: ignore[method-assign]
    logger = logging.getLogger("perfsleuth.test_json")
    logger.addHandler(handler)
    logger.propagate = False
    with log.of_run(17):
        logger.warning("token xoxb-1234567890-abcdefghijkl of\n%s", "a host")
    try:
        raise ValueError("xoxb-1234567890-abcdefghijkl")
    except ValueError:
        logger.exception("it fell")
    first, second = map(json.loads, lines)
    assert (first["run"], first["level"], first["logger"]) == (
        17,
        "WARNING",
        "perfsleuth.test_json",
    )
    assert "run" not in second
    assert second["message"].startswith("it fell [ValueError in test_a_json_log")
    assert "abcdefghijkl" not in "".join(lines)
    assert "\n" not in lines[0]


def test_spans_are_sent_where_an_endpoint_is_set_and_hold_no_text_of_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    got: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
    end = traces.begin({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    try:
        with pytest.raises(ValueError, match="secret"), traces.span("host", run=17, host="CT129"):
            raise ValueError("secret")
    finally:
        end()
        server.shutdown()
        thread.join()
        server.server_close()
    sent = b"".join(got)
    assert b"CT129" in sent
    assert b"perfsleuth.run" in sent
    assert b"secret" not in sent


def test_without_an_endpoint_nothing_of_it_is_imported() -> None:
    import subprocess
    import sys

    script = "import sys; from bot import traces; traces.begin({}); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [name for name in loaded if name.startswith("opentelemetry")]
