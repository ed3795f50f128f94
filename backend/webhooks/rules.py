"""Retry schedule, meaning of answers, and allowed targets of deliveries. Pure functions."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from backend.core.errors import BadRequest
from backend.webhooks.addresses import is_loopback_host, is_public, parse

RETRIES = tuple(
    timedelta(seconds=s) for s in (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)  # 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h
"""The wait after each failed attempt: ten attempts within about three days."""
ATTEMPTS = len(RETRIES) + 1
JITTER = 0.1
"""Each wait is shorter or longer by up to this share, so that simultaneous failures are not retried simultaneously."""
GONE = 410
KEPT = timedelta(days=30)
"""How long deliveries stay in the log and can be sent again."""
MAX_ENDPOINTS = 20
"""Per organization."""
MAX_OLD_SECRETS = 4
"""Signatures in addition to the newest secret's."""


@dataclass(frozen=True)
class Policy:
    """What the installation allows in addition to https to public addresses: http and https to this machine, for tests;
    `ports` are those of public receivers."""

    loopback: bool
    ports: frozenset[int]


@dataclass(frozen=True)
class Target:
    """A parsed URL. `path` includes the query, as sent."""

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
    """Parse a URL that has passed the schema."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    port = parts.port or (443 if scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme, parts.hostname or "", port, path)


def check_url(url: str, policy: Policy) -> Target:
    """Return a URL's target, as far as its text tells; 400 with the rule if it may not be used."""
    to = target(url)
    if is_loopback_host(to.host):
        if not policy.loopback:
            raise _refused("points to this machine; use a public address")
        if to.port < 1024 and to.port not in (80, 443):
            raise _refused("uses a system port of this machine; use 80, 443 or one from 1024")
        return to
    if to.scheme != "https":
        raise _refused("is not https; deliveries require TLS")
    if to.port not in policy.ports:
        allowed = ", ".join(str(port) for port in sorted(policy.ports))
        raise _refused(f"uses the port {to.port}; deliveries are sent to {allowed} only")
    address = parse(to.host)
    if address is not None and not is_public(address):
        raise _refused("points to an address that is not public; use a public one")
    return to


def _refused(why: str) -> BadRequest:
    return BadRequest(f"The URL {why}.", pointer="/url")


def next_wait(attempt: int, chance: float) -> timedelta | None:
    """Return the wait after failed attempt number `attempt` (from 1); None after the last. `chance` is 0 to 1."""
    if attempt >= ATTEMPTS:
        return None
    return RETRIES[attempt - 1] * (1 - JITTER + 2 * JITTER * chance)


def is_success(status: int | None) -> bool:
    """Return whether a status is success: only 2xx. A redirect is not followed, and a missing answer is a failure."""
    return status is not None and 200 <= status < 300
