"""Data keys without a database."""

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backend.core.secret_keys.keyring import DataKey, Keyring, Purpose


def ring(secret: bytes, *versions: int) -> Keyring:
    """Return a keyring with one secret for all purposes and versions."""
    keys = {
        (purpose.value, version): DataKey(purpose, version, secret, AESGCM(secret))
        for purpose in Purpose
        for version in versions or (1,)
    }
    return Keyring(lambda _: keys)
