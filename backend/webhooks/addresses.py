"""Which addresses a delivery may be sent to. Pure functions.

Names prove nothing: the creator of an endpoint also controls its name. So the address of the connection is checked,
against our own lists: the standard library's idea of "global" differs between versions and allows 6to4, NAT64 and
multicast.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_CLOSED_4 = tuple(
    IPv4Network(n)
    for n in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; also cloud metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent, although its number is public
        "169.254.0.0/16",  # link-local, metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, metadata
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_OPEN_6 = IPv6Network("2000::/3")
"""All allocated addresses; those that embed an IPv4 address (mapped, NAT64, Teredo, 6to4) are elsewhere or closed
below, because they would bypass the list above."""
_CLOSED_6 = tuple(IPv6Network(n) for n in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))


def parse(text: str) -> Address | None:
    """Parse an address from a URL or a resolver; None if it is a name."""
    try:
        return ip_address(text.strip("[]"))
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Return whether an address is public on the internet, and not in our own network."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    return address in _OPEN_6 and address.scope_id is None and not any(address in network for network in _CLOSED_6)


def is_loopback_host(host: str) -> bool:
    """Return whether a URL's host names this machine literally, regardless of what a name resolves to."""
    address = parse(host)
    return host.lower() == "localhost" if address is None else address.is_loopback
