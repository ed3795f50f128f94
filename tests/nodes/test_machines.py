"""The machines of a node pool: each responds as a node at its own height does."""

from itertools import pairwise

import pytest

from backend.chain.abi import codec
from tests.support.node_pool.callers import SENDER, Caller, batch, calling

pytestmark = pytest.mark.long


async def test_pool_of_one_healthy_machine_answers_like_anvil(caller: Caller) -> None:
    head = await caller.pool.node.height()
    assert await caller.height() == head
    for call in (
        ("eth_getBlockByNumber", "latest", False),
        ("eth_getBlockByNumber", hex(head), True),
        ("eth_getBalance", SENDER, "latest"),
        ("eth_chainId",),
    ):
        assert await caller.call(*call) == await caller.pool.node.call(*call)


async def test_lagging_machine_lacks_newer_blocks_and_their_transactions(caller: Caller) -> None:
    node = caller.pool.node
    before, count = await node.height(), await caller.count()
    tx_hash = await caller.send()
    block = await node.call("eth_getBlockByNumber", hex(before + 1), False)
    await caller.pool.mine(4)
    caller.pool.become(lags=(5,))

    assert await caller.height() == before
    assert await caller.call("eth_getBlockByNumber", hex(before + 1), False) is None
    assert await caller.call("eth_getBlockByHash", block["hash"], False) is None
    assert int((await caller.call("eth_getBlockByNumber", "latest", False))["number"], 16) == before
    assert await caller.call("eth_getTransactionReceipt", tx_hash) is None
    pending = await caller.call("eth_getTransactionByHash", tx_hash)
    assert (pending["hash"], pending["blockNumber"]) == (tx_hash, None)
    assert await caller.count() == count
    for method in ("eth_getBalance", "eth_getCode", "eth_getTransactionCount"):
        refused = await caller.call(method, SENDER, hex(before + 1))
        assert refused == {"code": -32000, "message": "header not found"}

    await caller.pool.mine()
    assert (await caller.call("eth_getTransactionReceipt", tx_hash))["blockNumber"] == hex(before + 1)
    assert (await caller.call("eth_getTransactionByHash", tx_hash))["blockNumber"] == hex(before + 1)
    assert await caller.count() == count + 1


async def test_lagging_machine_calls_and_estimates_with_its_own_state(caller: Caller) -> None:
    receipt = await caller.call("eth_getTransactionReceipt", await caller.deploy())
    at = receipt["contractAddress"]
    supply = {"to": at, "data": codec.contract("TestUSD").data("totalSupply")}
    mint = {"from": SENDER, "to": at, "data": codec.contract("TestUSD").data("mint", SENDER, 5)}
    assert int(await caller.call("eth_call", supply, "latest"), 16) == 0
    gas = int(await caller.call("eth_estimateGas", mint), 16)
    caller.pool.become(lags=(1,))
    assert await caller.call("eth_call", supply, "latest") == "0x"
    assert await caller.call("eth_getCode", at, "latest") == "0x"
    assert int(await caller.call("eth_estimateGas", mint), 16) < gas


async def test_logs_beyond_a_machine_head_are_missing_without_an_error(caller: Caller, coin: str) -> None:
    receipt = await caller.call("eth_getTransactionReceipt", await caller.mint(coin))
    number = receipt["blockNumber"]
    query = {"fromBlock": number, "toBlock": number, "address": coin}
    by_hash = {"blockHash": receipt["blockHash"], "address": coin}
    assert len(await caller.call("eth_getLogs", query)) == len(await caller.call("eth_getLogs", by_hash)) == 1
    caller.pool.become(lags=(1,))
    assert await caller.call("eth_getLogs", query) == []
    assert await caller.call("eth_getLogs", by_hash) == {"code": -32000, "message": "unknown block"}
    caller.pool.become(refuses_logs_beyond_head=True)
    assert (await caller.call("eth_getLogs", query))["code"] == -32602


async def test_pool_head_moves_backwards_between_machines(caller: Caller) -> None:
    caller.pool.become(machines=4, most_behind=20, seed=7)
    seen = []
    for _ in range(60):
        await caller.pool.mine()
        seen.append((await caller.pool.node.height(), await caller.height()))
    behind = [head - response for head, response in seen]
    assert min(behind) >= 0
    assert max(behind) <= 20
    assert len(set(behind)) > 8
    assert any(later < earlier for (_, earlier), (_, later) in pairwise(seen))
    by_machine: dict[int, int] = {}
    for asked in caller.pool.asked:
        assert asked.height >= by_machine.get(asked.machine, 0), "one machine's head never goes back"
        by_machine[asked.machine] = asked.height


async def test_pools_of_the_same_seed_give_the_same_answers(anvil: str) -> None:
    async def heights(seed: int) -> list[int]:
        async with calling(anvil, machines=4, most_behind=20, seed=seed) as caller:
            head = await caller.pool.node.height()
            return [await caller.height() - head for _ in range(20)]

    async with calling(anvil) as caller:
        await caller.pool.mine(30)
    assert await heights(3) == await heights(3)
    assert await heights(3) != await heights(4)


async def test_syncing_machine_stays_at_its_height(caller: Caller) -> None:
    caller.pool.become(lags=(0,), syncing_at=3)
    response = {await caller.height() for _ in range(30)}
    assert response == {3, await caller.pool.node.height()}
    caller.pool.become(routes={"eth_syncing": 1})
    assert (await caller.call("eth_syncing"))["currentBlock"] == "0x3"


async def test_routes_send_a_method_to_one_machine(caller: Caller) -> None:
    caller.pool.become(lags=(0, 9), routes={"eth_blockNumber": 1, "eth_getBlockByNumber": 0})
    head = await caller.pool.node.height()
    assert await caller.height() == head - 9
    assert int((await caller.call("eth_getBlockByNumber", "latest", False))["number"], 16) == head


async def test_batch_is_answered_by_one_machine_unless_the_pool_splits_it(caller: Caller) -> None:
    caller.pool.become(lags=(0, 3, 6, 9))
    for _ in range(5):
        answers = (await caller.post(batch(*["eth_blockNumber"] * 6))).json()
        assert [answer["id"] for answer in answers] == list(range(6))
        assert len({answer["result"] for answer in answers}) == 1
    caller.pool.become(splits_batches=True)
    answers = (await caller.post(batch(*["eth_blockNumber"] * 20))).json()
    assert len({answer["result"] for answer in answers}) == 4


async def test_machine_validates_a_transaction_with_its_own_state(caller: Caller) -> None:
    nonce = await caller.count()
    tx_hash = await caller.send(nonce)
    refused = await caller.call("eth_sendRawTransaction", await caller.signed(nonce, value=2))
    assert refused == {"code": -32000, "message": f"nonce too low: next nonce {nonce + 1}, tx nonce {nonce}"}
    caller.pool.become(lags=(1,))
    assert await caller.send(nonce) == tx_hash, "a machine that is behind accepts it again"
    other = await caller.call("eth_sendRawTransaction", await caller.signed(nonce, value=2))
    assert other.startswith("0x"), "and accepts another one with the same nonce"
    caller.pool.become(lags=(0,))
    assert (await caller.call("eth_sendRawTransaction", await caller.signed(value=10**30)))["code"] == -32000


async def test_transaction_without_automine_waits_for_the_next_block(caller: Caller) -> None:
    caller.pool.become(automine=False)
    raw = await caller.signed()
    tx_hash = await caller.call("eth_sendRawTransaction", raw)
    assert await caller.call("eth_getTransactionReceipt", tx_hash) is None
    assert await caller.call("eth_sendRawTransaction", raw) == {"code": -32000, "message": "already known"}
    await caller.pool.mine()
    assert (await caller.call("eth_getTransactionReceipt", tx_hash))["status"] == "0x1"


async def test_chain_mines_by_request_count_when_configured(caller: Caller) -> None:
    before = await caller.pool.node.height()
    caller.pool.become(mines_every=2)
    for _ in range(6):
        await caller.call("eth_chainId")
    assert before + 2 <= await caller.pool.node.height() <= before + 4
