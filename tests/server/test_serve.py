"""`signum serve` as an operator sees it: refused starts, stops, and the state after a kill."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import httpx
import psycopg
import pytest

from backend.core import data_folder
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.demo import year_cast
from backend.server import glibc
from tests.support.night import NIGHT
from tests.support.server import free_port

CHECKOUT = Path(__file__).resolve().parents[2]
TRADES = 3 + sum(len(buyers) for *_, buyers in year_cast.TRADES)
"""Of the demo: its present and its year."""


class Serve:
    """One `signum serve` on a data folder and port. It is stopped at the end of the test."""

    running: ClassVar[list["Serve"]] = []

    def __init__(self, home: Path, checkout: Path = CHECKOUT, **environment: str) -> None:
        self.home, self.port = home, int(environment.get("PORT") or free_port())
        environment = {**NIGHT, "SIGNUM_HOME": str(home), "SIGNUM_DEMO": "0", **environment, "PORT": str(self.port)}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")} | environment
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backend.cli", "serve"],
            cwd=checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(self)

    def get(self, path: str, **options: Any) -> httpx.Response:
        # Without TLS: `ready` asks often, and to read the certificates each time takes longer than the answer.
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=60, trust_env=False, verify=False, **options)

    def wait(self, until: Callable[[], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"it ended: {self.process.stdout.read() if self.process.stdout else ''}")
            try:
                if until():
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"not in {seconds} s")

    def ready(self) -> None:
        self.wait(lambda: self.get("/v1/ready").status_code == 200)

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def left_behind(self) -> list[str]:
        """Return command lines of processes that still name the data folder."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_text().split("\0")
                except OSError:
                    continue
                if any(str(self.home) in word for word in words):
                    found.append(" ".join(words))
        return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    while Serve.running:
        serve = Serve.running.pop()
        if serve.process.poll() is None:
            serve.end(signal.SIGTERM)


def signum(**environment: str) -> subprocess.CompletedProcess[str]:
    """A `signum serve` that is expected to stop with an error."""
    return subprocess.run(
        [sys.executable, "-m", "backend.cli", "serve"],
        cwd=CHECKOUT,
        env={k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def refusal(serve: Serve) -> str:
    """Return the one line of a server that cannot start."""
    output, _ = serve.process.communicate(timeout=60)
    assert serve.process.returncode == 1
    lines = [line for line in output.splitlines() if line.startswith("signum: ")]
    assert len(lines) == 1, output
    assert "Traceback" not in output
    return lines[0]


def open_to_others(home: Path) -> list[str]:
    """Return the files and folders of the data folder that another user can access, and the files with a wrong
    owner."""
    found = []
    for path in [home, *home.rglob("*")]:
        state = path.lstat()
        if (stat.S_ISDIR(state.st_mode) or stat.S_ISREG(state.st_mode)) and state.st_mode & 0o077:
            found.append(f"{path.relative_to(home)} {stat.S_IMODE(state.st_mode):o}")
        if path.name in ("secret.key", "demo.json", "password") and state.st_uid != os.geteuid():
            found.append(f"{path.relative_to(home)} of {state.st_uid}")
    return found


def test_home_files_readable_by_others_are_made_private(home: Path) -> None:
    """A folder of an earlier version, or a copied one."""
    (home / "chains").mkdir(parents=True, mode=0o755)
    (home / "chains" / "40161.json").write_text("{}")
    (home / "chains" / "40161.json").chmod(0o644)
    (home / "chains" / "anvil").write_text("#!/bin/sh")
    (home / "chains" / "anvil").chmod(0o755)
    beside = home.parent / "beside"
    beside.write_text("")
    beside.chmod(0o644)
    (home / "outside").symlink_to(beside)
    home.chmod(0o755)
    before = os.umask(0o022)
    try:
        data_folder.prepare(home)
        (home / "new").write_text("")
    finally:
        os.umask(before)
    assert open_to_others(home) == []
    assert os.access(home / "chains" / "anvil", os.X_OK), "programs in it can still be run"
    assert beside.stat().st_mode & 0o777 == 0o644, "a link's target is untouched"


@pytest.mark.long
def test_port_in_use_is_reported_in_one_line(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"Port {port} " in refusal(Serve(home, PORT=str(port)))


@pytest.mark.long
def test_silent_database_is_reported_in_one_line(home: Path) -> None:
    url = f"postgresql://stranger@127.0.0.1:{free_port()}/signum"
    assert "database" in refusal(Serve(home, DATABASE_URL=url))


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "value"), [("PORT", "eighty"), ("PORT", "70000"), ("SIGNUM_PROTOCOL_SHARE_BPS", "10001")]
)
def test_invalid_setting_is_reported_in_one_line(home: Path, setting: str, value: str) -> None:
    done = signum(SIGNUM_HOME=str(home), **{setting: value})
    assert done.returncode == 1
    assert done.stderr.startswith("signum: ")
    assert done.stderr.count("\n") == 1
    assert setting.removeprefix("SIGNUM_").lower() in done.stderr.lower()


@pytest.mark.parametrize(("found", "said"), [(None, "a different C library"), ("glibc 2.31", "this machine has 2.31")])
def test_missing_or_old_glibc_is_reported_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, found: str | None, said: str
) -> None:
    monkeypatch.setattr(os, "confstr", lambda name: found)
    with pytest.raises(CannotStart, match=said) as refused:
        glibc.check(Settings())
    assert "SIGNUM_RPC_URLS" in str(refused.value)


def test_glibc_is_not_checked_without_embedded_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "confstr", lambda name: None)
    glibc.check(Settings(database_url="postgresql://db.example/signum", rpc_urls={30101: "https://rpc.example"}))


def copied(to: Path) -> Path:
    """Return a checkout whose console is not built."""
    for name in ("app", "assets", "backend", "components", "reflex.lock", "state"):
        shutil.copytree(CHECKOUT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "rxconfig.py"):
        shutil.copy(CHECKOUT / name, to / name)
    return to


def running_in(folder: Path) -> list[str]:
    """Return the command lines of processes whose working directory is in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cwd").resolve().is_relative_to(folder):
                    found.append((entry / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.mark.long
@pytest.mark.parametrize(("number", "builder"), [(signal.SIGINT, "reflex"), (signal.SIGTERM, "react-router")])
def test_stop_during_the_build_of_the_console_ends_the_services_and_the_build(
    home: Path, tmp_path: Path, number: signal.Signals, builder: str
) -> None:
    """The services run beside the build, so that a first start creates the demo in the meantime."""
    sources = copied(tmp_path / "sources")
    serve = Serve(home, sources)
    said = iter(serve.process.stdout or ())
    assert any("leadership.taken" in line for line in said)
    serve.wait(lambda: any(builder in line for line in running_in(sources)))
    serve.process.send_signal(number)
    rest, _ = serve.process.communicate(timeout=60)
    assert (serve.process.returncode, "Traceback" in rest) == (0, False), rest
    assert serve.left_behind() == []
    assert running_in(sources) == []


@pytest.mark.long
def test_sigterm_stops_everything_and_a_second_server_is_refused(home: Path) -> None:
    first = Serve(home)
    first.ready()
    assert "already runs" in refusal(Serve(home))
    assert open_to_others(home) == [], "database, keys, chains and emails are readable by the operator only"
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "PATCH"}
    url = f"http://127.0.0.1:{first.port}/v1/orgs"
    preflight = httpx.options(url, headers=asked, timeout=60, trust_env=False)
    assert (preflight.status_code, preflight.headers["content-type"]) == (405, "application/problem+json")
    assert first.end(signal.SIGTERM) == 0
    assert first.left_behind() == []


@pytest.mark.nightly
def test_server_killed_during_the_demo_resumes_at_the_next_start(home: Path) -> None:
    """Killed twice during the creation of the demo, with database, workflows and chains: every part exists once."""
    for wanted in (3, 12):
        serve = Serve(home, SIGNUM_DEMO="1", SIGNUM_DEMO_HISTORY="0")
        serve.wait(lambda wanted=wanted: stored(home) >= wanted)
        serve.process.kill()
        serve.process.communicate(timeout=60)
    serve = Serve(home, SIGNUM_DEMO="1", SIGNUM_DEMO_HISTORY="0")
    serve.ready()
    demo = json.loads((home / "demo.json").read_text())
    assert (home / "demo.json").stat().st_mode & 0o777 == 0o600
    headers = {"x-api-key": demo["api_keys"]["full"]}
    base = f"/v1/orgs/{demo['organization_id']}"

    def listed(name: str) -> list[dict[str, Any]]:
        return list(serve.get(f"{base}/{name}?limit=100", headers=headers).json()[name])

    assert sorted(a["symbol"] for a in listed("assets")) == ["NHLT", "NIB31", "NREF"]
    assert {a["status"] for a in listed("assets")} == {"active"}
    assert [m["status"] for m in listed("markets")] == ["active"]
    assert sorted(b["status"] for b in listed("bridges")) == ["confirmed", "failed"]
    assert {r["status"] for r in listed("requests")} == {"succeeded", "failed", "awaiting_approval"}
    assert [a["status"] for a in listed("approvals")] == ["pending"]
    assert [(d["status"], d["claimed_recipients"]) for d in listed("distributions")] == [("active", 2)]
    assert [w["status"] for w in listed("webhooks")] == ["disabled"]
    market = listed("markets")[0]
    orders = serve.get(f"{base}/assets/{market['asset_id']}/markets/{market['id']}/orders", headers=headers)
    assert {o["status"] for o in orders.json()["orders"]} == {"open", "partial", "filled", "cancelled"}
    assert serve.end(signal.SIGINT) == 0
    assert serve.left_behind() == []


@pytest.mark.long
def test_server_killed_during_the_demos_year_continues_it(home: Path) -> None:
    """Killed three times: everything happened once, in order, and the chains agree."""
    for wanted in (20, 90, 150):
        serve = Serve(home, SIGNUM_DEMO="1", SIGNUM_RATE_LIMITS="off")
        serve.wait(lambda wanted=wanted: stored(home) >= wanted, 480)
        serve.process.kill()
        serve.process.communicate(timeout=60)
    serve = Serve(home, SIGNUM_DEMO="1", SIGNUM_RATE_LIMITS="off")
    serve.wait(lambda: serve.get("/v1/ready").status_code == 200, 480)
    command = [sys.executable, "-m", "backend.cli"]
    for check, words in ((["reconcile"], "0 differences"), (["audit", "verify"], "intact")):
        done = subprocess.run([*command, *check], env=serve.environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
        assert words in done.stdout
    with psycopg.connect(f"postgresql://postgres@/signum?host={home / 'pg'}") as connection:
        query = (
            "select a.seq from audit_log a join audit_log b using (organization_id) where a.seq < b.seq and a.at > b.at"
        )
        assert connection.execute(query).fetchall() == []
        query = "select count(*), count(distinct date_trunc('month', created_at)) from trades"
        trades, months = connection.execute(query).fetchone() or (0, 0)
    assert (trades, months >= 8) == (TRADES, True)
    assert serve.end(signal.SIGINT) == 0


def stored(home: Path) -> int:
    """Return how many transactions have been stored so far."""
    try:
        with psycopg.connect(f"postgresql://postgres@/signum?host={home / 'pg'}", connect_timeout=1) as connection:
            row = connection.execute("select count(*) from transactions where organization_id is not null").fetchone()
            return int(row[0]) if row else 0
    except psycopg.Error:
        return 0
