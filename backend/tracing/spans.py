"""Spans. Without a tracer, which `backend.tracing.exporter` starts, every function here does nothing.

OpenTelemetry is an optional dependency: only its API, which the workflow engine brings, is imported here, and only
where there is a tracer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from backend.core.logs import lines
from backend.core.runtime import runtime

TRACEPARENT = "traceparent"
"""W3C's header, and the argument of a request that carries the trace to its workflow."""


@dataclass
class Tracing:
    """The tracer of this process; None without traces."""

    tracer: Any = None
    provider: Any = None


_current: ContextVar[Any] = ContextVar("current_span", default=None)


class _Nothing:
    """A span that is not recorded."""

    def set_attribute(self, _name: str, _value: Any) -> None:
        """Do nothing."""

    def update_name(self, _name: str) -> None:
        """Do nothing."""


NOTHING = _Nothing()


@contextmanager
def root(name: str, parent: str | None, kind: str = "SERVER", **attributes: Any) -> Iterator[Any]:
    """Open a span that continues the trace of a `traceparent`, or begins a new one."""
    tracer = runtime.part(Tracing).tracer
    if tracer is None:
        yield NOTHING
        return
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({TRACEPARENT: parent} if parent else {})
    with _opened(tracer, name, kind, context, attributes) as span:
        yield span


@contextmanager
def span(name: str, kind: str = "INTERNAL", **attributes: Any) -> Iterator[Any]:
    """Open a span inside the current one. Without one, work is not traced: the indexer calls chains all the time."""
    outer, tracer = _current.get(), runtime.part(Tracing).tracer
    if outer is None or tracer is None:
        yield NOTHING
        return
    from opentelemetry import trace

    with _opened(tracer, name, kind, trace.set_span_in_context(outer), attributes) as opened:
        yield opened


@contextmanager
def _opened(tracer: Any, name: str, kind: str, context: Any, attributes: dict[str, Any]) -> Iterator[Any]:
    from opentelemetry.trace import SpanKind, Status, StatusCode

    opened = tracer.start_span(name, context=context, kind=SpanKind[kind], attributes=attributes)
    identity = opened.get_span_context()
    before, traced = _current.set(opened), lines.trace_id.set(f"{identity.trace_id:032x}")
    try:
        yield opened
    except Exception as error:
        # Not its message, which may contain values of a person.
        opened.set_status(Status(StatusCode.ERROR, type(error).__name__))
        raise
    finally:
        lines.trace_id.reset(traced)
        _current.reset(before)
        opened.end()


def carried() -> dict[str, str]:
    """Return the current trace as an argument of a request, for its workflow; empty without one."""
    current = _current.get()
    if current is None:
        return {}
    identity = current.get_span_context()
    flags = int(identity.trace_flags)
    return {TRACEPARENT: f"00-{identity.trace_id:032x}-{identity.span_id:016x}-{flags:02x}"}
