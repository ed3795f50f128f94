"""Addresses and settings of the cluster: what an operator would write into the settings of each machine."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from tests.support.night import NIGHT
from tests.support.server import free_port

WORKED_ON = 40245
"""The chain whose work the workers do; the web processes do that of the other one."""


@dataclass(frozen=True)
class Layout:
    """Ports and secrets, chosen once."""

    folder: Path
    proxy: int = field(default_factory=free_port)
    primary: int = field(default_factory=free_port)
    replica: int = field(default_factory=free_port)
    redis: int = field(default_factory=free_port)
    ports: dict[str, int] = field(
        default_factory=lambda: {name: free_port() for name in ("web-1", "web-2", "worker-1", "worker-2")}
    )
    """Of the web processes, and of the workers' health."""
    password: str = field(default_factory=lambda: secrets.token_hex(24))
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def origin(self) -> str:
        """Return what browsers use: the proxy's address."""
        return f"https://localhost:{self.proxy}"

    def url(self, name: str) -> str:
        """Return the address of one process."""
        return f"http://127.0.0.1:{self.ports[name]}"

    @property
    def database(self) -> str:
        """Return the database's URL, which names both servers: connections go to the one that accepts writes."""
        options = {
            "host": "127.0.0.1,127.0.0.1",
            "port": f"{self.primary},{self.replica}",
            "target_session_attrs": "read-write",
            "connect_timeout": "3",
        }
        return f"postgresql://signum:{self.password}@/signum?{urlencode(options)}"

    def shared(self) -> dict[str, str]:
        """Return the settings that are equal on all machines."""
        return NIGHT | {
            "DATABASE_URL": self.database,
            "SIGNUM_DATABASE_URL_REPLICA": f"postgresql://signum:{self.password}@127.0.0.1:{self.replica}/signum",
            "REDIS_URL": f"redis://127.0.0.1:{self.redis}/0",
            "SIGNUM_PUBLIC_URL": self.origin,
            "SIGNUM_TRUSTED_PROXIES": '["127.0.0.1/32"]',
            "SIGNUM_SECRET_KEY": self.secret_key,
            "SIGNUM_WORKER_CHAINS": f"[{WORKED_ON}]",
            "SIGNUM_WEBHOOK_LOOPBACK": "true",
        }

    def own(self, name: str) -> dict[str, str]:
        """Return the settings of one process: each has a data folder of its own."""
        port = "PORT" if name.startswith("web") else "SIGNUM_WORKER_HEALTH_PORT"
        return {"SIGNUM_HOME": str(self.folder / name), port: str(self.ports[name])}
