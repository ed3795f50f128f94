"""Reorgs of a node pool: blocks are replaced, and the machines notice one by one."""

import pytest

from backend.chain.abi import codec
from tests.support.node_pool.callers import SENDER, Caller

pytestmark = pytest.mark.long


@pytest.mark.parametrize("depth", [1, 3, 70])
async def test_reorg_replaces_blocks_with_one_more(caller: Caller, coin: str, depth: int) -> None:
    await caller.pool.mine(75)
    kept = await caller.mint(coin)
    await caller.pool.mine(depth - 1)
    before = await caller.height()
    old = [await hash_of(caller, before - below) for below in range(depth + 1)]
    await caller.pool.reorg(depth)
    assert await caller.height() == before + 1
    new = [await hash_of(caller, before - below) for below in range(depth + 1)]
    assert new[-1] == old[-1]
    assert not set(new[:-1]) & set(old[:-1])
    assert await caller.call("eth_getBlockByHash", old[0], False) is None
    receipt = await caller.call("eth_getTransactionReceipt", kept)
    assert receipt["status"] == "0x1"
    assert receipt["blockHash"] not in old


@pytest.mark.parametrize("depth", [12, 70])
async def test_reorg_of_a_long_chain_keeps_contracts_and_their_state(caller: Caller, coin: str, depth: int) -> None:
    supply = {"to": coin, "data": codec.contract("TestUSD").data("totalSupply")}
    await caller.mint(coin)
    await caller.pool.mine(600)
    for _ in range(depth + 3):
        await caller.pool.mine()
    funds = await caller.call("eth_getBalance", SENDER, "latest")
    await caller.pool.reorg(depth)
    assert int(await caller.call("eth_call", supply, "latest"), 16) == 1
    assert await caller.call("eth_getBalance", SENDER, "latest") == funds
    await caller.mint(coin)
    assert int(await caller.call("eth_call", supply, "latest"), 16) == 2


async def hash_of(caller: Caller, number: int) -> str:
    return str((await caller.call("eth_getBlockByNumber", hex(number), False))["hash"])


async def test_transaction_dropped_by_a_reorg_is_lost_until_it_is_sent_again(caller: Caller) -> None:
    raw = await caller.signed()
    tx_hash = await caller.call("eth_sendRawTransaction", raw)
    await caller.pool.reorg(2, returned=0.0)
    assert await caller.call("eth_getTransactionReceipt", tx_hash) is None
    assert await caller.call("eth_getTransactionByHash", tx_hash) is None
    assert await caller.call("eth_sendRawTransaction", raw) == tx_hash
    assert (await caller.call("eth_getTransactionReceipt", tx_hash))["status"] == "0x1"


async def test_machines_switch_to_the_new_branch_one_by_one(caller: Caller) -> None:
    await caller.send()
    before = await caller.height()
    old = await hash_of(caller, before)
    caller.pool.become(lags=(0, 0), switches_within=15, seed=0)
    await caller.pool.reorg(1)

    answer: dict[int, list[str]] = {0: [], 1: []}
    for _ in range(60):
        block = await hash_of(caller, before)
        answer[caller.pool.asked[-1].machine].append(block)
    for branches in answer.values():
        assert len(set(branches)) == 2, "the machine has reported both branches"
        assert branches == sorted(branches, key=lambda entry: entry != old), "first the old one, then the new one"


async def test_machine_on_the_old_branch_has_its_blocks_logs_and_nonces(caller: Caller, coin: str) -> None:
    count = await caller.count()
    caller.pool.become(lags=(0,), switches_within=10**6, seed=1)
    tx_hash = await caller.mint(coin)
    await caller.pool.mine()
    old = await caller.call("eth_getTransactionReceipt", tx_hash)
    await caller.pool.reorg(2, returned=0.0)

    assert await caller.call("eth_getTransactionReceipt", tx_hash) == old
    assert (await caller.call("eth_getTransactionByHash", tx_hash))["blockHash"] == old["blockHash"]
    assert (await caller.call("eth_getBlockByHash", old["blockHash"], False))["number"] == old["blockNumber"]
    assert await caller.call("eth_getBlockReceipts", old["blockNumber"]) == [old]
    assert await caller.count() == count + 1
    by_hash = {"blockHash": old["blockHash"], "address": coin}
    by_number = {"fromBlock": "0x0", "toBlock": "latest", "address": [coin], "topics": [old["logs"][0]["topics"][0]]}
    assert await caller.call("eth_getLogs", by_hash) == old["logs"]
    assert (await caller.call("eth_getLogs", by_number))[-1:] == old["logs"]
    assert await caller.call("eth_getLogs", by_number | {"topics": [["0x" + "77" * 32]]}) == []

    caller.pool.become(switches_within=0)
    assert await caller.call("eth_getTransactionReceipt", tx_hash) is None
    assert await caller.call("eth_getLogs", by_hash) == {"code": -32000, "message": "unknown block"}
    assert await caller.call("eth_getLogs", by_number) == []
    assert await caller.count() == count
