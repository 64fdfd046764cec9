"""Read the server's Prometheus page twice; arguments: seconds between, and the port or nothing.

Goes after find_server.py and ask_server.py. Buckets but those of waiting times, comments but for types,
and what is not the engine's are left out: they are nine tenths of the page.
"""

# ruff: noqa: F821
TIMES = (
    "time_to_first_token_seconds",
    "inter_token_latency_seconds",
    "time_per_output_token_seconds",
    "queue_time_seconds",
)


def _lean(text):
    keep = []
    for line in text.splitlines()[:50000]:
        own = line.startswith(("sglang:", "vllm:", "# TYPE sglang:", "# TYPE vllm:"))
        name, bucket, _ = line.partition("_bucket{")
        own = own and (not bucket or name.endswith(TIMES))
        if own and "_created{" not in line and "http_re" not in line:
            keep.append(line[:2000])
    return "\n".join(keep)


def metrics(seconds, port):
    """Return both readings and the time between them."""
    first = ask(port, "/metrics")
    if "text" not in first:
        engine = (first.get("server") or {}).get("engine")
        if "absent" in first and engine == "sglang":
            return {"absent": "the server exports no metrics; start it with --enable-metrics"}
        return {key: first[key] for key in ("absent", "failed") if key in first}
    began = time.monotonic()
    time.sleep(seconds)
    status, text = _get(first["address"], first["port"], "/metrics")
    window = time.monotonic() - began
    told = {"first": _lean(first["text"])}
    if status == 200:
        told.update(second=_lean(text), window_s=round(window, 3))
    return told


_port = sys.argv[2] if len(sys.argv) > 2 else ""
say(metrics(min(float(sys.argv[1]), 30.0), int(_port) if _port.isdigit() else None))
