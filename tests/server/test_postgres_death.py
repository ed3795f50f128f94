"""The embedded PostgreSQL dies alone: the server starts it again, and accepted work continues."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from backend.core.connections.embedded import outside_url
from backend.server.postgres import EmbeddedPostgres
from tests.server.test_serve import Serve
from tests.support.scratch import scratch

__all__ = ["home"]
RESTARTED = 20.0
"""Seconds within which requests succeed again."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    while Serve.running:
        serve = Serve.running.pop()
        if serve.process.poll() is None:
            serve.end(signal.SIGTERM)


def postmaster(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().splitlines()[0])


def answers(home: Path) -> bool:
    with psycopg.connect(outside_url(home), connect_timeout=5) as connection:
        return connection.execute("select 1").fetchone() == (1,)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder whose server was killed."""
    home = scratch("postgres")
    server = EmbeddedPostgres(home / "pg")
    server.start()
    pid = postmaster(home / "pg")
    os.kill(pid, signal.SIGKILL)
    yield home / "pg"
    server.stop()


def named(folder: Path, pid: int) -> None:
    """Let the lock files that the killed server has left name another process."""
    for path in (folder / "postmaster.pid", folder / ".s.PGSQL.5432.lock"):
        _, *rest = path.read_text().splitlines(keepends=True)
        path.write_text("".join([f"{pid}\n", *rest]))


def test_start_after_a_kill_ignores_the_id_of_another_process(folder: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()", "postgres"], stdin=subprocess.PIPE)
    named(folder, other.pid)
    try:
        server = EmbeddedPostgres(folder)
        server.start()
        assert answers(folder.parent)
        server.stop()
        assert other.poll() is None
    finally:
        other.communicate(b"\n")


def test_start_after_a_kill_ignores_the_id_of_a_zombie(folder: Path) -> None:
    zombie = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    named(folder, zombie.pid)
    server = EmbeddedPostgres(folder)
    server.start()
    assert answers(folder.parent)
    server.stop()
    zombie.wait()


def sign_in(serve: Serve) -> httpx.Response:
    body = {"email": "stranger@example.com", "password": "wrong password"}
    return httpx.post(f"http://127.0.0.1:{serve.port}/v1/auth/login", json=body, timeout=60, trust_env=False)


@pytest.mark.long
def test_killed_postgres_is_started_again_and_requests_may_be_retried(home: Path) -> None:
    serve = Serve(home)
    serve.ready()
    before = postmaster(home / "pg")
    os.kill(before, signal.SIGKILL)
    killed = time.monotonic()
    refused: list[tuple[int, str | None]] = []
    while (answer := sign_in(serve)).status_code != 401:
        refused.append((answer.status_code, answer.headers.get("retry-after")))
        time.sleep(0.1)
    assert time.monotonic() - killed < RESTARTED
    assert set(refused) <= {(503, "2")}
    assert postmaster(home / "pg") != before
    serve.ready()
    assert serve.end(signal.SIGTERM) == 0
    assert serve.left_behind() == []


@pytest.mark.long
def test_server_whose_postgres_hangs_is_not_ready(home: Path) -> None:
    serve = Serve(home)
    serve.ready()
    server = psutil.Process(postmaster(home / "pg"))
    stopped = [*server.children(), server]
    for process in stopped:
        process.suspend()
    try:
        serve.wait(lambda: serve.get("/v1/ready").status_code == 503, 20)
        began = time.monotonic()
        answer = serve.get("/v1/ready")
        assert time.monotonic() - began < 5
        assert (answer.status_code, answer.json()["faults"]) == (503, ["The database does not respond."])
        assert serve.get("/v1/health").status_code == 200
    finally:
        for process in reversed(stopped):
            process.resume()
    serve.ready()
