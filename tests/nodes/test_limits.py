"""Refusals of a node pool's provider, and how it refuses."""

import httpx
import pytest

from tests.support.node_pool.callers import SENDER, Caller, batch
from tests.support.node_pool.options import Batches


async def test_batches_are_refused_like_providers_do(caller: Caller) -> None:
    caller.pool.become(batches=Batches.HTTP_400)
    assert (await caller.post(batch("eth_blockNumber"))).status_code == 400
    caller.pool.become(batches=Batches.ERROR_OBJECT)
    assert (await caller.post(batch("eth_blockNumber"))).json()["error"]["code"] == -32600
    caller.pool.become(batches=Batches.ERROR_LIST)
    (response,) = (await caller.post(batch("eth_blockNumber", "eth_chainId"))).json()
    assert (response["id"], response["error"]["code"]) == (None, -32600)
    assert await caller.height() > 0, "a single call is answered"
    caller.pool.become(batches=Batches.ANSWERED, most_calls=2)
    assert len((await caller.post(batch("eth_blockNumber", "eth_chainId"))).json()) == 2
    assert "error" in (await caller.post(batch(*["eth_blockNumber"] * 3))).json()


@pytest.mark.parametrize("blocks", [5, 50, 2_000])
async def test_log_range_wider_than_the_limit_is_refused(caller: Caller, blocks: int) -> None:
    caller.pool.become(log_range=blocks)
    query = {"fromBlock": "0x10", "address": SENDER}
    assert await caller.call("eth_getLogs", query | {"toBlock": hex(0x10 + blocks - 1)}) == []
    words = set()
    for _ in range(30):
        refused = await caller.call("eth_getLogs", query | {"toBlock": hex(0x10 + blocks)})
        words.add((refused["code"], refused["message"]))
    assert len(words) > 3
    assert all(str(blocks) in message for _, message in words)


async def test_logs_or_addresses_above_the_limit_are_refused(caller: Caller, coin: str) -> None:
    first = await caller.pool.node.height() + 1
    for _ in range(3):
        await caller.mint(coin)
    query = {"fromBlock": hex(first), "toBlock": "latest", "address": [coin, SENDER]}
    caller.pool.become(log_results=3, log_addresses=2)
    assert len(await caller.call("eth_getLogs", query)) == 3
    caller.pool.become(log_results=2)
    assert (await caller.call("eth_getLogs", query))["code"] in (-32005, -32602)
    caller.pool.become(log_results=None, log_addresses=1)
    assert "exceed max addresses" in (await caller.call("eth_getLogs", query))["message"]


async def test_state_of_blocks_beyond_the_history_is_refused(caller: Caller) -> None:
    head = await caller.pool.node.height()
    caller.pool.become(history=0)
    call = {"from": SENDER, "to": SENDER, "value": "0x1"}
    assert await caller.call("eth_call", call, "latest") == await caller.call("eth_call", call, hex(head)) == "0x"
    for method, parameter in (("eth_call", call), ("eth_getTransactionCount", SENDER), ("eth_estimateGas", call)):
        assert "code" in await caller.call(method, parameter, hex(head - 1))
    caller.pool.become(history=5)
    assert await caller.call("eth_call", call, hex(head - 5)) == "0x"
    assert "code" in await caller.call("eth_call", call, hex(head - 6))
    assert (await caller.call("eth_getBlockByNumber", "0x1", False))["number"] == "0x1", "blocks are not state"


async def test_tags_name_blocks_below_the_machine_head_or_are_refused(caller: Caller) -> None:
    caller.pool.become(lags=(4,), safe=3, final=9)
    head = await caller.pool.node.height() - 4
    for tag, number in (("latest", head), ("safe", head - 3), ("finalized", head - 9), ("earliest", 0)):
        assert int((await caller.call("eth_getBlockByNumber", tag, False))["number"], 16) == number
    assert int(await caller.call("eth_getBalance", SENDER, "finalized"), 16) >= 0
    caller.pool.become(safe=None, final=None)
    codes = {(await caller.call("eth_getBlockByNumber", tag, False))["code"] for tag in ["safe", "finalized"] * 10}
    assert codes == {-39001, -32000, -32602}


async def test_missing_methods_are_refused(caller: Caller) -> None:
    missing = frozenset({"eth_maxPriorityFeePerGas", "eth_feeHistory"})
    assert int(await caller.call("eth_maxPriorityFeePerGas"), 16) >= 0
    assert "baseFeePerGas" in await caller.call("eth_feeHistory", "0x2", "latest", [])
    caller.pool.become(missing=missing)
    assert {(await caller.call(method, "0x2", "latest", []))["code"] for method in missing} == {-32601}


async def test_rate_limits_and_gateway_errors_are_http_statuses(caller: Caller) -> None:
    caller.pool.become(rate_limited=1.0, retry_after=7)
    answer = await caller.post(batch("eth_blockNumber"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    caller.pool.become(rate_limited=0.0, gateway_errors=1.0)
    assert (await caller.post(batch("eth_blockNumber"))).status_code == 502


@pytest.mark.parametrize("hangs", [False, True])
async def test_response_is_lost_after_the_chain_accepted_the_transaction(caller: Caller, hangs: bool) -> None:
    caller.pool.become(lost=1.0, hangs=hangs)
    before = await caller.pool.node.height()
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [await caller.signed()]}
    with pytest.raises(httpx.ReadTimeout if hangs else httpx.RemoteProtocolError):
        await caller.http.post(caller.pool.url, json=body, timeout=1)
    assert await caller.pool.node.height() == before + 1
    assert await caller.height() == before + 1, "other calls are answered"


async def test_stuck_methods_are_not_answered(caller: Caller) -> None:
    caller.pool.become(stuck=frozenset({"eth_getLogs"}))
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{}]}
    with pytest.raises(httpx.ReadTimeout):
        await caller.http.post(caller.pool.url, json=body, timeout=0.2)
    assert caller.pool.asked[-1].method == "eth_getLogs"
    assert await caller.height() > 0
