"""What an idle server costs: CPU, and statements to PostgreSQL."""

import re
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import psycopg

from backend.core.connections.embedded import outside_url

SECONDS = 60.0
EXECUTED = re.compile(rb"duration: [0-9.]+ ms  (?:statement|execute)")
"""A line of PostgreSQL's log. The extended protocol also writes one for parsing a statement and one for its values."""
SETTLED = 15.0
"""Seconds after the start or a change of PostgreSQL's settings that are not counted."""


def cpu(pids: Iterable[int]) -> float:
    """Return the percentage of a core that these processes use."""
    time.sleep(SETTLED)
    before = _used(pids)
    time.sleep(SECONDS)
    return (_used(pids) - before) / SECONDS * 100


def _used(pids: Iterable[int]) -> float:
    """Return the seconds of CPU that living processes have used."""
    times = [psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)]
    return float(sum(one.user + one.system for one in times))


def statements(home: Path) -> float:
    """Return how many statements PostgreSQL executes a second, by its log."""
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
                return len(EXECUTED.findall(file.read())) / SECONDS
        finally:
            owner.execute("alter system reset log_min_duration_statement")
            owner.execute("select pg_reload_conf()")
