"""Secrets of endpoints, and signatures according to Standard Webhooks (standardwebhooks.com)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"


def new_secret() -> str:
    """Return `whsec_` and 256 bits in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return `v1,` and the HMAC-SHA256 of ID, time (seconds) and the exact bytes of the body."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    said = f"{webhook_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, said, hashlib.sha256)).decode()


def headers(keys: Sequence[str], webhook_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that let a receiver verify a delivery: a signature by each valid secret."""
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(key, webhook_id, timestamp, body) for key in keys),
    }
