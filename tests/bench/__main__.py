"""`make bench`: start Signum on a separate data folder and measure it. Writes tests/bench/results.json
and its plot, tests/bench/results.svg.

`python -m tests.bench merkle_1m` measures one part alone (`start_cold`, `serve`, `markets`, `console`, `tabs_500`,
`api_calls`, `many_rows`, `webhooks_10k`, `move_100k`, `partitions`, `merkle_1m`); the others' figures stay.
Every line is `name, value, unit`, with `floor` (the same work without Signum) if there is one.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from backend.core.connections.embedded import outside_url
from tests.bench import cold_start, console, idle, many_transactions, markets, merkle, pages, plot, tabs

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
PORT = int(os.environ.get("BENCH_PORT", "8190"))
ORIGIN = f"http://localhost:{PORT}"


class Server:
    """A `signum serve` of the benchmark."""

    def __init__(self, home: Path) -> None:
        environment = os.environ | {"SIGNUM_HOME": str(home), "PORT": str(PORT), "SIGNUM_RATE_LIMITS": "off"}
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(Path(sys.executable).with_name("signum")), "serve"],
            cwd=CHECKOUT,
            env=environment,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait_for(self, path: str, seconds: float = 300) -> float:
        """Return the seconds from the start until a path answers 200."""
        while time.monotonic() - self.began < seconds:
            try:
                if httpx.get(f"{ORIGIN}{path}", follow_redirects=True, timeout=5).status_code == 200:
                    return time.monotonic() - self.began
            except httpx.TransportError:
                pass
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with {self.process.returncode}")
            time.sleep(0.02)
        raise SystemExit(f"{path} did not answer in {seconds} s")

    def memory(self) -> float:
        """Return the proportional set size of the server and its descendants, in MB."""
        return sum(_pss(pid) for pid in _tree(self.process.pid)) / 1024

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def _tree(root: int) -> set[int]:
    """Return the process, its descendants, and the PostgreSQL it started (which has left the tree)."""
    parents, found = {}, {root}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    home = _home_of(root)
    for pid in parents:
        if _mentions(pid, home):
            found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _home_of(pid: int) -> str:
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(e.partition(b"=")[2].decode() for e in environment if e.startswith(b"SIGNUM_HOME="))


def _mentions(pid: int, text: str) -> bool:
    try:
        return text in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return False


def _pss(pid: int) -> int:
    """In KB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def serve() -> list[dict[str, Any]]:
    """Measure starts, memory, and a market with its bridge."""
    rows: list[dict[str, Any]] = []

    def note(name: str, value: float, unit: str, limit: float) -> None:
        rows.append({"name": name, "value": round(value, 3), "unit": unit, "limit": limit})
        print(f"{name:<24}{value:10.2f} {unit:<4} (to be below {limit:g})")  # noqa: T201

    with tempfile.TemporaryDirectory(prefix="signum-bench-") as folder:
        home = Path(folder)
        first = Server(home)
        note("first_start_page", first.wait_for("/"), "s", 90)
        note("first_start_ready", first.wait_for("/v1/ready"), "s", 120)
        first.stop()
        second = Server(home)
        note("start_warm", second.wait_for("/"), "s", 5)
        second.wait_for("/v1/ready")
        time.sleep(5)
        note("idle_memory_pss", second.memory(), "MB", 900)
        note("idle_cpu", idle.cpu(_tree(second.process.pid)), "%", 1)
        note("idle_statements", idle.statements(home), "/s", 10)
        second.stop()
    return rows


@contextmanager
def _demo() -> Iterator[tuple[Server, Path]]:
    """A server with the demo, and its data folder."""
    with tempfile.TemporaryDirectory(prefix="signum-bench-") as folder:
        server = Server(Path(folder))
        try:
            server.wait_for("/v1/ready")
            yield server, Path(folder)
        finally:
            server.stop()


def _bytes(home: Path) -> int:
    """Return the size of the database, with what its updates have left behind."""
    with psycopg.connect(outside_url(home)) as connection:
        found = connection.execute("select pg_database_size(current_database())").fetchone()
    return int(found[0]) if found else 0


def against_a_script() -> list[dict[str, Any]]:
    """Measure a market with its bridge, a hundred concurrent markets, and many transfers and attestations; and how much
    the database grows by each transaction, with everything that is written about it."""
    rows = []
    with _demo() as (_, home):
        for measure in (
            markets.market_bridge,
            markets.markets_100,
            many_transactions.transfers_wallet,
            many_transactions.transfers_single,
            many_transactions.attest_1000,
        ):
            before = _bytes(home)
            row = measure(ORIGIN, home)
            stored = round((_bytes(home) - before) / row["transactions"])
            print(  # noqa: T201
                f"{row['name']:<24}{row['value']:10.2f} s    {row['transactions']} transactions; "
                f"{row['ratio_floor']:.1f} x the nodes alone, {row['value'] / row['peer']:.1f} x a bare script; "
                f"{stored} bytes each in the database"
            )
            rows += [row, {"name": f"bytes_{row['name']}", "value": stored, "unit": "bytes"}]
    return rows


def in_a_browser() -> list[dict[str, Any]]:
    """Measure the console's first load and events beside a bare Reflex page."""
    with _demo() as (_, home):
        rows = [*console.measure(ORIGIN, home), *pages.measure(home)]
    return _beside_a_bare_page(rows)


def with_many_tabs() -> list[dict[str, Any]]:
    """Measure five hundred open tabs beside as many of a bare Reflex page."""
    with _demo() as (server, home):
        rows = tabs.measure(home, lambda: _tree(server.process.pid), _pss)
    return _beside_a_bare_page(rows)


def _beside_a_bare_page(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for row in rows:
        ratio = f"{row['ratio_floor']:.2f} x a bare Reflex page"
        print(f"{row['name']:<24}{row['value']:10.1f} {row['unit']:<4} {ratio}")  # noqa: T201
    return rows


def with_many_rows() -> list[dict[str, Any]]:
    """Measure an organization with a million rows in each table beside one with a thousand."""
    os.environ["SIGNUM_RATE_LIMITS"] = "off"
    from tests.bench import many_rows  # it starts an API in this process

    return many_rows.measure()


def of_calls() -> list[dict[str, Any]]:
    """Measure calls of the API beside bare FastAPI."""
    os.environ["SIGNUM_RATE_LIMITS"] = "off"
    from tests.bench import api_calls  # it starts an API in this process

    return api_calls.measure()


def of_webhooks() -> list[dict[str, Any]]:
    """Measure ten thousand deliveries to a receiver on this machine."""
    os.environ |= {"SIGNUM_WEBHOOK_LOOPBACK": "1", "SIGNUM_RATE_LIMITS": "off"}
    from tests.bench import many_webhooks  # it starts an API in this process

    return many_webhooks.measure()


def of_moves() -> list[dict[str, Any]]:
    """Measure the move of an organization with a hundred thousand below it."""
    os.environ["SIGNUM_RATE_LIMITS"] = "off"
    from tests.bench import moves  # it starts an API in this process

    return moves.measure()


def of_partitions() -> list[dict[str, Any]]:
    """Measure tables that are partitioned beside the same ones that are not."""
    from tests.bench import partitions  # it starts an API in this process

    return partitions.measure()


def from_a_clone() -> list[dict[str, Any]]:
    """Measure the first start of a clone."""
    rows = cold_start.measure()
    for row in rows:
        print(f"{row['name']:<24}{row['value']:10.1f} s")  # noqa: T201
    return rows


PARTS = {
    "start_cold": from_a_clone,
    "serve": serve,
    "markets": against_a_script,
    "console": in_a_browser,
    "tabs_500": with_many_tabs,
    "api_calls": of_calls,
    "many_rows": with_many_rows,
    "webhooks_10k": of_webhooks,
    "move_100k": of_moves,
    "partitions": of_partitions,
    "merkle_1m": merkle.measure,
}


def main() -> None:
    """Measure the named parts, or all, and print the figures."""
    unknown = set(sys.argv[1:]) - set(PARTS)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for name in sys.argv[1:] or PARTS:
        _record(PARTS[name]())


def _record(rows: list[dict[str, Any]]) -> None:
    """Write rows into results.json, replacing earlier rows of the same names."""
    path, fresh = HERE / "results.json", {row["name"] for row in rows}
    kept = json.loads(path.read_text()) if path.exists() else []
    rows = [r for r in kept if r["name"] not in fresh] + rows
    path.write_text(json.dumps(rows, indent=2) + "\n")
    (HERE / "results.svg").write_text(plot.svg(rows))


if __name__ == "__main__":
    main()
