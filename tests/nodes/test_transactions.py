"""Transactions behind public RPC URLs: each intent is executed once, and its row matches the chain."""

import asyncio
import contextlib
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import json_rpc
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions.execution import execute
from backend.core import db
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import passed, row_of, stored
from tests.nodes import truth
from tests.support.node_pool.options import Batches
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long

LOST = {"title": "Conflict", "detail": "The nonce was used by another transaction.", "name": "NonceUsed"}


async def wallet(pool: NodePool) -> str:
    """A funded wallet."""
    address = (await provider().create()).address
    await pool.fund(address)
    return address


async def asked(pool: NodePool, method: str, times: int, waiter: asyncio.Task[Any], first: str = "") -> None:
    """Return when a method was called a number of further times (all times count if its first parameter is given), or
    when the waiter that calls it has ended."""
    start = 0 if first else len(pool.asked)
    async with asyncio.timeout(30):
        while not waiter.done():
            called = [a for a in pool.asked[start:] if a.method == method and (not first or a.parameters[0] == first)]
            if len(called) >= times:
                return
            await asyncio.sleep(0.005)


async def until_it_ends(stage: Stage, signer: str, call: Call, key: str) -> Outcome:
    """Execute a call as a person does who retries failures, up to twenty times."""
    for _ in range(19):
        with contextlib.suppress(Reverted, ChainUnavailable):
            return await stage.do(HOME_EID, signer, call, key=key)
    return await stage.do(HOME_EID, signer, call, key=key)


async def give_up(key: str, name: str | None = None) -> None:
    """Mark a stored transaction as one whose nonce another transaction used; optionally rename it."""
    values = GIVEN_UP | ({"key": name} if name else {})
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.key) == key).values(**values))


GIVEN_UP: dict[str, Any] = {
    "status": TransactionStatus.FAILED,
    "problem": LOST,
    "receipt": None,
    "block_number": None,
    "block_hash": None,
}
"""A row whose nonce was wrongly recorded as used by another transaction."""


# HIGH-1: receipts, nonces and blocks come from different machines.


@pytest.mark.parametrize(
    "behind", [5, pytest.param(3, marks=pytest.mark.nightly), pytest.param(20, marks=pytest.mark.nightly)]
)
async def test_burns_with_late_receipts_are_executed_once(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, behind: int
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(lags=(0, behind), routes={"eth_getTransactionReceipt": 1}, mines_every=4)
    for number in range(4):
        key = f"late:{behind}:{number}"
        outcome = await until_it_ends(stage, stage.treasury, token.burn(at, 1), key)
        assert passed(outcome, await row_of(key))
    assert await truth.burns(pool.node, at) == 4
    assert await truth.supply(pool.node, at) == 96


async def test_burn_with_a_cancelled_and_restarted_waiter_is_executed_once(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(lags=(0, 5), routes={"eth_getTransactionReceipt": 1}, mines_every=4)
    for number in range(4):
        key = f"cancelled:{number}"
        waiter = asyncio.create_task(stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key=key))
        await stored(key)
        await asked(pool, "eth_getTransactionReceipt", 3, waiter)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        await until_it_ends(stage, stage.treasury, token.burn(at, 1), key)
    assert await truth.burns(pool.node, at) == 4


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.nightly), pytest.param(2, marks=pytest.mark.nightly)]
)
async def test_burns_behind_machines_at_different_heights_are_executed_once(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, seed: int
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(seed=seed, machines=3, most_behind=20, syncing_at=3, mines_every=3)
    keys = [f"heights:{seed}:{number}" for number in range(4)]
    await asyncio.gather(*(until_it_ends(stage, stage.treasury, token.burn(at, 1), key) for key in keys))
    assert await truth.burns(pool.node, at) == 4
    assert [(await row_of(key)).status for key in keys] == [TransactionStatus.CONFIRMED] * 4


async def test_failed_row_with_a_mined_transaction_is_corrected_by_a_retry(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    first = await stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key="given up")
    await give_up("given up")
    again = await stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key="given up")
    assert again.tx_hash == first.tx_hash
    assert passed(again, await row_of("given up"))
    assert await truth.burns(pool.node, at) == 1


async def test_earlier_failed_row_with_a_mined_transaction_is_found_before_the_next_signature(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    """The first attempt was given up although it was mined, the second was mined and refused, a third is requested."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(automine=False, mines_every=None)
    burn = token.burn(at, 60)
    tries = [asyncio.create_task(stage.do(HOME_EID, stage.treasury, burn, key=f"try:{n}")) for n in range(2)]
    for number in range(2):
        await asked(pool, "eth_sendRawTransaction", 1, tries[number], (await stored(f"try:{number}")).raw)
    pool.become(automine=True, mines_every=2)
    await asyncio.gather(*tries, return_exceptions=True)
    mined, refused = sorted((await row_of("try:0"), await row_of("try:1")), key=lambda row: row.nonce)
    assert (mined.status, refused.status) == (TransactionStatus.CONFIRMED, TransactionStatus.FAILED)
    await give_up(mined.key, f"third#failed{mined.nonce}")
    await rename(refused.key, "third")

    outcome = await stage.do(HOME_EID, stage.treasury, burn, key="third")
    assert outcome.tx_hash == mined.tx_hash
    assert await truth.burns(pool.node, at) == 1
    assert await truth.supply(pool.node, at) == 40


async def rename(key: str, name: str) -> None:
    """Give a stored transaction another key."""
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.key) == key).values(key=name))


async def test_retry_behind_a_syncing_machine_executes_nothing_twice(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    keys = [f"syncing:{number}" for number in range(4)]
    for key in keys:
        await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key=key)
        await give_up(key)
    pool.become(lags=(0, 8), syncing_at=3, mines_every=2, seed=11)
    for key in keys:
        await until_it_ends(stage, stage.treasury, token.burn(at, 1), key)
    assert await truth.burns(pool.node, at) == 4


async def test_nonce_used_by_another_transaction_is_accepted_only_at_a_final_block(
    stage: Stage, public: None, pool: NodePool
) -> None:
    signer = await wallet(pool)
    pool.become(automine=False)
    waiter = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="taken"))
    row = await stored("taken")
    await asked(pool, "eth_getTransactionReceipt", 1, waiter)
    await pool.node.call("anvil_dropTransaction", row.tx_hash)
    await spend_nonce(pool, signer)
    await pool.mine(5)
    await asked(pool, "eth_getTransactionReceipt", 20, waiter)
    assert await truth.count(pool.node, signer) == row.nonce + 1
    assert not waiter.done()
    assert (await row_of("taken")).status is TransactionStatus.SUBMITTING
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)


async def spend_nonce(pool: NodePool, signer: str) -> None:
    """Use the signer's next nonce with a transaction that the store does not know."""
    await pool.node.call("anvil_impersonateAccount", signer)
    fields = {"from": signer, "to": "0x" + "22" * 20, "value": "0x2", "gas": "0x5208", "gasPrice": hex(10**11)}
    await pool.node.call("eth_sendTransaction", fields)
    await pool.node.call("anvil_stopImpersonatingAccount", signer)
    await pool.mine()


async def test_confirmed_balance_is_read_back_behind_lagging_machines(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=10)
    pool.become(lags=(0, 6, 9), mines_every=3)
    for amount in range(11, 15):
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 1))
        answer = [await token.balance_of(HOME_EID, at, stage.treasury) for _ in range(8)]
        assert answer == [amount] * 8


async def test_transfer_after_its_attestation_is_accepted_behind_lagging_machines(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(lags=(0, 6, 9), mines_every=3)
    for _ in range(4):
        holder = await wallet(pool)
        await stage.attest(HOME_EID, holder)
        await stage.do(HOME_EID, stage.treasury, token.transfer(at, holder, 1))
        assert await token.balance_of(HOME_EID, at, holder) == 1


# Blockers 1, 3 and 4: what public nodes do not support.


@pytest.mark.parametrize("batches", [Batches.HTTP_400, Batches.ERROR_OBJECT, Batches.ERROR_LIST])
async def test_transaction_is_executed_by_a_node_that_refuses_batches(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, batches: Batches
) -> None:
    pool.become(batches=batches, mines_every=3)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1))
    assert await truth.burns(pool.node, at) == 1


async def test_transaction_is_executed_by_a_node_that_limits_batches(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(most_calls=3, mines_every=3)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    assert await truth.supply(pool.node, at) == 100


async def test_transaction_is_executed_without_optional_fee_methods(stage: Stage, public: None, pool: NodePool) -> None:
    signer = await wallet(pool)
    pool.become(missing=frozenset({"eth_maxPriorityFeePerGas", "eth_feeHistory"}), mines_every=3)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="plain fees")
    assert passed(outcome, await row_of("plain fees"))
    assert await truth.count(pool.node, signer) == 1


async def test_stuck_transaction_is_sent_again_by_a_latest_state_only_node(
    stage: Stage, public: None, pool: NodePool
) -> None:
    """HyperEVM's public RPC answers `eth_call` and its kind for the latest block only."""
    signer = await wallet(pool)
    pool.become(history=0, safe=None, final=None, automine=False)
    waiter = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="latest only"))
    row = await stored("latest only")
    await asked(pool, "eth_sendRawTransaction", 1, waiter, row.raw)
    await pool.node.call("anvil_dropTransaction", row.tx_hash)
    await asked(pool, "eth_sendRawTransaction", 2, waiter, row.raw)
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    assert passed(await waiter, await row_of("latest only"))
    assert await truth.count(pool.node, signer) == 1


# Lost responses, and limits.


@pytest.mark.parametrize("hangs", [False, True])
async def test_transaction_with_a_lost_response_is_executed_once(
    stage: Stage, public: None, short_timeouts: None, pool: NodePool, hangs: bool
) -> None:
    signer = await wallet(pool)
    pool.become(lost=1.0, hangs=hangs, mines_every=3)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=f"lost:{hangs}")
    assert passed(outcome, await row_of(f"lost:{hangs}"))
    assert await truth.count(pool.node, signer) == 1


async def test_transactions_are_executed_once_behind_rate_limits_and_gateway_errors(
    stage: Stage, public: None, pool: NodePool
) -> None:
    signer = await wallet(pool)
    pool.become(rate_limited=0.2, gateway_errors=0.1, mines_every=3, seed=2)
    for number in range(3):
        await until_it_ends(stage, signer, Call(signer, "0x", 1), f"limited:{number}")
    assert await truth.count(pool.node, signer) == 3


# Reorgs while a transaction waits.


@pytest.mark.parametrize("returned", [0.0, 1.0])
async def test_burn_is_executed_once_through_reorgs_noticed_late(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, returned: float
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    pool.become(lags=(0, 2), switches_within=30, mines_every=20)
    key = f"reorgs:{returned}"
    waiter = asyncio.create_task(stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key=key))
    await stored(key)
    for depth in (1, 2):
        await asked(pool, "eth_getTransactionReceipt", 10, waiter)
        if not waiter.done():
            await pool.reorg(depth, returned=returned)
    pool.become(mines_every=2)
    await waiter
    assert await truth.burns(pool.node, at) == 1
    assert await truth.supply(pool.node, at) == 93


async def test_refusal_after_a_reorg_of_an_earlier_transaction_is_waited_out(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    pool.become(mines_every=2)
    at, request = await stage.token(HOME_EID, open_rules), uuid4()
    mint = token.mint(at, stage.treasury, 7)
    await execute(mint.intent(f"{request}:mint", eid=HOME_EID, signer=stage.treasury, request_id=request))
    minted = await row_of(f"{request}:mint")
    await pool.replace(minted.block_number or 0, returned=0.0)
    burn = token.burn(at, 7).intent(f"{request}:burn", eid=HOME_EID, signer=stage.treasury, request_id=request)
    with json_rpc.patience(60):
        await execute(burn)
    assert await truth.supply(pool.node, at) == 0
    assert await truth.burns(pool.node, at) == 1
