"""Transactions that do not get into a block by themselves."""

import asyncio
from typing import Any

import pytest

from backend.chain import pricing, token
from backend.chain.calls import Call
from backend.chain.errors import Reverted
from backend.chain.models import TransactionStatus
from backend.chain.pricing import Fees
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.chain.transactions import execute
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.faulty import Faulty
from tests.chain.watching import bumped, counted, held, in_pool, passed, pooled, row_of, stored


async def test_a_dropped_transaction_is_sent_again(stage: Stage, quick: None) -> None:
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


async def test_a_stuck_transaction_gets_more_fee_under_its_nonce(stage: Stage, quick: None) -> None:
    """Its fee is below what a block asks for meanwhile: it is replaced by rule, and only one of them is mined."""
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    told: list[str] = []
    async with held(chain):
        intent = Call(signer, "0x", 1).intent("stuck", eid=HOME_EID, signer=signer)

        async def hear(tx_hash: str) -> None:
            told.append(tx_hash)

        waiting = asyncio.create_task(execute(intent, on_stored=hear))
        first = await stored("stuck")
        await in_pool(chain, first.tx_hash)
        await pooled(chain, signer, lambda tx_hash: tx_hash != first.tx_hash)
    outcome = await waiting
    row = await row_of("stuck")
    assert passed(outcome, row)
    assert row.nonce == first.nonce
    assert first.tx_hash in row.hashes
    assert told[0] == first.tx_hash
    assert row.tx_hash in told
    assert (row.max_fee or 0) * 8 >= (first.max_fee or 0) * 9
    assert (row.tip or 0) * 8 >= (first.tip or 0) * 9
    assert await counted(signer) == 1


async def test_where_the_replaced_one_is_mined_after_all_the_row_is_that_one(
    stage: Stage, node: Faulty, quick: None
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


async def test_too_little_gas_that_no_node_takes_is_estimated_again(stage: Stage, node: Faulty, quick: None) -> None:
    signer = await stage.wallet()
    node.answers("eth_estimateGas", "0x10", times=1)  # below what any transaction costs
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="intrinsic")
    row = await row_of("intrinsic")
    assert (passed(outcome, row), row.nonce) == (True, 0)
    assert await counted(signer) == 1


async def test_out_of_gas_is_told_and_the_retry_has_enough(stage: Stage, node: Faulty, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules)
    node.answers("eth_estimateGas", hex(24_000), times=1)
    mint = token.mint(at, stage.treasury, 7)
    with pytest.raises(Reverted, match="ran out of gas") as failed:
        await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert (failed.value.name, failed.value.resolution) == ("OutOfGas", "Try it again: the gas is estimated anew.")
    row = await row_of("gas")
    assert (row.status, (row.problem or {})["name"]) == (TransactionStatus.FAILED, "OutOfGas")
    await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert await token.total_supply(HOME_EID, at) == 7


def test_fees_rise_by_an_eighth_or_to_todays_price_and_not_beyond_reason() -> None:
    assert pricing.raised(Fees(800, 80), Fees(100, 10)) == Fees(901, 91)
    assert pricing.raised(Fees(800, 80), Fees(2_000, 200)) == Fees(2_000, 200)
    assert pricing.raised(Fees(900, 90), Fees(100, 10)) is None
    assert pricing.raised(Fees(1, 0), Fees(1, 0)) == Fees(2, 1)
