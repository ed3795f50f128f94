"""The text a wallet signs to sign in (EIP-4361). Pure."""

import re
from dataclasses import dataclass
from datetime import datetime

from eth_utils.address import is_checksum_address

_TEXT = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:\n"
    r"(?P<address>0x[0-9a-fA-F]{40})\n\n(?:(?P<statement>[^\n]+)\n)?\n"
    r"URI: (?P<uri>\S+)\nVersion: (?P<version>1)\nChain ID: (?P<chain_id>[0-9]{1,18})\n"
    r"Nonce: (?P<nonce>[a-zA-Z0-9]{8,100})\nIssued At: (?P<issued_at>\S+)"
    r"(?:\nExpiration Time: (?P<expires_at>\S+))?(?:\nNot Before: (?P<not_before>\S+))?"
    r"(?:\nRequest ID: (?P<request_id>\S*))?(?:\nResources:(?P<resources>(?:\n- \S+)*))?",
    re.ASCII,
)


@dataclass(frozen=True)
class SignInMessage:
    """What a wallet says."""

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
    """A message in the standard's form; None for anything else."""
    found = _TEXT.fullmatch(text)
    if found is None or not is_checksum_address(found["address"]):
        return None
    try:
        times = [_time(found[n]) for n in ("issued_at", "expires_at", "not_before")]
    except ValueError:
        return None
    if times[0] is None:
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


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("has no zone")
    return time


def fault(message: SignInMessage, origin: str, now: datetime) -> str | None:
    """Why a message is not for us, or not for now; None where it is both."""
    scheme, _, host = origin.partition("://")
    if message.domain != host or message.scheme not in (None, scheme):
        return "The message is for another site."
    if message.uri != origin and not message.uri.startswith(f"{origin}/"):
        return "The URI of the message is another site's."
    if message.expires_at is not None and message.expires_at <= now:
        return "The message has expired."
    if message.not_before is not None and message.not_before > now:
        return "The message is not valid yet."
    return None
