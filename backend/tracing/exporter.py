"""The export of spans to a collector (OTLP over HTTP)."""

from typing import Any

from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.settings import Settings
from backend.tracing.spans import Tracing

SERVICE = "signum"
MISSING = "SIGNUM_TRACES_URL needs OpenTelemetry's exporter: install Signum with the extra `tracing`."


def start(settings: Settings, role: str) -> None:
    """Start exporting where a collector is set. `role` is that of the process. Raises CannotStart without packages."""
    if settings.traces_url is None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    except ImportError as error:
        raise CannotStart(MISSING) from error
    sampler = ParentBased(TraceIdRatioBased(settings.traces_sample_rate))
    resource: Any = Resource.create({"service.name": SERVICE, "signum.role": role})
    provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.traces_url, timeout=5)))
    tracing = runtime.part(Tracing)
    tracing.provider, tracing.tracer = provider, provider.get_tracer(SERVICE)


def stop() -> None:
    """Export queued spans, and stop."""
    tracing = runtime.part(Tracing)
    if tracing.provider is not None:
        tracing.provider.shutdown()
    tracing.provider = tracing.tracer = None
