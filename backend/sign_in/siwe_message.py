"""The text that a wallet signs to sign in (EIP-4361). Pure functions."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import AddressValueError, IPv6Address

from eth_utils.address import is_checksum_address

OLDEST, AHEAD = timedelta(minutes=10), timedelta(minutes=5)
"""How far `Issued At` may be from the server's time: its nonce is valid for 5 minutes, and devices' clocks may be off.
"""
_CHARACTER = r"[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}"
_AUTHORITY = rf"(?:(?:{_CHARACTER}|:)*@)?(?:\[(?P<ip>[0-9A-Fa-f:.]+)\]|(?:{_CHARACTER})*)(?::[0-9]*)?"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://{_AUTHORITY}(?:/(?:{_CHARACTER}|[:@/])*)?|(?!//)(?:{_CHARACTER}|[:@/])*)"
    rf"(?:\?(?:{_CHARACTER}|[:@/?])*)?(?:#(?:{_CHARACTER}|[:@/?])*)?"
)
"""RFC 3986, without checking the numbers of an IPv6 address, and without IPvFuture."""
_TEXT = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<domain>[^\s/?#]+) wants you to sign in with your Ethereum account:\n"
    r"(?P<address>0x[0-9a-fA-F]{40})\n\n(?:(?P<statement>[^\n]+)\n)?\n"
    r"URI: (?P<uri>\S+)\nVersion: (?P<version>1)\nChain ID: (?P<chain_id>[0-9]{1,18})\n"
    r"Nonce: (?P<nonce>[a-zA-Z0-9]{8,100})\nIssued At: (?P<issued_at>\S+)"
    r"(?:\nExpiration Time: (?P<expires_at>\S+))?(?:\nNot Before: (?P<not_before>\S+))?"
    r"(?:\nRequest ID: (?P<request_id>\S*))?(?:\nResources:(?P<resources>(?:\n- \S+)*))?",
    re.ASCII,
)


@dataclass(frozen=True)
class SignInMessage:
    """The fields of a sign-in message."""

    scheme: str | None
    domain: str
    address: str
    uri: str
    chain_id: int
    nonce: str
    issued_at: datetime
    expires_at: datetime | None
    not_before: datetime | None


def parse(text: str) -> SignInMessage | None:
    """Return a message in the standard's form; None for other texts."""
    found = _TEXT.fullmatch(text)
    if found is None or not is_checksum_address(found["address"]):
        return None
    try:
        times = [_time(found[n]) for n in ("issued_at", "expires_at", "not_before")]
    except ValueError:
        return None
    uris = [found["uri"], *(found["resources"] or "").split("\n- ")[1:]]
    if times[0] is None or not _is_authority(found["domain"]) or not all(_is_uri(uri) for uri in uris):
        return None
    return SignInMessage(
        scheme=found["scheme"],
        domain=found["domain"],
        address=found["address"],
        uri=found["uri"],
        chain_id=int(found["chain_id"]),
        nonce=found["nonce"],
        issued_at=times[0],
        expires_at=times[1],
        not_before=times[2],
    )


def _is_authority(text: str) -> bool:
    found = re.fullmatch(_AUTHORITY, text)
    return found is not None and _is_ip(found["ip"]) and not text.endswith("@")


def _is_uri(text: str) -> bool:
    found = _URI.fullmatch(text)
    return found is not None and _is_ip(found["ip"])


def _is_ip(text: str | None) -> bool:
    try:
        return text is None or IPv6Address(text) is not None
    except AddressValueError:
        return False


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("has no time zone")
    return time


def fault(message: SignInMessage, origin: str, now: datetime) -> str | None:
    """Return why a message is for another site or not valid now; None where it is valid."""
    scheme, _, host = origin.partition("://")
    if message.domain != host or message.scheme not in (None, scheme):
        return "The message is for another site."
    if message.uri != origin and not message.uri.startswith(f"{origin}/"):
        return "The URI of the message belongs to another site."
    if not now - OLDEST <= message.issued_at <= now + AHEAD:
        return (
            "`Issued At` of the message is too far from the current time. Check this device's clock, then sign again."
        )
    if message.expires_at is not None and message.expires_at <= now:
        return "The message has expired."
    if message.not_before is not None and message.not_before > now:
        return "The message is not valid yet."
    return None
