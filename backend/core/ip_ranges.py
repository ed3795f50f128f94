"""IP addresses and CIDR ranges that an organization or an API key allows. Pure functions."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_interface
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from backend.core.errors import Forbidden, Invalid

IP_RANGE = "ip-range"
"""Format of the OpenAPI document."""
MAPPED = IPv6Network("::ffff:0:0/96")
"""IPv4 addresses written as IPv6."""
MOST = 100
SHAPE = r"^[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?$"


def normalized(text: str) -> str:
    """Return an address or range in canonical form: lower case, IPv4-mapped IPv6 as IPv4, one address without a prefix.

    Raises ValueError where the text is neither, has host bits set, or covers every address.
    """
    try:
        found = ip_interface(text) if re.fullmatch(SHAPE, text) else None
    except ValueError:
        found = None
    if found is None:
        raise ValueError("is not an IP address or CIDR range, such as 203.0.113.7 or 203.0.113.0/24")
    if found.version == 6 and found.network.subnet_of(MAPPED):
        found = IPv4Interface((int(found.ip) & 0xFFFFFFFF, found.network.prefixlen - 96))
    if found.network.prefixlen == 0:
        raise ValueError("covers every address; leave the list empty to allow every address")
    if found.ip != found.network.network_address:
        raise ValueError(f"has host bits set; the network is {found.network}")
    return str(found.ip) if found.network.prefixlen == found.max_prefixlen else str(found.network)


IpRange = Annotated[
    str,
    StringConstraints(max_length=49),
    AfterValidator(normalized),
    Field(examples=["203.0.113.0/24"], json_schema_extra={"pattern": SHAPE, "format": IP_RANGE}),
]
"""Accepts an address or CIDR range; returns its canonical form."""
IpRanges = Annotated[list[IpRange], Field(max_length=MOST, json_schema_extra={"uniqueItems": True})]


def cover(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Return whether all addresses that `narrow` allows are allowed by `wide` too.

    An empty list allows every address, so only an empty list covers it. Adjacent ranges are not joined.
    """
    return not wide or (bool(narrow) and all(contains(wide, one) for one in narrow))


def address_of(text: str) -> str | None:
    """Return a caller's address in canonical form: IPv4-mapped IPv6 as IPv4, no zone. None where it is unknown."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Address(int(found)))


def contains(ranges: Sequence[str], address: str | None) -> bool:
    """Return whether one of the ranges contains an address; an unknown address is in none."""
    return address is not None and any(_is_within(address, one) for one in ranges)


def _is_within(inner: str, outer: str) -> bool:
    small, large = ip_interface(inner).network, ip_interface(outer).network
    if isinstance(small, IPv4Network):
        return isinstance(large, IPv4Network) and small.subnet_of(large)
    return isinstance(large, IPv6Network) and small.subnet_of(large)


def check_distinct(ranges: Sequence[str], field: str = "allowed_ip_ranges") -> None:
    """Raise Invalid (422) with a pointer to every range that repeats an earlier one."""
    doubles = [i for i, one in enumerate(ranges) if one in ranges[:i]]
    if doubles:
        raise Invalid([{"pointer": f"/{field}/{i}", "detail": f"is a duplicate of {ranges[i]}"} for i in doubles])


def narrowed(wanted: Sequence[str], held: Sequence[str]) -> list[str]:
    """Return the ranges of a key created by a key with the ranges `held`: the wanted ones, or `held` if `wanted` is
    empty.

    Raises Forbidden (403) where a wanted range reaches beyond `held`.
    """
    if not held:
        return list(wanted)
    for one in wanted:
        if not any(_is_within(one, large) for large in held):
            raise Forbidden(
                f"An API key cannot create a key that allows more IP addresses than its own: {one} is not within "
                f"{', '.join(held)}."
            )
    return list(wanted) or list(held)
