"""Wallet keys in the database. All functions block, and use connections of their own."""

from typing import Any

import psycopg
from eth_keys.datatypes import PrivateKey

from backend.core.connections import database
from backend.core.encryption import WALLETS

INSERT = """
  insert into wallet_keys (address, sealed, is_operator)
  values (%s, %s, %s and not exists (select from wallet_keys where is_operator))
  on conflict do nothing
"""


def read(address: str) -> PrivateKey | None:
    """Return a key; None if it is not in the database. Raises CannotUnseal."""
    with database.thread_connection() as connection:
        row = connection.execute("select sealed from wallet_keys where address = %s", [address]).fetchone()
    return PrivateKey(WALLETS.unseal(bytes(row[0]), address)) if row else None


def store(key: PrivateKey, *, as_operator: bool = False) -> str:
    """Store a key, unless it is stored already, and return its address."""
    address = key.public_key.to_checksum_address()
    sealed = WALLETS.seal(key.to_bytes(), address)
    with database.thread_connection() as connection:
        connection.execute(INSERT, [address, sealed, as_operator])
        if as_operator:
            _mark(connection, address)
    return address


def _mark(connection: psycopg.Connection[Any], address: str) -> None:
    """Mark a stored key as the operator's, unless another one is."""
    connection.execute(
        "update wallet_keys set is_operator = true "
        "where address = %s and not exists (select from wallet_keys where is_operator)",
        [address],
    )


def remove(address: str) -> None:
    """Delete a key."""
    with database.thread_connection() as connection:
        connection.execute("delete from wallet_keys where address = %s", [address])


def operator() -> str | None:
    """Return the address of the operator's key."""
    with database.thread_connection() as connection:
        row = connection.execute("select address from wallet_keys where is_operator").fetchone()
    return str(row[0]) if row else None


def addresses() -> set[str]:
    """Return the addresses of all keys, in lower case."""
    with database.thread_connection() as connection:
        return {address.lower() for (address,) in connection.execute("select address from wallet_keys")}
