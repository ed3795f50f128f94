"""The metrics of this process, and their text. No label names an organization or a person."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.metrics.collectors import LogCollector, PoolCollector, ReplicaCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counters of this process; the facts of the installation are in `backend.metrics.facts`."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        for make in (ProcessCollector, PlatformCollector, GCCollector):
            make(registry=self.registry)
        self.registry.register(PoolCollector())
        self.registry.register(LogCollector())
        self.registry.register(ReplicaCollector())
        self.requests = Counter(
            "signum_http_requests", "Requests to the API.", ["method", "route", "status"], registry=self.registry
        )
        self.durations = Histogram(
            "signum_http_request_duration_seconds",
            "Seconds until the response of the API was sent.",
            ["method", "route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "signum_http_requests_in_flight", "Requests that the API is answering.", registry=self.registry
        )
        self.deliveries = Counter(
            "signum_webhook_attempts",
            "Attempts to deliver a webhook, by result: succeeded, refused (an error status) or failed (no answer).",
            ["result"],
            registry=self.registry,
        )
        self.ready = Gauge("signum_ready", "1 if this process is ready, else 0.", registry=self.registry)
        for result in ("succeeded", "refused", "failed"):
            self.deliveries.labels(result)

    def text(self) -> bytes:
        """Return the metrics of this process in Prometheus' text format."""
        self.ready.set(int(readiness().is_ready))
        return bytes(generate_latest(self.registry))


def metrics() -> Metrics:
    """Return the metrics of this process."""
    return runtime.part(Metrics)
