"""One trace from a request, through its workflow and steps, to the chain: read by a collector on loopback."""

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from backend.core.errors import CannotStart
from backend.core.logs import lines
from backend.core.settings import Settings
from backend.tracing import exporter, spans
from tests.conftest import World
from tests.support.issuance import SEPOLIA, Issuance, asset_body

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


class Collector:
    """Spans by name, as a collector receives them over OTLP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                sent = ExportTraceServiceRequest.FromString(body)
                collector.spans += [s for r in sent.resource_spans for o in r.scope_spans for s in o.spans]
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/traces"

    def of(self, trace: str) -> list[Any]:
        return [span for span in self.spans if span.trace_id.hex() == trace]


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = Thread(target=found.server.serve_forever)
    thread.start()
    exporter.start(Settings(traces_url=found.url), "test")
    yield found
    exporter.stop()
    found.server.shutdown()
    thread.join()
    found.server.server_close()


async def test_trace_leads_from_the_request_to_the_transaction(world: World, collector: Collector) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    sent_with = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    accepted = await firm.post("/assets", asset_body(SEPOLIA), headers=sent_with)
    await firm.succeed(accepted["requestId"])
    await asyncio.to_thread(exporter.stop)
    found = collector.of(TRACE)
    by_id = {span.span_id: span for span in found}

    def path(span: Any) -> list[str]:
        """Return the names from the request to a span."""
        above = by_id.get(span.parent_span_id)
        return [*(path(above) if above else []), span.name]

    sent = next(span for span in found if span.name == "rpc eth_sendRawTransaction")
    names = path(sent)
    assert names[0] == "POST /v1/orgs/{orgId}/assets"
    assert names[1].startswith("workflow asset.")
    assert names[2].startswith("step ")
    assert names[3:] == ["transaction", "rpc eth_sendRawTransaction"]
    first = next(span for span in found if span.name == names[0])
    assert first.parent_span_id.hex() == PARENT
    values = {a.key: a.value for span in found for a in span.attributes}
    assert values["signum.tx_hash"].string_value.startswith("0x")
    assert not any("secret" in str(span).lower() for span in found)


def test_malformed_traceparent_begins_a_trace_of_its_own(collector: Collector) -> None:
    with spans.root("GET", "not a traceparent"):
        begun = lines.trace_id.get()
    assert begun is not None
    assert int(begun, 16) > 0
    assert lines.trace_id.get() is None


def test_unsampled_caller_is_not_exported(collector: Collector) -> None:
    with spans.root("GET", f"00-{TRACE}-{PARENT}-00"):
        assert lines.trace_id.get() == TRACE
    exporter.stop()
    assert collector.of(TRACE) == []


def test_work_outside_a_request_is_not_traced(collector: Collector) -> None:
    with spans.span("rpc eth_blockNumber"):
        assert spans.carried() == {}
    exporter.stop()
    assert collector.spans == []


def test_without_a_collector_nothing_is_carried() -> None:
    with spans.root("GET", f"00-{TRACE}-{PARENT}-01"), spans.span("inner"):
        assert spans.carried() == {}


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(CannotStart, match="the extra `tracing`"):
        exporter.start(Settings(traces_url="http://127.0.0.1:1"), "test")
