"""Providers of server wallets' keys. Keys never leave this module.

A provider finds a key by its wallet's address, so that the transaction store needs only the signer's address.
"""

import asyncio
import json
import secrets
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from eth_keys.datatypes import PrivateKey

from backend.chain.signing.keys import NewKey, Signed
from backend.core import threads
from backend.core.errors import BadRequest
from backend.core.private_files import keystore_password, private_folder, write_private
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.core.threads import Work

if TYPE_CHECKING:
    from eth_account import Account

LIGHT_SCRYPT = 2**12
STANDARD_SCRYPT = 2**18


@lru_cache(maxsize=1)
def _account() -> "type[Account]":
    """Return eth-account, imported when the first key is used: its import takes half a second."""
    from eth_account import Account

    return Account


class WalletProvider(Protocol):
    """Creates keys and signs with them."""

    name: str

    async def create(self) -> NewKey:
        """Create a key."""

    async def discard(self, key: NewKey) -> None:
        """Delete a key that was just created and belongs to no wallet."""

    async def sign_transaction(self, address: str, transaction: dict[str, Any]) -> Signed:
        """Sign an EIP-1559 transaction. Raises BadRequest if there is no key for the address."""

    async def sign_message(self, address: str, text: str) -> str:
        """Return an EIP-191 signature as 0x and 130 digits. Raises BadRequest if there is no key for the address."""

    async def has(self, address: str) -> bool:
        """Return whether this provider holds the key of an address."""

    async def operator(self) -> str:
        """Return the address of the agent's own key."""


class Keystore:
    """Keystore V3 files with mode 0600 in the data folder; a key stays decrypted in memory after its first use."""

    name = "keystore"

    def __init__(self, folder: Path, password: str, scrypt_n: int) -> None:
        self._folder = folder
        self._password = password
        self._scrypt_n = scrypt_n
        self._open: dict[str, PrivateKey] = {}  # as objects, because parsing one costs as much as signing
        self._opening: dict[str, Future[PrivateKey]] = {}
        self._making = asyncio.Lock()
        private_folder(folder)

    def __repr__(self) -> str:
        """Return a text without the password."""
        return "Keystore()"

    async def create(self) -> NewKey:
        """Create a key; it is written to its file before it is returned."""
        making = threads.executor(Work.WALLET_KEYS).submit(self._create)
        try:
            return await asyncio.shield(asyncio.wrap_future(making))
        except asyncio.CancelledError:  # the thread cannot be stopped, but no one will know its key
            making.add_done_callback(self._forget)
            raise

    async def discard(self, key: NewKey) -> None:
        """Delete the key's file."""
        self._remove(key.address)

    async def sign_transaction(self, address: str, transaction: dict[str, Any]) -> Signed:
        """Sign an EIP-1559 transaction."""
        signed = _account().sign_transaction(transaction, await self._key(address))
        return Signed("0x" + bytes(signed.raw_transaction).hex(), "0x" + bytes(signed.hash).hex())

    async def sign_message(self, address: str, text: str) -> str:
        """Return an EIP-191 signature."""
        from eth_account.messages import encode_defunct

        signed = _account().sign_message(encode_defunct(text=text), await self._key(address))
        return "0x" + bytes(signed.signature).hex()

    async def has(self, address: str) -> bool:
        """Return whether there is a file for the address."""
        return address in self._open or self._file(address).exists()

    async def operator(self) -> str:
        """Return the address of the agent's own key, created on first use."""
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

    def _forget(self, making: "Future[NewKey]") -> None:
        if making.exception() is None:
            self._remove(making.result().address)

    def _remove(self, address: str) -> None:
        self._open.pop(address, None)
        self._file(address).unlink(missing_ok=True)

    async def _key(self, address: str) -> PrivateKey:
        """Return a key. Concurrent first uses, from any event loop, share one decryption."""
        if address not in self._open:
            opening = self._opening.get(address)
            if opening is None:
                opening = threads.executor(Work.WALLET_KEYS).submit(self._decrypt, address)
                self._opening[address] = opening
                opening.add_done_callback(lambda _: self._opening.pop(address, None))
            self._open[address] = await asyncio.shield(asyncio.wrap_future(opening))
        return self._open[address]

    def _decrypt(self, address: str) -> PrivateKey:
        try:
            stored = json.loads(self._file(address).read_text())
        except FileNotFoundError:
            raise BadRequest(f"There is no key for the wallet {address}; it cannot sign here.") from None
        try:
            return PrivateKey(_account().decrypt(stored, self._password))
        except ValueError:
            raise BadRequest(f"The keystore's password does not decrypt the key of the wallet {address}.") from None

    def _file(self, address: str) -> Path:
        return self._folder / f"{address.lower()}.json"


def keystore() -> Keystore:
    """Return the keystore of this data folder."""
    return runtime.part(_keystore)


def _keystore() -> Keystore:
    cost = settings().keystore_scrypt_n or (LIGHT_SCRYPT if settings().embedded_chains else STANDARD_SCRYPT)
    return Keystore(settings().keystore, keystore_password(), cost)


def aws_kms() -> WalletProvider:
    """Return a new provider for the keys in AWS KMS."""
    from backend.chain.signing.kms import AwsKms

    return AwsKms(settings().kms_alias_prefix)


def provider() -> WalletProvider:
    """Return the wallet provider chosen in the settings: it creates new keys."""
    return runtime.part(aws_kms) if settings().wallet_provider == "aws-kms" else keystore()


async def holder(address: str) -> WalletProvider:
    """Return the holder of an address's key: the current provider, or the earlier keystore. Raises BadRequest."""
    for choose in (provider, keystore):
        if await (one := choose()).has(address):
            return one
    raise BadRequest(f"There is no key for the wallet {address}; it cannot sign here.")
