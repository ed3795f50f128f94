"""Providers of server wallets' keys. Keys never leave this module.

A provider finds a key by its wallet's address, so that the transaction store needs only the signer's address.
"""

import asyncio
import secrets
import threading
from concurrent.futures import Future
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from eth_keys.datatypes import PrivateKey

from backend.chain.signing import wallet_keys
from backend.chain.signing.keys import NewKey, Signed
from backend.chain.signing.keystore_files import KeystoreFiles
from backend.core import threads
from backend.core.errors import BadRequest, CannotStart
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.core.threads import Work

if TYPE_CHECKING:
    from eth_account import Account


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
    """Keys in the database, encrypted; a key stays decrypted in memory after its first use.

    Files of an earlier version are imported when a key is first used, or by `import_files`.
    """

    name = "keystore"

    def __init__(self, files: KeystoreFiles) -> None:
        self._files = files
        self._open: dict[str, PrivateKey] = {}  # as objects, because parsing one costs as much as signing
        self._opening: dict[str, Future[PrivateKey | None]] = {}
        self._operator: str | None = None
        self._making = threading.Lock()

    async def create(self) -> NewKey:
        """Create a key; it is in the database before it is returned."""
        making = threads.executor(Work.WALLET_KEYS).submit(self._create)
        try:
            return await asyncio.shield(asyncio.wrap_future(making))
        except asyncio.CancelledError:  # the thread cannot be stopped, but no one will know its key
            making.add_done_callback(self._forget)
            raise

    async def discard(self, key: NewKey) -> None:
        """Delete the key."""
        await threads.run(Work.WALLET_KEYS, self._remove, key.address)

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
        """Return whether there is a key for the address."""
        return await self._opened(address) is not None

    async def operator(self) -> str:
        """Return the address of the agent's own key, created on first use."""
        if self._operator is None:
            self._operator = await threads.run(Work.WALLET_KEYS, self._find_operator)
        return self._operator

    def import_files(self) -> int:
        """Import the files whose keys are not in the database yet, and return their number. Blocks."""
        known = wallet_keys.addresses()
        missing = [address for address in self._files.addresses() if address not in known]
        return sum(self._imported(address) is not None for address in missing)

    def _create(self) -> NewKey:
        key = PrivateKey(secrets.token_bytes(32))
        address = wallet_keys.store(key)
        self._open[address] = key
        return NewKey(address, address, self.name)

    def _forget(self, making: "Future[NewKey]") -> None:
        if making.exception() is None:
            self._remove(making.result().address)

    def _remove(self, address: str) -> None:
        self._open.pop(address, None)
        wallet_keys.remove(address)

    def _find_operator(self) -> str:
        with self._making:
            found = wallet_keys.operator()
            if found is None:
                named = self._files.operator()
                key = self._files.read(named) if named else PrivateKey(secrets.token_bytes(32))
                if key is None:
                    raise CannotStart(f"The operator's key {named} in the keystore's folder cannot be imported.")
                own = wallet_keys.store(key, as_operator=True)
                found = wallet_keys.operator()
                if found != own and named is None:  # another process was faster
                    wallet_keys.remove(own)
            return str(found)

    async def _key(self, address: str) -> PrivateKey:
        key = await self._opened(address)
        if key is None:
            raise BadRequest(f"There is no key for the wallet {address}; it cannot sign here.")
        return key

    async def _opened(self, address: str) -> PrivateKey | None:
        """Return a key, or None. Concurrent first uses, from any event loop, share one decryption."""
        if address not in self._open:
            opening = self._opening.get(address)
            if opening is None:
                opening = threads.executor(Work.WALLET_KEY_READS).submit(self._decrypt, address)
                self._opening[address] = opening
                opening.add_done_callback(lambda _: self._opening.pop(address, None))
            key = await asyncio.shield(asyncio.wrap_future(opening))
            if key is None:
                return None
            self._open[address] = key
        return self._open[address]

    def _decrypt(self, address: str) -> PrivateKey | None:
        return wallet_keys.read(address) or self._imported(address)

    def _imported(self, address: str) -> PrivateKey | None:
        key = self._files.read(address)
        if key is not None:
            wallet_keys.store(key)
        return key


def keystore() -> Keystore:
    """Return the keystore of this installation."""
    return runtime.part(_keystore)


def _keystore() -> Keystore:
    folder = settings().keystore
    stored = folder / "password"
    password = settings().keystore_password or (stored.read_text().strip() if stored.exists() else None)
    return Keystore(KeystoreFiles(folder, password))


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
