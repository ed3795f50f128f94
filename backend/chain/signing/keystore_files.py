"""Wallet keys in files (Web3 Secret Storage), as earlier versions stored them: read to import them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from eth_keys.datatypes import PrivateKey

log = structlog.get_logger()


@dataclass(frozen=True)
class KeystoreFiles:
    """A folder of files `0x….json` with a common password, and the file `operator` with an address."""

    folder: Path
    password: str | None = field(repr=False)

    def operator(self) -> str | None:
        """Return the address of the operator's key."""
        path = self.folder / "operator"
        return path.read_text().strip() if path.exists() else None

    def addresses(self) -> Iterator[str]:
        """Yield the addresses of the files, in lower case."""
        yield from sorted(path.stem for path in self.folder.glob("0x*.json"))

    def read(self, address: str) -> PrivateKey | None:
        """Decrypt a key; None where there is no file, or the password does not open it."""
        path = self.folder / f"{address.lower()}.json"
        if self.password is None or not path.exists():
            return None
        from eth_account import Account

        try:
            return PrivateKey(Account.decrypt(json.loads(path.read_text()), self.password))
        except ValueError:
            log.error("wallet_key.not_imported", file=str(path), reason="SIGNUM_KEYSTORE_PASSWORD does not open it")
            return None
