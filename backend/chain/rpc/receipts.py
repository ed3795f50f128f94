"""A node's receipts and logs, as our types."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from eth_utils.address import to_checksum_address
from sqlmodel import col

from backend.chain.abi.outcome import Log, Outcome
from backend.chain.errors import ChainUnavailable
from backend.chain.finality import Finality
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import floors, node_urls
from backend.chain.rpc.json_rpc import Request, Rpc
from backend.chain.rpc.terms import terms_of
from backend.core import db

Receipt = dict[str, Any]
TRIES = 60
"""Total number of reads, including those that do not count."""
LOOKS = 12
"""How often a receipt is queried before it counts as not seen: each read may reach another machine."""


def log_of(response: Mapping[str, Any]) -> Log:
    """Return a log from a node's answer."""
    return Log(
        to_checksum_address(response["address"]),
        tuple(response["topics"]),
        response["data"],
        int(response["blockNumber"], 16),
        response["blockHash"],
        response["transactionHash"],
        int(response["logIndex"], 16),
        int(response.get("blockTimestamp") or "0x0", 16),
    )


def outcome_of(receipt: Mapping[str, Any]) -> Outcome:
    """Return an outcome from a node's receipt, or from a stored one."""
    created = receipt.get("contractAddress")
    return Outcome(
        receipt["transactionHash"],
        int(receipt["blockNumber"], 16),
        receipt["blockHash"],
        to_checksum_address(created) if created else None,
        tuple(log_of(entry) for entry in receipt["logs"]),
    )


def slim(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a receipt that the transaction store keeps: everything but the bloom filter."""
    return {key: value for key, value in receipt.items() if key != "logsBloom"}


def succeeded(receipt: Mapping[str, Any]) -> bool:
    """Return whether the transaction succeeded."""
    return int(receipt["status"], 16) == 1


async def final_receipt(eid: int, tx_hash: str) -> Receipt | None:
    """Return the receipt of one of our transactions, as read when its block was final; None if it is not final yet."""
    stored = sa.select(col(TransactionRow.receipt)).where(
        col(TransactionRow.tx_hash) == tx_hash,
        col(TransactionRow.chain_eid) == eid,
        col(TransactionRow.status) == TransactionStatus.CONFIRMED,
        col(TransactionRow.finality) == Finality.FINAL,
    )
    async with db.worker() as session:
        receipt: Receipt | None = await session.scalar(stored)
        return receipt


async def receipts_of(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Receipt | None]:
    """Return the receipt of each transaction, under any of its hashes; None if it is not mined."""
    asked = [(place, tx_hash) for place, row in enumerate(rows) for tx_hash in row.hashes]
    response = await rpc.batch([("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash in asked])
    found: list[Receipt | None] = [None] * len(rows)
    for (place, _), receipt in zip(asked, response, strict=True):
        found[place] = found[place] or receipt
    return found


async def seek(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Receipt | None]:
    """Return the receipt of each transaction, with several attempts on a public chain: a lagging machine has no receipt
    of a mined transaction, so only machines at the floor count. None is still no proof that it is not mined. Raises
    ChainUnavailable if too few machines are at the floor."""
    found = await receipts_of(rpc, rows)
    if node_urls.is_embedded(rpc.eid):
        return found
    looks = 0
    for _ in range(TRIES):
        if all(found) or looks >= LOOKS:
            return found
        again, counts = await _look(rpc, rows)
        found = [before or now for before, now in zip(found, again, strict=True)]
        looks += counts
        await asyncio.sleep(min(terms_of(rpc.eid).block_time, 1.0))
    raise ChainUnavailable(f"The machines behind the URLs of the chain {rpc.eid} are behind it. Retry later.")


async def _look(rpc: Rpc, rows: Sequence[TransactionRow]) -> tuple[list[Receipt | None], bool]:
    """Return the receipts of one machine, and whether it is at the floor; without batches that is unknown."""
    asked = [(place, tx_hash) for place, row in enumerate(rows) for tx_hash in row.hashes]
    calls: list[Request] = [("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash in asked]
    response = await rpc.together([("eth_blockNumber", []), *calls])
    if response is None:
        return await receipts_of(rpc, rows), True
    found: list[Receipt | None] = [None] * len(rows)
    for (place, _), receipt in zip(asked, response[1:], strict=True):
        found[place] = found[place] or receipt
    return found, int(response[0], 16) >= await floors.of(rpc.eid)


def mined(row: TransactionRow, receipt: Receipt) -> dict[str, Any]:
    """Return the columns that a receipt settles. If a replaced version is mined, the row becomes that one again."""
    raws = {entry["tx_hash"]: entry["raw"] for entry in row.earlier} | {row.tx_hash: row.raw}
    tx_hash = receipt["transactionHash"].lower()
    return {
        "tx_hash": tx_hash,
        "raw": raws.pop(tx_hash),
        "earlier": [{"tx_hash": other, "raw": raw} for other, raw in raws.items()],
        "block_number": int(receipt["blockNumber"], 16),
        "block_hash": receipt["blockHash"],
        "receipt": slim(receipt),
        "status": TransactionStatus.CONFIRMED if succeeded(receipt) else TransactionStatus.FAILED,
        "finality": Finality.FINAL if node_urls.is_embedded(row.chain_eid) else Finality.INCLUDED,
        "taken_since": None,
        "taken_sightings": 0,
    }
