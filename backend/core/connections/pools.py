"""Sizes and waits of the connection pools, and the shares of their callers."""

from backend.core import logins

REPLICA = "replica"
"""The engine of the replica's server; the others are of the primary's."""
ROLES = {"app": logins.WEB, "flow": logins.WEB, "worker": logins.WORKER, REPLICA: logins.WEB}
"""Group of each engine.

`flow` is separate from `app`, so that waiting requests do not block the workflows' connections. `replica` is for large
reads where the settings name a replica.
"""
POOLS = {"app": 10, "flow": 15, "worker": 15, REPLICA: 8}
KEEPALIVE = "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"
"""Keepalive of connections that hold a lock: a machine that loses its network loses the lock after 25 seconds."""
WAITS = {"app": 10.0, "flow": 30.0, "worker": 30.0, REPLICA: 1.0}
"""Seconds to wait for a connection. A request then gets a 503, or reads from the primary instead of the replica."""
OVERFLOW = {"app": 10, "flow": 0, "worker": 0, REPLICA: 0}
"""Connections beyond the pool, closed when they are returned.

Dozens of workflows each use a connection for milliseconds: opening a new one each time would cost more than the work
itself.
"""
PLACES = {"app": 16, "flow": 8, "step": 14}
"""Connections that callers share: of requests, of rehearsals and of workflows' steps.

The rest of the requests' connections is for work beside a request's own transaction. Rehearsals and steps use the pool
`flow`, each in its own event loop; the rest of it is for nested steps, which need no place.
"""
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
