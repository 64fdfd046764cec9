"""Spans of what is done; they cost nothing until OTEL_EXPORTER_OTLP_ENDPOINT is set. OpenTelemetry's only door."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tools.errors import ToolsError

ENDPOINT = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_Value = str | int
_start: Callable[[str, Mapping[str, _Value]], AbstractContextManager[Any]] | None = None


class TracesError(ToolsError):
    """Traces are asked for, and cannot be sent."""


@contextmanager
def span(name: str, **told: _Value) -> Iterator[None]:
    """Trace what is done inside; it holds names and numbers, never what a host said."""
    if _start is None:
        yield
        return
    with _start(name, {f"perfsleuth.{key}": value for key, value in told.items()}):
        yield


def begin(environ: Mapping[str, str] = os.environ) -> Callable[[], None]:
    """Trace from now on where an endpoint is set; return what sends the rest at the end.

    Everything else is OpenTelemetry's own variables. Raises TracesError where its library is missing.
    """
    global _start
    if not any(environ.get(name) for name in ENDPOINT):
        return _nothing
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise TracesError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and its library is missing: "
            "install perfsleuth[traces], or unset it."
        ) from None
    named = {"service.name": environ.get("OTEL_SERVICE_NAME") or "perfsleuth"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("perfsleuth")

    def start(name: str, told: Mapping[str, _Value]) -> AbstractContextManager[Any]:
        # What an exception says may hold what a host printed.
        return tracer.start_as_current_span(
            name, attributes=told, record_exception=False, set_status_on_exception=False
        )

    def end() -> None:
        global _start
        _start = None
        provider.shutdown()

    _start = start
    return end


def _nothing() -> None:
    return
