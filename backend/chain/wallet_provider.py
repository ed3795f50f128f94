"""Who holds the keys of server wallets. Nothing outside this module ever sees one.

A provider finds a key by its wallet's address, so that the transaction store needs no more than the signer's address.
"""

import asyncio
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from eth_keys.datatypes import PrivateKey

from backend.errors import BadRequest
from backend.settings import settings

if TYPE_CHECKING:
    from eth_account import Account

LIGHT_SCRYPT = 2**12
STANDARD_SCRYPT = 2**18


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was made: what a wallet's row keeps of it."""

    address: str
    key_ref: str
    provider: str


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed transaction, ready to be broadcast."""

    raw: str
    tx_hash: str


@lru_cache(maxsize=1)
def _account() -> "type[Account]":
    """eth-account, with the first key that is used: it takes half a second of every start to import."""
    from eth_account import Account

    return Account


class WalletProvider(Protocol):
    """Makes keys and signs with them."""

    name: str

    async def create(self) -> NewKey:
        """A new key."""

    async def sign_transaction(self, address: str, transaction: dict[str, Any]) -> Signed:
        """Sign an EIP-1559 transaction. Raises BadRequest where there is no key for the address."""

    async def sign_message(self, address: str, text: str) -> str:
        """An EIP-191 signature as 0x and 130 digits. Raises BadRequest where there is no key for the address."""

    async def has(self, address: str) -> bool:
        """Whether this provider holds the key of an address."""

    async def operator(self) -> str:
        """The address of the agent's own key."""


class Keystore:
    """Keystore V3 files of mode 0600 in the data folder; a key that was used stays decrypted in memory."""

    name = "keystore"

    def __init__(self, folder: Path, password: str, scrypt_n: int) -> None:
        self._folder = folder
        self._password = password
        self._scrypt_n = scrypt_n
        self._open: dict[str, PrivateKey] = {}  # as objects, since parsing one costs as much as signing
        self._making = asyncio.Lock()
        _private_folder(folder)

    def __repr__(self) -> str:
        """Without the password."""
        return "Keystore()"

    async def create(self) -> NewKey:
        """A new key, in its file before it is told of."""
        return await asyncio.to_thread(self._create)

    async def sign_transaction(self, address: str, transaction: dict[str, Any]) -> Signed:
        """Sign an EIP-1559 transaction."""
        signed = _account().sign_transaction(transaction, await self._key(address))
        return Signed("0x" + bytes(signed.raw_transaction).hex(), "0x" + bytes(signed.hash).hex())

    async def sign_message(self, address: str, text: str) -> str:
        """An EIP-191 signature."""
        from eth_account.messages import encode_defunct

        signed = _account().sign_message(encode_defunct(text=text), await self._key(address))
        return "0x" + bytes(signed.signature).hex()

    async def has(self, address: str) -> bool:
        """Whether there is a file for the address."""
        return address in self._open or self._file(address).exists()

    async def operator(self) -> str:
        """The address of the agent's own key, made when it is first asked for."""
        mark = self._folder / "operator"
        if not mark.exists():
            async with self._making:
                if not mark.exists():
                    write_private(mark, (await self.create()).address)
        return mark.read_text().strip()

    def _create(self) -> NewKey:
        key = PrivateKey(secrets.token_bytes(32))
        address = key.public_key.to_checksum_address()
        stored = _account().encrypt(key, self._password, kdf="scrypt", iterations=self._scrypt_n)
        write_private(self._file(address), json.dumps(stored))
        self._open[address] = key
        return NewKey(address, address, self.name)

    async def _key(self, address: str) -> PrivateKey:
        if address not in self._open:
            self._open[address] = await asyncio.to_thread(self._decrypt, address)
        return self._open[address]

    def _decrypt(self, address: str) -> PrivateKey:
        try:
            stored = json.loads(self._file(address).read_text())
        except FileNotFoundError:
            raise BadRequest(f"No key is held for the wallet {address}; it cannot sign here.") from None
        try:
            return PrivateKey(_account().decrypt(stored, self._password))
        except ValueError:
            raise BadRequest(f"The key of the wallet {address} does not open with the keystore's password.") from None

    def _file(self, address: str) -> Path:
        return self._folder / f"{address.lower()}.json"


def write_private(path: Path, text: str) -> None:
    """Write a file that is nobody else's to read, whole or not at all; one that is there already stays."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _private_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def keystore_password() -> str:
    """The keystore's password: the setting, else a file made on first start."""
    chosen = settings().keystore_password
    if chosen is not None:
        return chosen
    folder = settings().home / "keystore"
    _private_folder(folder)
    path = folder / "password"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()


@lru_cache
def keystore() -> Keystore:
    """The keystore of this data folder."""
    folder = settings().home / "keystore"
    cost = settings().keystore_scrypt_n or (LIGHT_SCRYPT if settings().embedded_chains else STANDARD_SCRYPT)
    return Keystore(folder, keystore_password(), cost)


@lru_cache
def _kms() -> WalletProvider:
    from backend.chain.kms import AwsKms

    return AwsKms(settings().kms_alias_prefix)


def provider() -> WalletProvider:
    """The wallet provider that the settings choose: new keys are made there."""
    return _kms() if settings().wallet_provider == "aws-kms" else keystore()


async def holder(address: str) -> WalletProvider:
    """Who holds the key of an address: the provider chosen now, or the keystore from before. Raises BadRequest."""
    for choose in (provider, keystore):
        if await (one := choose()).has(address):
            return one
    raise BadRequest(f"No key is held for the wallet {address}; it cannot sign here.")
