"""Reorganizations deeper than any confirmation, and chains restored to an older state."""

import asyncio
import shutil
from collections.abc import Iterator
from datetime import timedelta

import pytest

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.devnet import anvil
from backend.chain.indexer import index_pass, indexer
from backend.chain.models import TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc, connect, restoring
from backend.chain.rpc.node_urls import ports_file
from backend.chain.transactions import confirmation, settlement
from backend.chain.transactions.execution import execute, recover
from backend.core.runtime import runtime
from backend.core.settings import settings
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers
from tests.chain.transactions.observation import passed, row_of, stored

pytestmark = pytest.mark.long

DEPTH = 2
"""Confirmations of a public testnet."""


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The chain counts as public: nothing is replayed, and a transaction waits for its confirmations."""
    with monkeypatch.context() as patch:
        patch.setattr(node_urls, "is_embedded", lambda eid: False)
        patch.setattr(confirmation, "_delays", lambda eid: iter(lambda: 0.02, None))
        patch.setattr(confirmation, "RESEND", {True: 0.05, False: 0.05})
        patch.setattr(settlement, "LEFT_ALONE", timedelta(0))
        yield


async def mine(chain: Rpc, blocks: int) -> None:
    await chain.request("anvil_mine", hex(blocks))


def set_confirmations(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Set the number of blocks on top of a block that make it count as included."""
    for module in (confirmation, index_pass, indexer):
        monkeypatch.setattr(module, "confirmations", lambda eid: count)


async def receipt(chain: Rpc, tx_hash: str) -> bool:
    return await chain.request("eth_getTransactionReceipt", tx_hash) is not None


@pytest.mark.parametrize("depth", range(1, DEPTH + 1))
async def test_transaction_moved_to_another_block_while_pending_is_followed(
    stage: Stage, open_rules: TokenRules, public: None, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    set_confirmations(monkeypatch, 0)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    set_confirmations(monkeypatch, DEPTH)
    chain, key = await connect(HOME_EID), f"reorg:{depth}"
    waiting = asyncio.create_task(stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key=key))
    row = await stored(key)
    async with asyncio.timeout(60):
        while not await receipt(chain, row.tx_hash):  # noqa: ASYNC110 - the node mines it
            await asyncio.sleep(0.005)
    await mine(chain, depth - 1)
    await chain.request("anvil_reorg", depth, [])
    async with asyncio.timeout(60):
        while not await receipt(chain, row.tx_hash):  # noqa: ASYNC110 - it is sent again
            await asyncio.sleep(0.005)
    assert not waiting.done()
    await mine(chain, DEPTH)
    outcome = await waiting
    row = await row_of(key)
    assert passed(outcome, row)
    block = await chain.request("eth_getBlockByNumber", hex(outcome.block_number), False)
    assert block["hash"] == outcome.block_hash
    assert await token.total_supply(HOME_EID, at) == 93
    await indexer.catch_up(HOME_EID, outcome.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 7]


async def test_transaction_reorganized_below_its_confirmations_is_open_until_final(
    stage: Stage, open_rules: TokenRules, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_confirmations(monkeypatch, 0)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    set_confirmations(monkeypatch, DEPTH)
    chain = await connect(HOME_EID)
    waiting = asyncio.create_task(stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key="deep"))
    row = await stored("deep")
    async with asyncio.timeout(60):
        while not await receipt(chain, row.tx_hash):  # noqa: ASYNC110 - the node mines it
            await asyncio.sleep(0.005)
    await mine(chain, DEPTH)
    first = await waiting
    await indexer.catch_up(HOME_EID, first.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 7]

    await chain.request("anvil_reorg", DEPTH + 1, [])
    await indexer.catch_up(HOME_EID, first.block_number - 1)
    reopened = await row_of("deep")
    assert (reopened.status, reopened.block_number) == (TransactionStatus.SUBMITTING, None)
    assert [amount for *_, amount in await transfers(at)] == [100]

    async with asyncio.timeout(60):
        while not await receipt(chain, row.tx_hash):
            await settlement.settle_open(chain)
    await settlement.settle_open(chain)
    assert (await row_of("deep")).status is TransactionStatus.SUBMITTING, "it has no confirmations yet"
    await mine(chain, DEPTH)
    await settlement.settle_open(chain)
    again = await row_of("deep")
    assert (again.status, again.tx_hash) == (TransactionStatus.CONFIRMED, first.tx_hash)
    assert again.block_hash != first.block_hash
    assert again.block_number is not None
    await indexer.catch_up(HOME_EID, again.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 7]
    assert await token.total_supply(HOME_EID, at) == 93


async def test_chain_restored_to_an_older_state_receives_later_transactions(
    stage: Stage, open_rules: TokenRules
) -> None:
    """An operator restores the chain's file from a backup, but not the database."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    state = ports_file(settings().home).parent / f"{HOME_EID}.json"
    end(HOME_EID)
    backup = shutil.copy(state, state.with_suffix(".backup"))
    anvil.revive()
    await recover([HOME_EID])

    holder = await stage.wallet()
    await stage.attest(HOME_EID, holder)
    sent = [
        await stage.do(HOME_EID, stage.treasury, token.transfer(at, holder, amount), key=f"restored:{amount}")
        for amount in (1, 2, 3)
    ]
    await indexer.catch_up(HOME_EID, sent[-1].block_number)
    end(HOME_EID)
    shutil.copy(backup, state)
    anvil.revive()
    with restoring():
        assert await token.balance_of(HOME_EID, at, holder) == 0
    await recover([HOME_EID])

    assert await token.balance_of(HOME_EID, at, holder) == 6
    for amount, outcome in zip((1, 2, 3), sent, strict=True):
        row = await row_of(f"restored:{amount}")
        assert (row.status, row.tx_hash) == (TransactionStatus.CONFIRMED, outcome.tx_hash)
    again = await execute(token.transfer(at, holder, 3).intent("restored:3", eid=HOME_EID, signer=stage.treasury))
    await indexer.catch_up(HOME_EID, again.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 1, 2, 3]


def end(eid: int) -> None:
    """Stop a node; it saves its state."""
    process = runtime.part(anvil.NodeProcesses).running[eid]
    process.terminate()
    process.wait(10)
