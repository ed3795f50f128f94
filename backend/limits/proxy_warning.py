"""Warning about X-Forwarded-For from an untrusted peer: all clients of such a proxy count as one address.

Any client can send the header, so this is only a note, logged at most once an hour.
"""

import time
from dataclasses import dataclass

import structlog

from backend.core.runtime import runtime

log = structlog.get_logger()
SHOWN = 600.0
"""Seconds for which the note is shown."""
LOGGED = 3_600.0
NOTE = (
    "X-Forwarded-For arrives from a peer outside SIGNUM_TRUSTED_PROXIES and is ignored. If the peer is your proxy,"
    " add its network: until then, limits count all of its clients as one."
)


@dataclass
class Sighting:
    """When this process last saw the header, and when it last logged it, by `time.monotonic`."""

    at: float = float("-inf")
    logged_at: float = float("-inf")


def ignored(peer: str) -> None:
    """Record that an untrusted peer sent the header."""
    last = runtime.part(Sighting)
    last.at = time.monotonic()
    if last.at - last.logged_at >= LOGGED:
        last.logged_at = last.at
        log.warning("forwarded_for.ignored", peer=peer, setting="SIGNUM_TRUSTED_PROXIES")


def notes() -> list[str]:
    """Return the notes for `GET /v1/ready`."""
    return [NOTE] if time.monotonic() - runtime.part(Sighting).at < SHOWN else []
