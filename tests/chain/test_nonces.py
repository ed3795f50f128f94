"""Nonces: ours, whatever a node tells of them."""

import asyncio

import pytest
import sqlalchemy as sa

from backend import db
from backend.chain import rpc, settlement, transactions
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.models import SignerRow, TransactionStatus
from backend.chain.rpc import connect
from backend.chain.transactions import execute, find
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.faulty import Faulty
from tests.chain.watching import counted, passed, row_of


@pytest.mark.parametrize("told", ["0x0", "0x1"])
async def test_a_nonce_that_is_told_too_low_is_not_believed(stage: Stage, node: Faulty, quick: None, told: str) -> None:
    signer = await stage.wallet()
    for _ in range(2):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1))
    node.answers("eth_getTransactionCount", told)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=f"low:{told}")
    node.heals()
    assert passed(outcome, await row_of(f"low:{told}"))
    assert await counted(signer) == 3


async def test_a_nonce_that_is_told_too_high_leaves_no_gap(stage: Stage, node: Faulty, quick: None) -> None:
    """The transaction waits behind nonces that nobody has: they are used up, and nothing is done twice."""
    signer, receiver = await stage.wallet(), await stage.wallet()
    before = await rpc.native_balance(HOME_EID, receiver)
    node.answers("eth_getTransactionCount", "0x3", times=1)
    outcome = await stage.do(HOME_EID, signer, Call(receiver, "0x", 5), key="high")
    row = await row_of("high")
    assert (passed(outcome, row), row.nonce, row.earlier) == (True, 3, [])
    assert await counted(signer) == 4
    assert await rpc.native_balance(HOME_EID, receiver) == before + 5
    await settlement.settle_open(await connect(HOME_EID))
    following = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="after high")
    assert (await row_of("after high")).nonce == 4
    assert following.block_number > 0


async def test_an_absurd_nonce_is_refused(stage: Stage, node: Faulty) -> None:
    signer = await stage.wallet()
    node.answers("eth_getTransactionCount", hex(2**60))
    with pytest.raises(ChainUnavailable, match="is not believed"):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    node.heals()
    assert await find("absurd") is None
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    assert (await row_of("absurd")).nonce == 0


async def test_nonce_too_low_is_no_end_while_it_is_not_so(stage: Stage, node: Faulty, quick: None) -> None:
    signer = await stage.wallet()
    node.refuses("eth_sendRawTransaction", -32003, "nonce too low", times=4)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="not too low")
    assert passed(outcome, await row_of("not too low"))


async def test_a_nonce_that_another_took_ends_it_and_the_retry_has_a_new_one(stage: Stage, quick: None) -> None:
    """The key is used elsewhere too: what was stored here can never be mined."""
    signer = await stage.wallet()
    intent = Call(signer, "0x", 1).intent("taken", eid=HOME_EID, signer=signer)
    await transactions._prepare(intent)
    chain = await connect(HOME_EID)
    await chain.request("anvil_impersonateAccount", signer)
    await chain.request("eth_sendTransaction", {"from": signer, "to": signer, "value": "0x2"})
    with pytest.raises(Reverted, match="was used by another transaction"):
        await execute(intent)
    assert (await row_of("taken")).status is TransactionStatus.FAILED
    await execute(intent)
    assert ((await row_of("taken")).status, (await row_of("taken")).nonce) == (TransactionStatus.CONFIRMED, 1)


async def test_every_signer_is_one_row(stage: Stage) -> None:
    signer = await stage.wallet()
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(signer, "0x", 1)) for _ in range(3)))
    async with db.worker() as session:
        rows = (await session.execute(sa.select(SignerRow.next_nonce).where(SignerRow.address == signer))).all()
    assert rows == [(3,)]
