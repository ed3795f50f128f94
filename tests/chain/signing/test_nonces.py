"""Nonces: Signum's own, independent of the node's response."""

import asyncio

import pytest
import sqlalchemy as sa

from backend.chain.abi.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.models import SignerRow, TransactionStatus
from backend.chain.rpc import json_rpc
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import execution, settlement
from backend.chain.transactions.execution import execute, find
from backend.core import db
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import counted, passed, row_of
from tests.support.faulty_node import Faulty


@pytest.mark.parametrize("answer", ["0x0", "0x1"])
async def test_nonce_reported_too_low_is_ignored(stage: Stage, node: Faulty, short_timeouts: None, answer: str) -> None:
    signer = await stage.wallet()
    for _ in range(2):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1))
    node.answers("eth_getTransactionCount", answer)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=f"low:{answer}")
    node.heals()
    assert passed(outcome, await row_of(f"low:{answer}"))
    assert await counted(signer) == 3


async def test_nonce_reported_too_high_leaves_no_gap(stage: Stage, node: Faulty, short_timeouts: None) -> None:
    """The transaction waits behind missing nonces: they are used up, and nothing is executed twice."""
    signer, receiver = await stage.wallet(), await stage.wallet()
    before = await json_rpc.native_balance(HOME_EID, receiver)
    node.answers("eth_getTransactionCount", "0x3", times=1)
    outcome = await stage.do(HOME_EID, signer, Call(receiver, "0x", 5), key="high")
    row = await row_of("high")
    assert (passed(outcome, row), row.nonce, row.earlier) == (True, 3, [])
    assert await counted(signer) == 4
    assert await json_rpc.native_balance(HOME_EID, receiver) == before + 5
    await settlement.settle_open(await connect(HOME_EID))
    following = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="after high")
    assert (await row_of("after high")).nonce == 4
    assert following.block_number > 0


async def test_absurd_nonce_is_rejected(stage: Stage, node: Faulty) -> None:
    signer = await stage.wallet()
    node.answers("eth_getTransactionCount", hex(2**60))
    with pytest.raises(ChainUnavailable, match="is not trusted"):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    node.heals()
    assert await find("absurd") is None
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    assert (await row_of("absurd")).nonce == 0


async def test_nonce_too_low_error_is_ignored_when_it_is_false(
    stage: Stage, node: Faulty, short_timeouts: None
) -> None:
    signer = await stage.wallet()
    node.refuses("eth_sendRawTransaction", -32003, "nonce too low", times=4)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="not too low")
    assert passed(outcome, await row_of("not too low"))


async def test_nonce_taken_by_another_transaction_fails_and_the_retry_gets_a_new_one(
    stage: Stage, short_timeouts: None
) -> None:
    """The key is also used elsewhere: a stored transaction can never be mined."""
    signer = await stage.wallet()
    intent = Call(signer, "0x", 1).intent("taken", eid=HOME_EID, signer=signer)
    await execution._prepare(intent)
    chain = await connect(HOME_EID)
    await chain.request("anvil_impersonateAccount", signer)
    await chain.request("eth_sendTransaction", {"from": signer, "to": signer, "value": "0x2"})
    with pytest.raises(Reverted, match="was used by another transaction"):
        await execute(intent)
    assert (await row_of("taken")).status is TransactionStatus.FAILED
    await execute(intent)
    assert ((await row_of("taken")).status, (await row_of("taken")).nonce) == (TransactionStatus.CONFIRMED, 1)


async def test_intent_that_three_runs_store_together_has_one_transaction_and_no_gap(stage: Stage) -> None:
    signer = await stage.wallet()
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1))
    intent = Call(signer, "0x", 1).intent("together", eid=HOME_EID, signer=signer)
    rows = await asyncio.gather(*(execution._prepare(intent) for _ in range(3)))
    assert {(row.id, row.nonce) for row in rows} == {(rows[0].id, 1)}
    await execute(intent)
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="after it")
    assert (await row_of("after it")).nonce == 2


async def test_signer_has_one_row(stage: Stage) -> None:
    signer = await stage.wallet()
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(signer, "0x", 1)) for _ in range(3)))
    async with db.worker() as session:
        rows = (await session.execute(sa.select(SignerRow.next_nonce).where(SignerRow.address == signer))).all()
    assert rows == [(3,)]
