"""`kill -9` during a delivery: the next start sends the same event again, and waiting deliveries are not lost."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from tests.server.test_serve import CHECKOUT, Serve

pytestmark = pytest.mark.long

PASSWORD = "correct horse battery"


class SlowReceiver(ThreadingHTTPServer):
    """Responds only on command."""

    daemon_threads = True

    def __init__(self) -> None:
        self.came: list[tuple[dict[str, str], bytes]] = []
        self.may_answer, self.first = Event(), Event()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    """One request of such a server."""

    server: SlowReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.came.append(({k.lower(): v for k, v in self.headers.items()}, body))
        self.server.first.set()
        self.server.may_answer.wait(60)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def slow_receiver() -> Iterator[SlowReceiver]:
    """Listens in a separate thread."""
    server = SlowReceiver()
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.may_answer.set()
    server.shutdown()
    server.server_close()


def bootstrap(home: Path) -> str:
    """The first organization; its id."""
    words = ["--organization", "Acme", "--email", "admin@example.com", "--name", "Admin", "--password", PASSWORD]
    done = subprocess.run(
        [sys.executable, "-m", "backend.cli", "bootstrap", *words],
        cwd=CHECKOUT,
        env={"SIGNUM_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = re.search(r"\(([0-9a-f-]{36})\)", done.stdout)
    assert found, done.stdout
    return found.group(1)


class Admin:
    """The first admin, over the network."""

    def __init__(self, serve: Serve, organization: str) -> None:
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{serve.port}/v1", timeout=60, trust_env=False)
        body = {"email": "admin@example.com", "password": PASSWORD}
        token = self._http.post("/auth/login", json=body).json()["access_token"]
        self._http.headers["authorization"] = f"Bearer {token}"
        self._base = f"/orgs/{organization}/webhooks"

    def call(self, method: str, path: str = "", json: Any = None) -> Any:
        """Path below the organization's webhooks."""
        answer = self._http.request(method, self._base + path, json=json)
        assert answer.status_code < 400, answer.text
        return answer.json()


def test_delivery_killed_while_sending_is_sent_again_as_the_same_event(
    tmp_path: Path, slow_receiver: SlowReceiver
) -> None:
    home = tmp_path / "data"
    serve = Serve(home)
    serve.ready()
    organization = bootstrap(home)
    admin = Admin(serve, organization)
    url = f"http://127.0.0.1:{slow_receiver.server_port}/"
    end = admin.call("POST", json={"url": url})
    dead = admin.call("POST", json={"url": "http://127.0.0.1:1024/"})
    delivery = admin.call("POST", f"/{end['id']}/test")
    admin.call("POST", f"/{dead['id']}/test")

    def log(of: dict[str, Any]) -> Any:
        return admin.call("GET", f"/{of['id']}/deliveries")["deliveries"][0]

    assert slow_receiver.first.wait(30)
    serve.wait(lambda: log(dead)["attempt"] >= 1)
    serve.end(signal.SIGKILL)
    assert len(slow_receiver.came) == 1
    slow_receiver.may_answer.set()

    serve = Serve(home)
    serve.ready()
    admin = Admin(serve, organization)
    serve.wait(lambda: log(end)["status"] == "succeeded")
    serve.wait(lambda: len(log(dead)["attempts"]) >= 2)
    (first, body), (second, again) = slow_receiver.came
    assert first["webhook-id"] == second["webhook-id"] == delivery["event_id"]
    assert body == again
    assert Webhook(end["secret"]).verify(again, second) == json.loads(body)
    assert log(end)["attempt"] == 1
    assert serve.end(signal.SIGTERM) == 0
