"""Sizes and waits of the connection pools, and the shares of their callers.

A process has a budget of connections (`SIGNUM_DATABASE_CONNECTIONS`), which its pools share. What finds none waits, and
a request then gets a 503.
"""

from dataclasses import dataclass
from typing import Final

from backend.core import logins
from backend.core.settings import settings

REPLICA = "replica"
"""The engine of the replica's server; the others are of the primary's."""
ROLES = {"app": logins.WEB, "flow": logins.WEB, "worker": logins.WORKER, REPLICA: logins.WEB}
"""Group of each engine.

`flow` is separate from `app`, so that waiting requests do not block the workflows' connections. `replica` is for large
reads where the settings name a replica.
"""
SHARES: Final = {"app": 0.4, "flow": 0.3, "worker": 0.3, REPLICA: 0.2}
"""Shares of an event loop's connections. Those of the replica are connections to another server."""
LOOPS = 2
"""Event loops with pools of their own: of requests and of workflows."""
OUTSIDE = 12
"""Connections outside the pools: five of the workflow engine, and those for locks, notifications, checks and keys."""
KEEPALIVE = "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"
"""Keepalive of connections that hold a lock: a machine that loses its network loses the lock after 25 seconds."""
WAITS = {"app": 10.0, "flow": 30.0, "worker": 30.0, REPLICA: 1.0}
"""Seconds to wait for a connection. A request then gets a 503, or reads from the primary instead of the replica."""
PATIENCE: dict[str, float | None] = {"app": WAITS["app"], "flow": WAITS["flow"], "step": None}
"""Seconds to wait for a place. A step waits as long as it takes, because a wait must not fail its request."""
IN_A_CROWD: dict[str, float | None] = {"app": 1.0, "flow": 4.0, "step": None}
"""Seconds to wait for a place while others are always waiting: after an overload, those who wait are soon served."""
_IDLE = "-c idle_in_transaction_session_timeout"
TIMEOUTS = {
    "app": f"-c statement_timeout=30000 -c lock_timeout=10000 {_IDLE}=60000",
    "flow": f"-c lock_timeout=10000 {_IDLE}=10000",
    "worker": f"{_IDLE}=10000",
    REPLICA: "-c statement_timeout=30000",
}
"""Milliseconds after which a statement, or its wait for a lock, ends. A request then gets a 503. A workflow's step
releases its connection, and its run starts again.

A transaction whose process does nothing for this long is rolled back: a process that hangs holds no locks.
"""


@dataclass(frozen=True)
class Sizes:
    """Connections of each pool in one event loop."""

    kept: dict[str, int]
    """Those that stay open."""
    overflow: dict[str, int]
    """Those beyond them, closed when they are returned. Only requests have them: dozens of workflows each use a
    connection for milliseconds, and opening a new one each time would cost more than the work itself."""
    places: dict[str, int]
    """Those that callers share: of requests, of rehearsals and of workflows' steps.

    The rest of the requests' connections is for work beside a request's own transaction. Rehearsals and steps use the
    pool `flow`, each in its own event loop; the rest of it is for nested steps, which need no place.
    """

    def most(self, pool: str) -> int:
        """Return the most connections of a pool."""
        return self.kept[pool] + self.overflow[pool]


def sizes(budget: int | None = None) -> Sizes:
    """Divide a process's connections among its pools; those of the settings unless given."""
    each = ((budget or settings().database_connections) - OUTSIDE) // LOOPS
    most = {pool: max(1, int(each * share)) for pool, share in SHARES.items()}
    overflow = {pool: most[pool] // 2 if pool == "app" else 0 for pool in most}
    places = {"app": most["app"] * 4 // 5, "flow": (most["flow"] + 1) // 2, "step": most["flow"] - 1}
    return Sizes({pool: most[pool] - overflow[pool] for pool in most}, overflow, places)
