"""The address of a request's client, for login limits and the audit log."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
PROXY_HEADERS = (
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-original-host",
    "true-client-ip",
    "cf-connecting-ip",
)
"""Headers that proxies add, besides `X-Forwarded-*`."""
CONSOLE = "console"
"""The peer of calls that the console makes in this process for a browser. No connection has this address."""


def caller(peer: str, forwarded: Sequence[str], trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """Return the address of the caller behind `peer`.

    `forwarded` are the X-Forwarded-For headers, in order. Each proxy appends its client's address on the right, so they
    are read from the right for as long as the sender is trusted; entries to the left of the first untrusted address are
    unverified.
    """
    entries = [part.strip() for header in forwarded for part in header.split(",")]
    found = peer
    while entries and _is_trusted(found, trusted):
        address = _parsed(entries.pop())
        if address is None:
            break
        found = str(address)
    return found


def is_ignored(peer: str, forwarded: Sequence[str], trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Return whether X-Forwarded-For comes from an untrusted peer.

    Headers that the console forwards end with its own peer.
    """
    entries = [part.strip() for header in forwarded for part in header.split(",")]
    if peer == CONSOLE and entries:
        peer = entries.pop()
    return bool(entries) and not _is_trusted(peer, trusted)


def _is_trusted(address: str, trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    if address == CONSOLE:
        return True
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in trusted)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, also in forms that some proxies use: with a port, in brackets, IPv4-mapped IPv6."""
    host = text.partition("]")[0].lstrip("[") if text.startswith("[") else text
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        parsed = ip_address(host)
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def is_of_proxy(header: str) -> bool:
    """Return whether a header, by its lower-case name, is one that proxies add."""
    return header.startswith("x-forwarded-") or header in PROXY_HEADERS


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine's own."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def group(address: str) -> str:
    """Return the key under which limits count an address: an IPv6 address by its /64, the usual size of a customer's
    network.
    """
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((int(parsed), 64), strict=False))
    return address if parsed is None else str(parsed)


def network(address: str) -> str | None:
    """Return the /48 of an IPv6 address, the usual size of a site (65,536 of `group`). None for other addresses."""
    parsed = _parsed(address)
    return str(IPv6Network((int(parsed), 48), strict=False)) if isinstance(parsed, IPv6Address) else None


def is_own_origin(text: str, own: Sequence[str]) -> bool:
    """Return whether an Origin header names one of this server's origins."""
    found = _origin(text)
    return found is not None and found in [_origin(one) for one in own]


def _origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port (RFC 6454); None for `null` and other values that name no web page."""
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    is_bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return (parts.scheme, parts.hostname, port) if parts.hostname and is_bare else None
