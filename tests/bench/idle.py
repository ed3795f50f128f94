"""What an idle server costs: CPU, and statements to PostgreSQL."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil
import psycopg

from backend.core.connections.embedded import outside_url

SECONDS = 60.0
SETTLED = 15.0
"""Seconds after the start or a change of PostgreSQL's settings that are not counted."""


def measure(home: Path, pids: Iterable[int]) -> list[dict[str, Any]]:
    """Return the percentage of a core of these processes, and the statements of all connections a second."""
    time.sleep(SETTLED)
    before = _used(pids)
    time.sleep(SECONDS)
    percent = (_used(pids) - before) / SECONDS * 100
    return [_row("idle_cpu", percent, "%", 1), _row("idle_statements", _statements(home), "/s", 10)]


def _row(name: str, value: float, unit: str, limit: float) -> dict[str, Any]:
    print(f"{name:<24}{value:10.2f} {unit:<4} (to be below {limit:g})")  # noqa: T201
    return {"name": name, "value": round(value, 3), "unit": unit, "limit": limit}


def _used(pids: Iterable[int]) -> float:
    """Return the seconds of CPU that living processes have used."""
    times = [psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)]
    return float(sum(one.user + one.system for one in times))


def _statements(home: Path) -> float:
    """Count the statements in the log of PostgreSQL."""
    log = home / "pg" / "log"
    with psycopg.connect(outside_url(home), autocommit=True) as owner:
        owner.execute("alter system set log_min_duration_statement = 0")
        owner.execute("select pg_reload_conf()")
        try:
            time.sleep(SETTLED)
            begin = log.stat().st_size
            time.sleep(SECONDS)
            with log.open("rb") as file:
                file.seek(begin)
                return file.read().count(b"duration: ") / SECONDS
        finally:
            owner.execute("alter system reset log_min_duration_statement")
            owner.execute("select pg_reload_conf()")
