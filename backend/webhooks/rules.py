"""When deliveries are tried, what their answers mean, and where they may go. Pure."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from backend.errors import BadRequest
from backend.webhooks.addresses import is_loopback_host, is_public, parse

RETRIES = tuple(
    timedelta(seconds=s) for s in (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)  # 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h
"""How long after each failed attempt the next one comes: ten attempts within about three days."""
ATTEMPTS = len(RETRIES) + 1
JITTER = 0.1
"""Each wait is up to this share shorter or longer, so that what failed together is not tried again together."""
GONE = 410
KEPT = timedelta(days=30)
"""How long deliveries stay in the log and can be sent again."""
MAX_ENDPOINTS = 20
"""Per organization."""
MAX_OLD_SECRETS = 4
"""Signatures beside the newest one's."""


@dataclass(frozen=True)
class Policy:
    """What the installation allows beside https to public addresses: http and https to this very machine, for trying
    things out; `ports` are those of public receivers."""

    loopback: bool
    ports: frozenset[int]


@dataclass(frozen=True)
class Target:
    """A URL taken apart. `path` is with the query, as sent."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"


def target(url: str) -> Target:
    """Take apart a URL that has passed the schema."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    port = parts.port or (443 if scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme, parts.hostname or "", port, path)


def check_url(url: str, policy: Policy) -> Target:
    """Where a URL leads, as far as its letters tell; 400 with the rule where it may not be used."""
    to = target(url)
    if is_loopback_host(to.host):
        if not policy.loopback:
            raise _refused("leads to this machine; only public addresses are sent to")
        if to.port < 1024 and to.port not in (80, 443):
            raise _refused("names a system port of this machine; use 80, 443 or one from 1024")
        return to
    if to.scheme != "https":
        raise _refused("is not https; deliveries are sent over TLS only")
    if to.port not in policy.ports:
        allowed = ", ".join(str(port) for port in sorted(policy.ports))
        raise _refused(f"names the port {to.port}; deliveries are sent to {allowed} only")
    address = parse(to.host)
    if address is not None and not is_public(address):
        raise _refused("leads to an address that is not public")
    return to


def _refused(why: str) -> BadRequest:
    return BadRequest(f"The URL {why}.", pointer="/url")


def next_wait(attempt: int, chance: float) -> timedelta | None:
    """How long to wait after failed attempt number `attempt` (from 1); None after the last. `chance` is 0 to 1."""
    if attempt >= ATTEMPTS:
        return None
    return RETRIES[attempt - 1] * (1 - JITTER + 2 * JITTER * chance)


def is_success(status: int | None) -> bool:
    """Only 2xx is: a redirect is not followed, and no answer is none."""
    return status is not None and 200 <= status < 300
