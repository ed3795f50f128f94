"""What this process counts elsewhere, read at each scrape: connections to the database, and log lines."""

from collections.abc import Iterator
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.pool import QueuePool

from backend.core.connections.database import Pools
from backend.core.connections.pools import sizes
from backend.core.logs.lines import LEVELS, LineCounts
from backend.core.replica import Reads
from backend.core.runtime import runtime
from backend.core.settings import settings


class PoolCollector(Collector):
    """Connections of this process; the pools of all event loops together."""

    def collect(self) -> Iterator[Any]:
        """Yield the used and free connections of each pool, and its limit in one event loop."""
        used: dict[str, int] = dict.fromkeys(sizes().kept, 0)
        free = dict(used)
        for pools in runtime.loop_parts(Pools):
            for name, engine in list(pools.engines.items()):
                pool = engine.sync_engine.pool
                if isinstance(pool, QueuePool):
                    used[name] += pool.checkedout()
                    free[name] += pool.checkedin()
        found = GaugeMetricFamily(
            "signum_database_connections", "Connections to the database.", labels=["pool", "state"]
        )
        limit = GaugeMetricFamily(
            "signum_database_connections_limit", "Most connections of a pool in one event loop.", labels=["pool"]
        )
        for name in used:
            found.add_metric([name, "used"], used[name])
            found.add_metric([name, "free"], free[name])
            limit.add_metric([name], sizes().most(name))
        yield from (found, limit)


class ReplicaCollector(Collector):
    """Large reads of this process by the server that answered them. Without a replica there are no figures."""

    def collect(self) -> Iterator[Any]:
        """Yield the reads from the replica, and those that the primary answered instead."""
        found = CounterMetricFamily(
            "signum_replica_reads", "Large reads by the server that answered.", labels=["server"]
        )
        if settings().database_url_replica is not None:
            reads = runtime.part(Reads)
            found.add_metric(["replica"], reads.replica)
            found.add_metric(["primary"], reads.primary)
        yield found


class LogCollector(Collector):
    """Log lines of this process that report a problem."""

    def collect(self) -> Iterator[Any]:
        """Yield the lines by level."""
        found = CounterMetricFamily("signum_log_lines", "Log lines that report a problem, by level.", labels=["level"])
        for level in LEVELS:
            found.add_metric([level], runtime.part(LineCounts).of[level])
        yield found
