"""Strangers hold resources open, and the server still responds: through the whole server, on real sockets."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from backend.server.request_guard import Limits
from tests.server.flood import Tab, handshake, health, held, slow_body, status
from tests.server.test_serve import Serve
from tests.support.scratch import scratch

pytestmark = [pytest.mark.long, pytest.mark.nightly]

DEADLINE = 1.0
"""Timeout of a health check, in seconds."""
MARK = "forged-by-a-stranger"
FORGED = "reflex___state____state.reflex___state____frontend_event_exception_state.handle_frontend_exception"
LIMITS = Limits()


@pytest.fixture(scope="module")
def server() -> Iterator[Serve]:
    """A server that all tests of this module attack."""
    serve = Serve(scratch("flooded"))
    serve.ready()
    yield serve
    if serve.process.poll() is None:
        serve.end(signal.SIGTERM)


def answers(server: Serve) -> None:
    """Health within its deadline; once more if this machine was busy."""
    found = [health(server.port) for _ in range(3)]
    assert {code for code, _ in found} == {200}
    assert min(seconds for _, seconds in found) < DEADLINE


@pytest.mark.parametrize("path", ["/v1/auth/login", "/v1/auth/factors/totp", "/v1/oauth/token"])
def test_large_bodies_of_strangers_are_refused_unread(server: Serve, path: str) -> None:
    """The first test: bodies of other tests can still count for a moment after their end."""
    with held(server.port, LIMITS.bodies_per_address // 2, slow_body(path, 1_000_000)) as connections:
        assert {status(connection) for connection in connections} == {401}


def test_health_responds_during_1024_idle_connections(server: Serve) -> None:
    with held(server.port, 1_024):
        answers(server)


def test_health_responds_during_1024_slow_bodies(server: Serve) -> None:
    with held(server.port, 1_024, slow_body()) as connections:
        answers(server)
        refused = [status(connection) for connection in connections[LIMITS.bodies_per_address :]]
    assert set(refused) == {429}


@pytest.mark.parametrize("path", ["/session", "/oauth/decide", "/v1/oauth/token", "/anything"])
def test_health_responds_during_slow_forms(server: Serve, path: str) -> None:
    with held(server.port, 200, slow_body(path)):
        answers(server)


def test_health_responds_during_1500_open_tabs(server: Serve) -> None:
    with ExitStack() as stack:
        tabs = [c for _ in range(15) for c in stack.enter_context(held(server.port, 100, handshake(str(uuid4()))))]
        answers(server)
        codes = [status(tab) for tab in tabs]
    assert codes.count(101) == LIMITS.strangers_per_address
    assert 200 not in codes


@pytest.fixture
def silent() -> Iterator[Serve]:
    """A server that no other test has used, and whose log is read."""
    serve = Serve(scratch("silent"))
    serve.ready()
    yield serve
    if serve.process.poll() is None:
        serve.end(signal.SIGTERM)


def test_socket_of_another_origin_is_refused(silent: Serve) -> None:
    own = f"http://localhost:{silent.port}"
    for origin, is_taken in (
        (own, True),
        ("https://evil.example", False),
        (f"https://localhost:{silent.port}", False),
        (f"http://localhost.evil.example:{silent.port}", False),
        ("null", False),
    ):
        with held(silent.port, 1, handshake(str(uuid4()), origin=origin)) as (tab,):
            assert (status(tab) == 101) is is_taken, origin


def test_input_of_strangers_writes_no_log_line(silent: Serve) -> None:
    serve = silent
    for number in range(20):
        with Tab(serve.port, str(uuid4()) if number else MARK) as tab:
            assert tab.status == 101
            tab.join()
            tab.event(FORGED, {"info": MARK, "component_stack": MARK})
            tab.emit("client_error", {"message": MARK, "error_type": MARK})
            tab.event("reflex___state____state.hydrate_and_load", {"vars": {MARK: 1}, "hashes": MARK})
            tab.event(MARK, {})
            tab.emit("event", MARK)
            tab.emit("event", {MARK: 1})
            tab.emit(MARK, MARK)
            tab.emit("ping", MARK)
            tab.emit("ping")
            tab.until("pong")
            tab.send(f"99{MARK}")
    for depth in (2_000, 70_000, 200_000):
        with Tab(serve.port, str(uuid4())) as tab, Tab(serve.port, str(uuid4())) as other:
            tab.join()
            tab.send('42/_event,["event",' + "[" * depth)
            other.join()
        assert health(serve.port)[0] == 200, "a deeply nested message does not end the server"
    serve.process.send_signal(signal.SIGTERM)
    output, _ = serve.process.communicate(timeout=60)
    assert MARK not in output
    assert "Traceback" not in output
    assert not [line for line in output.splitlines() if "warning" in line.lower() or "error" in line.lower()]
