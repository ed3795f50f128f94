"""The keys of an installation from before keys were in the database: they become version 0.

They come from the keystore's password and the documents' secret. Both are checked against what they sealed, because a
wrong one would make all of it unreadable.
"""

import hashlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from backend.core.encryption import CannotUnseal, Seal
from backend.core.errors import CannotStart
from backend.core.secret_keys.keyring import DataKey, Keyring, Purpose
from backend.core.settings import Settings

SIGNING_KEYS = "select sealed, kid from signing_keys order by created_at desc limit 20"
PIECES = """
  select p.sealed, f.organization_id || ':' || f.sha256 || ':' || p.number || ':' || f.parts
  from party_file_parts p join party_files f on f.id = p.file_id order by p.id desc limit 20
"""
Content = tuple[bytes, str]
"""What an earlier version has sealed, and for which place."""


def keys(connection: psycopg.Connection[Any], settings: Settings) -> dict[Purpose, bytes]:
    """Return the earlier keys; none if the installation is new. Raises CannotStart if one is missing or wrong."""
    signing = [(b64decode(sealed), kid) for sealed, kid in connection.execute(SIGNING_KEYS)]
    if not signing:
        return {}
    password = keystore_password(settings)
    secret = _secrets_key(password) if password else None
    _check(Purpose.SECRETS, secret, signing, "SIGNUM_KEYSTORE_PASSWORD", settings.keystore / "password")
    assert secret is not None, "it has opened a signing key"
    found = {Purpose.SECRETS: secret, Purpose.DIGESTS: secret}
    if settings.wallet_provider == "keystore" and not (settings.keystore / "operator").exists():
        raise CannotStart(
            f"SIGNUM_KEYSTORE_FOLDER: the folder {settings.keystore} has no wallet keys. The first start of this "
            "version imports them into the database: name the keystore's folder of this installation."
        )
    pieces = [(bytes(sealed), place) for sealed, place in connection.execute(PIECES)]
    path = settings.home / "documents.key"
    text = settings.documents_key or _text(path)
    if pieces or text:
        documents = _documents_key(text) if text else None
        _check(Purpose.DOCUMENTS, documents, pieces, "SIGNUM_DOCUMENTS_KEY", path)
        found |= {Purpose.DOCUMENTS: documents} if documents else {}
    return found


def keystore_password(settings: Settings) -> str | None:
    """Return the password of the earlier keystore: the setting, else the file in its folder; None without either."""
    return settings.keystore_password or _text(settings.keystore / "password")


def _text(path: Path) -> str | None:
    return path.read_text().strip() if path.exists() else None


def _check(purpose: Purpose, secret: bytes | None, sealed: list[Content], variable: str, path: Path) -> None:
    """Raise CannotStart where a key is missing, or opens nothing of what should be sealed under it."""
    if secret is None:
        raise CannotStart(
            f"{variable} is not set and {path} does not exist, but an earlier version has sealed {purpose} with it. "
            "The first start of this version needs it."
        )
    key = DataKey(purpose, 0, secret, AESGCM(secret))
    seal = Seal(purpose, lambda: Keyring(lambda _: {(purpose.value, 0): key}))
    if sealed and not any(_opens(seal, *content) for content in sealed):
        raise CannotStart(
            f"{variable} (or {path}) does not open the {purpose} that are in this database. Set the one with which "
            "they were sealed."
        )


def _opens(seal: Seal, sealed: bytes, place: str) -> bool:
    try:
        seal.unseal(sealed, place)
    except CannotUnseal:
        return False
    return True


def _secrets_key(password: str) -> bytes:
    return hashlib.scrypt(password.encode(), salt=b"signum sealing", n=2**15, r=8, p=1, maxmem=2**26, dklen=32)


def _documents_key(text: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"signum documents").derive(text.encode())
