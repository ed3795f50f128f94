"""Transactions that do not get into a block without a replacement."""

import asyncio
from typing import Any

import pytest

from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.models import TransactionStatus
from backend.chain.rpc.json_rpc import connect
from backend.chain.signing.fees import Fees
from backend.chain.transactions import quote
from backend.chain.transactions.execution import execute
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import bumped, counted, held, in_pool, passed, pooled, row_of, stored
from tests.support.faulty_node import Faulty


async def test_dropped_transaction_is_sent_again(stage: Stage, short_timeouts: None) -> None:
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    async with held(chain):
        waiting = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="dropped"))
        first = await stored("dropped")
        await in_pool(chain, first.tx_hash)
        await chain.request("anvil_dropTransaction", first.tx_hash)
        again = await pooled(chain, signer, lambda tx_hash: True)
    outcome = await waiting
    row = await row_of("dropped")
    assert passed(outcome, row)
    assert again in row.hashes
    assert await counted(signer) == 1


async def test_stuck_transaction_is_replaced_with_a_higher_fee_and_the_same_nonce(
    stage: Stage, short_timeouts: None
) -> None:
    """Its fee falls below the block's: it is replaced by rule, and only one of them is mined."""
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    answer: list[str] = []
    async with held(chain):
        intent = Call(signer, "0x", 1).intent("stuck", eid=HOME_EID, signer=signer)

        async def hear(tx_hash: str) -> None:
            answer.append(tx_hash)

        waiting = asyncio.create_task(execute(intent, on_stored=hear))
        first = await stored("stuck")
        await in_pool(chain, first.tx_hash)
        await pooled(chain, signer, lambda tx_hash: tx_hash != first.tx_hash)
    outcome = await waiting
    row = await row_of("stuck")
    assert passed(outcome, row)
    assert row.nonce == first.nonce
    assert first.tx_hash in row.hashes
    assert answer[0] == first.tx_hash
    assert row.tx_hash in answer
    assert (row.max_fee or 0) * 8 >= (first.max_fee or 0) * 9
    assert (row.tip or 0) * 8 >= (first.tip or 0) * 9
    assert await counted(signer) == 1


async def test_replaced_transaction_that_is_mined_after_all_is_stored(
    stage: Stage, node: Faulty, short_timeouts: None
) -> None:
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    async with held(chain):
        waiting = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="replaced"))
        first = await stored("replaced")
        await in_pool(chain, first.tx_hash)

        def swallows_others(call: dict[str, Any]) -> dict[str, Any] | None:
            is_other = call["method"] == "eth_sendRawTransaction" and call["params"][0] != first.raw
            return {"result": "0x" + "0" * 64} if is_other else None

        node.does(swallows_others)
        await bumped("replaced", first.tx_hash)
    outcome = await waiting
    row = await row_of("replaced")
    assert passed(outcome, row)
    assert (row.tx_hash, row.raw) == (first.tx_hash, first.raw)
    assert first.tx_hash not in [entry["tx_hash"] for entry in row.earlier]


async def test_gas_below_the_node_minimum_is_estimated_again(stage: Stage, node: Faulty, short_timeouts: None) -> None:
    signer = await stage.wallet()
    node.answers("eth_estimateGas", "0x10", times=1)  # below the minimum fee of a transaction
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="intrinsic")
    row = await row_of("intrinsic")
    assert (passed(outcome, row), row.nonce) == (True, 0)
    assert await counted(signer) == 1


async def test_out_of_gas_is_reported_and_the_retry_has_enough_gas(
    stage: Stage, node: Faulty, open_rules: TokenRules
) -> None:
    at = await stage.token(HOME_EID, open_rules)
    node.answers("eth_estimateGas", hex(24_000), times=1)
    mint = token.mint(at, stage.treasury, 7)
    with pytest.raises(Reverted, match="ran out of gas") as failed:
        await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert (failed.value.name, failed.value.resolution) == ("OutOfGas", "Retry; the gas is estimated again.")
    row = await row_of("gas")
    assert (row.status, (row.problem or {})["name"]) == (TransactionStatus.FAILED, "OutOfGas")
    await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert await token.total_supply(HOME_EID, at) == 7


def test_replacement_fees_rise_by_an_eighth_or_to_the_market_price_within_a_bound() -> None:
    assert quote.raised(Fees(800, 80), Fees(100, 10)) == Fees(901, 91)
    assert quote.raised(Fees(800, 80), Fees(2_000, 200)) == Fees(2_000, 200)
    assert quote.raised(Fees(900, 90), Fees(100, 10)) is None
    assert quote.raised(Fees(1, 0), Fees(1, 0)) == Fees(2, 1)
