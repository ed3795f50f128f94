"""Whose request it is, by address: what login limits count by and the audit log writes down."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
CONSOLE = "console"
"""The peer of calls that the console makes in this process for a browser. No connection has such an address."""


def caller(peer: str, forwarded: Sequence[str], trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """The address of the caller behind `peer`.

    `forwarded` are the X-Forwarded-For headers, in order. Each proxy adds at the right whom it was called by, so they
    are read from the right, as long as whoever tells is trusted; what stands left of the first stranger is a claim.
    """
    told = [part.strip() for header in forwarded for part in header.split(",")]
    found = peer
    while told and _is_trusted(found, trusted):
        address = _parsed(told.pop())
        if address is None:
            break
        found = str(address)
    return found


def is_ignored(peer: str, forwarded: Sequence[str], trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Whether X-Forwarded-For comes from a peer that is not trusted. What the console has passed on ends with its own
    peer."""
    told = [part.strip() for header in forwarded for part in header.split(",")]
    if peer == CONSOLE and told:
        peer = told.pop()
    return bool(told) and not _is_trusted(peer, trusted)


def _is_trusted(address: str, trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    if address == CONSOLE:
        return True
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in trusted)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """An address, also as some proxies write it: with a port, in brackets, IPv4 inside of IPv6."""
    host = text.partition("]")[0].lstrip("[") if text.startswith("[") else text
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        parsed = ip_address(host)
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def group(address: str) -> str:
    """What limits count an address by: an IPv6 address by its /64, which is what one customer gets."""
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((int(parsed), 64), strict=False))
    return address if parsed is None else str(parsed)


def is_own_origin(text: str, own: Sequence[str]) -> bool:
    """Whether an Origin header names one of our own origins."""
    found = _origin(text)
    return found is not None and found in [_origin(one) for one in own]


def _origin(text: str) -> tuple[str, str, int] | None:
    """Scheme, host and port (RFC 6454); None for `null` and whatever is no origin of a web page."""
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    is_bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return (parts.scheme, parts.hostname, port) if parts.hostname and is_bare else None
