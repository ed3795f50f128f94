"""What the protocols ask for. Pure."""

import base64
import hashlib
import hmac
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from backend.auth.scopes import IdentityScope, Scope

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
KNOWN = {str(s) for s in (*IdentityScope, *Scope)}
WORDS: dict[str, str] = {
    "openid": "Know that it is you",
    "profile": "See your name",
    "email": "See your email address",
    "kyc:status": "See what has been attested of you (KYC level, country, accreditation)",
    "chains:read": "See your wallets' addresses, and the chains of the organization",
}


def redirect_fault(uri: str) -> str | None:
    """What is wrong with an application's address; None for a good one. It is later compared letter by letter."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return "is not a URI"
    if any(ord(c) <= 32 or ord(c) > 126 for c in uri) or "#" in uri or "*" in uri:
        return "has a fragment, a wildcard, or characters that a URI does not have"
    if parts.username is not None or parts.password is not None:
        return "has a user name"
    if parts.scheme == "https" and host:
        return None
    if parts.scheme == "http" and host in LOOPBACK:
        return None
    if "." in parts.scheme:
        return None
    return "is https, http on this very machine, or a scheme of the application's own with a dot in it"


def is_registered(uri: str | None, registered: Collection[str]) -> bool:
    """Whether an address is one of an application's, letter by letter; on this very machine with any port, which a
    program learns when it starts to listen (RFC 8252 7.3)."""
    if uri is None:
        return False
    wanted = _without_port(uri)
    return uri in registered or (wanted is not None and wanted in {_without_port(known) for known in registered})


def _without_port(uri: str) -> str | None:
    """A loopback address without its port; None for any other address, and for a malformed one."""
    if redirect_fault(uri) is not None:
        return None
    parts = urlsplit(uri)
    if parts.scheme != "http":
        return None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts._replace(netloc=str(host)).geturl()


def unique(values: Collection[str]) -> list[str]:
    """Without doubles, in their order."""
    return list(dict.fromkeys(values))


def known_scopes(text: str | None) -> list[str]:
    """The scopes of a request that we know; others are ignored (OIDC Core 3.1.2.1)."""
    return [s for s in unique((text or "").split(" ")) if s in KNOWN]


def describe(scope: str) -> str:
    """A scope in words."""
    if scope in WORDS:
        return WORDS[scope]
    resource, _, action = scope.partition(":")
    verb = "See" if action == "read" else "Change"
    return f"{verb} the organization's {resource.replace('api-keys', 'API keys').replace('orgs', 'records')}"


def is_challenge(text: str | None) -> bool:
    """Whether a text is a SHA-256 in base64url (RFC 7636 4.2)."""
    return bool(text and CHALLENGE.fullmatch(text))


def proves(verifier: str | None, challenge: str) -> bool:
    """Whether a verifier is the one behind an S256 challenge (RFC 7636 4.6)."""
    if not verifier or not VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).decode().rstrip("=")
    return hmac.compare_digest(made, challenge)


def half_hash(token: str) -> str:
    """`at_hash`: the left half of the token's SHA-256, in base64url (OIDC Core 3.1.3.6)."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode("ascii")).digest()[:16]).decode().rstrip("=")
