"""A node's receipts and logs, in the house's shapes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from eth_utils.address import to_checksum_address
from sqlmodel import col

from backend import db
from backend.chain import endpoints, floors
from backend.chain.errors import ChainUnavailable
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.outcome import Log, Outcome
from backend.chain.rpc import Request, Rpc
from backend.chain.terms import Finality, terms_of

Receipt = dict[str, Any]
TRIES = 60
"""Looks altogether, with those that do not count."""
LOOKS = 12
"""How often a receipt is asked for before it counts as not seen: each look may reach another machine."""


def log_of(told: Mapping[str, Any]) -> Log:
    """A log as a node tells it."""
    return Log(
        to_checksum_address(told["address"]),
        tuple(told["topics"]),
        told["data"],
        int(told["blockNumber"], 16),
        told["blockHash"],
        told["transactionHash"],
        int(told["logIndex"], 16),
    )


def outcome_of(receipt: Mapping[str, Any]) -> Outcome:
    """A receipt as a node tells it, or as it was stored."""
    created = receipt.get("contractAddress")
    return Outcome(
        receipt["transactionHash"],
        int(receipt["blockNumber"], 16),
        receipt["blockHash"],
        to_checksum_address(created) if created else None,
        int(receipt["gasUsed"], 16),
        tuple(log_of(entry) for entry in receipt["logs"]),
    )


def slim(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """What the transaction store keeps of a receipt: all of it but the bloom filter."""
    return {key: value for key, value in receipt.items() if key != "logsBloom"}


def succeeded(receipt: Mapping[str, Any]) -> bool:
    """Whether the transaction did what it was to do."""
    return int(receipt["status"], 16) == 1


async def final_receipt(eid: int, tx_hash: str) -> Receipt | None:
    """The receipt of a transaction of ours, as it was read when its block was final; None where it is not final yet."""
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
    """The receipt of each transaction, under whichever of its hashes it was mined; None where it is not."""
    asked = [(place, tx_hash) for place, row in enumerate(rows) for tx_hash in row.hashes]
    told = await rpc.batch([("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash in asked])
    found: list[Receipt | None] = [None] * len(rows)
    for (place, _), receipt in zip(asked, told, strict=True):
        found[place] = found[place] or receipt
    return found


async def seek(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Receipt | None]:
    """Return the receipt of each transaction, looked for several times on a public chain, where a machine that lags
    has no receipt of a transaction that is mined: only machines count that have the floor. None is still no proof that
    it is not mined. Raises ChainUnavailable where too few machines have the floor."""
    found = await receipts_of(rpc, rows)
    if endpoints.is_embedded(rpc.eid):
        return found
    looks = 0
    for _ in range(TRIES):
        if all(found) or looks >= LOOKS:
            return found
        again, counts = await _look(rpc, rows)
        found = [before or now for before, now in zip(found, again, strict=True)]
        looks += counts
        await asyncio.sleep(min(terms_of(rpc.eid).block_time, 1.0))
    raise ChainUnavailable(f"The machines behind the URLs of the chain {rpc.eid} are behind it. Try again later.")


async def _look(rpc: Rpc, rows: Sequence[TransactionRow]) -> tuple[list[Receipt | None], bool]:
    """The receipts that one machine has, and whether it has the floor; without batches nothing tells."""
    asked = [(place, tx_hash) for place, row in enumerate(rows) for tx_hash in row.hashes]
    calls: list[Request] = [("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash in asked]
    told = await rpc.together([("eth_blockNumber", []), *calls])
    if told is None:
        return await receipts_of(rpc, rows), True
    found: list[Receipt | None] = [None] * len(rows)
    for (place, _), receipt in zip(asked, told[1:], strict=True):
        found[place] = found[place] or receipt
    return found, int(told[0], 16) >= await floors.of(rpc.eid)


def mined(row: TransactionRow, receipt: Receipt) -> dict[str, Any]:
    """The columns that a receipt settles. Where one that was replaced is mined, the row is that one again."""
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
        "finality": Finality.FINAL if endpoints.is_embedded(row.chain_eid) else Finality.INCLUDED,
        "taken_since": None,
        "taken_sightings": 0,
    }
