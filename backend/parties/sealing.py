"""Documents at rest: sealed with AES-256-GCM, so that a copy of the database alone shows nothing of them.

Each piece is bound to its organization, its content's hash and its place, so that pieces cannot be exchanged, and the
last one says that it is the last. The key is made of the setting `SIGNUM_DOCUMENTS_KEY`, else of a file in the data
folder; whoever loses it loses the documents.
"""

import secrets
from functools import lru_cache
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from backend.chain.wallet_provider import write_private
from backend.errors import Unavailable
from backend.settings import settings

PIECE = 262_144
"""Bytes of a piece before it is sealed."""
NONCE = 12


def pieces(content: bytes) -> list[bytes]:
    """A content in pieces of at most PIECE bytes."""
    return [content[at : at + PIECE] for at in range(0, len(content), PIECE)]


def seal(piece: bytes, organization_id: UUID, sha256: str, number: int, parts: int) -> bytes:
    """A piece as it is kept: nonce, then ciphertext and tag."""
    nonce = secrets.token_bytes(NONCE)
    return nonce + _cipher().encrypt(nonce, piece, _place(organization_id, sha256, number, parts))


def unseal(sealed: bytes, organization_id: UUID, sha256: str, number: int, parts: int) -> bytes:
    """The piece; Unavailable where it was changed, or sealed with another key."""
    try:
        place = _place(organization_id, sha256, number, parts)
        return _cipher().decrypt(sealed[:NONCE], sealed[NONCE:], place)
    except InvalidTag as error:
        raise Unavailable("The document does not open: it was changed, or sealed with another key.") from error


def _place(organization_id: UUID, sha256: str, number: int, parts: int) -> bytes:
    return f"{organization_id}:{sha256}:{number}:{parts}".encode()


@lru_cache(maxsize=1)
def _cipher() -> AESGCM:
    return AESGCM(HKDF(SHA256(), 32, salt=None, info=b"signum documents").derive(_secret().encode()))


def _secret() -> str:
    chosen = settings().documents_key
    if chosen is not None:
        return chosen
    path = settings().home / "documents.key"
    if not path.exists():
        settings().home.mkdir(parents=True, exist_ok=True)
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()
