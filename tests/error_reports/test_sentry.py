"""Error reports: a receiver on loopback gets the kind and the place of an error, and no value."""

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import structlog

from backend.core.errors import CannotStart
from backend.core.logs import lines
from backend.core.settings import Settings
from backend.error_reports import sentry
from backend.error_reports.scrubbing import scrubbed

SECRET = "postgresql://owner:5ecret@db/signum"


class Receiver:
    """The bodies that Sentry would receive."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                receiver.bodies.append((gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode())
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.dsn = f"http://key@127.0.0.1:{self.server.server_address[1]}/1"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    sentry.stop()
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def test_logged_error_is_reported_without_values(receiver: Receiver) -> None:
    sentry.start(Settings(sentry_dsn=receiver.dsn), "test")
    lines.request_id.set("request-7")
    password = "5ecret"
    try:
        raise RuntimeError(f"cannot reach {SECRET} with {password}")
    except RuntimeError as error:
        structlog.get_logger().error("work.failed", exc_info=error, url=SECRET)
    sentry.stop()
    lines.request_id.set(None)
    events = [json.loads(line) for body in receiver.bodies for line in body.splitlines() if '"exception"' in line]
    [found] = events[0]["exception"]["values"]
    assert found["type"] == "RuntimeError"
    assert found["stacktrace"]["frames"][-1]["function"] == "test_logged_error_is_reported_without_values"
    assert events[0]["tags"] == {"role": "test", "event": "work.failed", "request_id": "request-7"}
    assert "5ecret" not in "".join(receiver.bodies)


def test_warnings_are_not_reported(receiver: Receiver) -> None:
    sentry.start(Settings(sentry_dsn=receiver.dsn), "test")
    structlog.get_logger().warning("work.refused", exc_info=RuntimeError("no"))
    sentry.stop()
    assert receiver.bodies == []


def test_event_is_reduced_to_names_of_code() -> None:
    event = {
        "event_id": "1",
        "message": SECRET,
        "request": {"url": SECRET, "headers": {"authorization": SECRET}},
        "user": {"email": "ada@example.com"},
        "extra": {"x": SECRET},
        "server_name": "host",
        "exception": {
            "values": [
                {
                    "type": "KeyError",
                    "value": SECRET,
                    "stacktrace": {"frames": [{"function": "f", "vars": {"p": SECRET}, "context_line": SECRET}]},
                }
            ]
        },
    }
    sent = scrubbed(event)
    assert sent["exception"]["values"][0]["stacktrace"]["frames"] == [{"function": "f"}]
    assert set(sent) == {"event_id", "exception"}
    assert "5ecret" not in json.dumps(sent)


def test_invalid_dsn_is_named_without_its_value() -> None:
    with pytest.raises(CannotStart, match="SENTRY_DSN: This is not a DSN of Sentry"):
        sentry.start(Settings(sentry_dsn="https://5ecret.example"), "test")


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    with pytest.raises(CannotStart, match="the extra `sentry`"):
        sentry.start(Settings(sentry_dsn="https://key@sentry.example/1"), "test")
