"""Rules of the protocols. Pure functions."""

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
    "openid": "Confirm your identity",
    "profile": "See your name",
    "email": "See your email address",
    "kyc:status": "See your attestations (KYC level, country, accreditation)",
    "chains:read": "See your wallet addresses and the organization's chains",
}


def redirect_fault(uri: str) -> str | None:
    """Return why an application's address is invalid; None for a valid one. It is later compared exactly."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return "is not a URI"
    if any(ord(c) <= 32 or ord(c) > 126 for c in uri) or "#" in uri or "*" in uri:
        return "contains a fragment, a wildcard, or characters that are not allowed in a URI"
    if parts.username is not None or parts.password is not None:
        return "contains a user name"
    if parts.scheme == "https" and host:
        return None
    if parts.scheme == "http" and host in LOOPBACK:
        return None
    if "." in parts.scheme:
        return None
    return "must use https, http on a loopback address, or a private scheme that contains a dot"


def is_registered(uri: str | None, registered: Collection[str]) -> bool:
    """Return whether an address is exactly one of an application's.

    A loopback address may have any port, because a program learns its port only when it starts to listen (RFC 8252
    7.3).
    """
    if uri is None:
        return False
    wanted = _without_port(uri)
    return uri in registered or (wanted is not None and wanted in {_without_port(known) for known in registered})


def _without_port(uri: str) -> str | None:
    """Return a loopback address without its port; None for any other address, and for a malformed one."""
    if redirect_fault(uri) is not None:
        return None
    parts = urlsplit(uri)
    if parts.scheme != "http":
        return None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts._replace(netloc=str(host)).geturl()


def unique(values: Collection[str]) -> list[str]:
    """Return the values without duplicates, in their order."""
    return list(dict.fromkeys(values))


def known_scopes(text: str | None) -> list[str]:
    """Return the known scopes of a request; others are ignored (OIDC Core 3.1.2.1)."""
    return [s for s in unique((text or "").split(" ")) if s in KNOWN]


def describe(scope: str) -> str:
    """Return a description of a scope."""
    if scope in WORDS:
        return WORDS[scope]
    resource, _, action = scope.partition(":")
    verb = "See" if action == "read" else "Change"
    return f"{verb} the organization's {resource.replace('api-keys', 'API keys').replace('orgs', 'records')}"


def is_challenge(text: str | None) -> bool:
    """Return whether a text is a SHA-256 in base64url (RFC 7636 4.2)."""
    return bool(text and CHALLENGE.fullmatch(text))


def proves(verifier: str | None, challenge: str) -> bool:
    """Return whether a verifier matches an S256 challenge (RFC 7636 4.6)."""
    if not verifier or not VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).decode().rstrip("=")
    return hmac.compare_digest(made, challenge)


def half_hash(token: str) -> str:
    """Return `at_hash`: the left half of the token's SHA-256, in base64url (OIDC Core 3.1.3.6)."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode("ascii")).digest()[:16]).decode().rstrip("=")
