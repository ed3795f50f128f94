"""Whether X-Forwarded-For arrives from a peer that is no trusted proxy: then every client of a proxy has its address.

Anybody can send the header, so this is a note and no alarm, and the log has it once an hour at most.
"""

import time

import structlog

log = structlog.get_logger()
SHOWN = 600.0
"""Seconds for which the note stays."""
LOGGED = 3_600.0
NOTE = (
    "X-Forwarded-For arrives from a peer outside of SIGNUM_TRUSTED_PROXIES and is ignored. If the peer is your proxy,"
    " add its network: until then limits count all of its clients as one."
)


class _Seen:
    at = logged_at = float("-inf")


def ignored(peer: str) -> None:
    """Note that a peer has sent the header in vain."""
    _Seen.at = time.monotonic()
    if _Seen.at - _Seen.logged_at >= LOGGED:
        _Seen.logged_at = _Seen.at
        log.warning("forwarded_for.ignored", peer=peer, setting="SIGNUM_TRUSTED_PROXIES")


def notes() -> list[str]:
    """What `GET /v1/ready` says of it."""
    return [NOTE] if time.monotonic() - _Seen.at < SHOWN else []


def forget() -> None:
    """Begin as if nothing had arrived."""
    _Seen.at = _Seen.logged_at = float("-inf")
