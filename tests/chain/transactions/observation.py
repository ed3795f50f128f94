"""Transactions as stored, pooled and mined; and a chain that waits."""

import asyncio
from typing import Any

from backend.chain.abi.outcome import Outcome
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import json_rpc
from backend.chain.rpc.json_rpc import connect
from backend.chain.signing import nonces
from backend.chain.transactions.execution import find
from tests.chain.conftest import HOME_EID


async def counted(address: str) -> int:
    """Return the number of mined transactions of an account."""
    return await nonces.count(await connect(HOME_EID), address)


async def row_of(key: str) -> TransactionRow:
    """Return the stored transaction of a key."""
    row = await find(key)
    assert row is not None
    return row


def passed(outcome: Outcome, row: TransactionRow) -> bool:
    """Return whether a transaction is final and its row says the same."""
    mined = (row.status, row.tx_hash, row.block_number, row.block_hash)
    return mined == (TransactionStatus.CONFIRMED, outcome.tx_hash, outcome.block_number, outcome.block_hash)


class held:
    """Inside, the chain mines nothing; at the end it mines pending transactions, then works as before."""

    def __init__(self, chain: json_rpc.Rpc) -> None:
        self._chain = chain

    async def __aenter__(self) -> None:
        await self._chain.request("evm_setAutomine", False)

    async def __aexit__(self, *_: object) -> None:
        await self._chain.request("evm_setAutomine", True)
        await self._chain.request("evm_mine")


async def stored(key: str) -> TransactionRow:
    """Return the transaction, once it is stored."""
    async with asyncio.timeout(60):
        while (row := await find(key)) is None:  # noqa: ASYNC110 - a row appears
            await asyncio.sleep(0.005)
    return row


async def bumped(key: str, first: str) -> TransactionRow:
    """Return the transaction, once it has another hash."""
    async with asyncio.timeout(60):
        while (row := await row_of(key)).tx_hash == first:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.005)
    return row


async def in_pool(chain: json_rpc.Rpc, tx_hash: str) -> None:
    async with asyncio.timeout(60):
        while await chain.request("eth_getTransactionByHash", tx_hash) is None:  # noqa: ASYNC110 - the node's pool
            await asyncio.sleep(0.005)


async def pooled(chain: json_rpc.Rpc, signer: str, fits: Any) -> str:
    """Return the hash of a transaction of the signer in the node's pool."""
    async with asyncio.timeout(60):
        while True:
            pool = (await chain.request("txpool_content"))["pending"]
            mine = next((by_nonce for who, by_nonce in pool.items() if who.lower() == signer.lower()), {})
            for entry in mine.values():
                if fits(entry["hash"]):
                    return str(entry["hash"])
            await asyncio.sleep(0.005)
