"""The relayer of a chain: batches, and whom a refusal reaches."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.errors import RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import transport
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.nodes import Node
from backend.chain.transactions import relay
from backend.core import db
from tests.chain.conftest import HOME_EID, Stage


async def stored(stage: Stage, number: int) -> Sequence[TransactionRow]:
    """Execute transactions of one wallet, and return their rows in the order of the nonces."""
    signer = await stage.wallet()
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(signer, "0x", 1)) for _ in range(number)))
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(col(TransactionRow.signer) == signer).order_by(sa.asc("nonce"))
        return (await session.execute(found)).scalars().all()


async def test_receipts_of_concurrent_callers_are_one_batch(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, post, batches = await stored(stage, 5), transport.post, []

    async def counting(node: Node, requests: Sequence[Any], **options: Any) -> Any:
        batches.append([method for method, _ in requests])
        return await post(node, requests, **options)

    chain = relay.of(await connect(HOME_EID))
    monkeypatch.setattr(transport, "post", counting)
    receipts = await asyncio.gather(*(chain.receipt(row) for row in rows))
    assert [receipt["transactionHash"] for receipt in receipts if receipt] == [row.tx_hash for row in rows]
    assert batches.count(["eth_getTransactionReceipt"] * 5) == 1


async def test_refused_bytes_are_an_error_of_their_sender_alone(stage: Stage) -> None:
    (row,), chain = await stored(stage, 1), relay.of(await connect(HOME_EID))
    never = TransactionRow(**row.model_dump() | {"tx_hash": f"0x{secrets.token_hex(32)}", "earlier": []})
    wrong = TransactionRow(**row.model_dump() | {"tx_hash": "no hash", "earlier": []})
    sent = await asyncio.gather(chain.send(row.raw), chain.send("0x00"), return_exceptions=True)
    assert [isinstance(one, RpcError) and one.says("already", "nonce too low") for one in sent] == [True, False]
    assert isinstance(sent[1], RpcError)
    looked = (chain.receipt(row), chain.receipt(never), chain.receipt(wrong))
    mined, none, refused = await asyncio.gather(*looked, return_exceptions=True)
    assert isinstance(mined, dict)
    assert none is None
    assert isinstance(refused, RpcError)


async def test_ends_that_are_recorded_together_are_each_complete(stage: Stage) -> None:
    rows, chain = await stored(stage, 4), relay.of(await connect(HOME_EID))
    failed: dict[str, Any] = {"status": TransactionStatus.FAILED, "problem": {"detail": "It was refused."}}
    confirmed = {"status": TransactionStatus.CONFIRMED, "problem": None}
    ends = [failed, confirmed, failed, confirmed]
    await asyncio.gather(*(chain.end(row, dict(end)) for row, end in zip(rows[:3], ends, strict=False)))
    await chain.end(rows[3], dict(confirmed))
    async with db.worker() as session:
        query = sa.select(TransactionRow).where(col(TransactionRow.id).in_([row.id for row in rows]))
        found = (await session.execute(query.order_by(sa.asc("nonce")))).scalars().all()
        text = "select problem is null from transactions where id = any(:ids) order by nonce"
        nulls = (await session.scalars(sa.text(text), {"ids": [row.id for row in rows]})).all()
    assert [(row.status, row.problem) for row in found] == [(end["status"], end["problem"]) for end in ends]
    assert [row.raw for row in found] == [row.raw for row in rows]
    assert nulls[1] == nulls[3], "alone and together, nothing is stored in the same way"
