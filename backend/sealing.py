"""What must be read again and may not lie open: kept under AES-256-GCM, so that a copy of the database shows nothing.

There are two keys. `SECRETS` is for what lets somebody act as us (webhooks' secrets, the keys that sign tokens), under
the password that the keystore of server wallets has. `DOCUMENTS` is for the documents of parties, under the setting
`SIGNUM_DOCUMENTS_KEY`, else a file in the data folder; whoever loses it loses the documents.
"""

import hashlib
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from backend.chain.wallet_provider import keystore_password, write_private
from backend.errors import Unavailable
from backend.settings import settings

NONCE_BYTES = 12


class CannotUnseal(Unavailable):
    """Service Unavailable"""


class Seal:
    """One key. `place` says whose or which part the content is: anywhere else it does not open."""

    def __init__(self, derive: Callable[[], bytes]) -> None:
        self._derive = derive
        self._cipher: AESGCM | None = None

    def seal(self, content: bytes, place: str) -> bytes:
        """A content as it is kept: nonce, then ciphertext and tag."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._opened().encrypt(nonce, content, place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """The content; CannotUnseal where it was changed, or sealed with another key or for another place."""
        try:
            return self._opened().decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotUnseal("This content does not open: it was changed, or sealed with another key.") from error

    def seal_text(self, secret: str, place: str) -> str:
        """The same for a column of text."""
        return b64encode(self.seal(secret.encode(), place)).decode()

    def unseal_text(self, sealed: str, place: str) -> str:
        """The secret of `seal_text`; CannotUnseal as for contents."""
        try:
            raw = b64decode(sealed, validate=True)
        except ValueError as error:
            raise CannotUnseal("This is not what was sealed here.") from error
        return self.unseal(raw, place).decode()

    def _opened(self) -> AESGCM:
        """Derived once a process, when it is first needed."""
        if self._cipher is None:
            self._cipher = AESGCM(self._derive())
        return self._cipher


def _secrets_key() -> bytes:
    """Stretched: an operator's own password may be short."""
    return hashlib.scrypt(
        keystore_password().encode(), salt=b"signum sealing", n=2**15, r=8, p=1, maxmem=2**26, dklen=32
    )


def _documents_key() -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"signum documents").derive(_documents_secret().encode())


def _documents_secret() -> str:
    chosen = settings().documents_key
    if chosen is not None:
        return chosen
    path = settings().home / "documents.key"
    if not path.exists():
        settings().home.mkdir(parents=True, exist_ok=True)
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()


SECRETS = Seal(_secrets_key)
DOCUMENTS = Seal(_documents_key)
