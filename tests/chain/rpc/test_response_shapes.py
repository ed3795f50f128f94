"""Malformed RPC responses: a clear 503, or the call is repeated."""

from pathlib import Path
from typing import Any

import pytest

from backend.chain.abi.calls import Call
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.rpc import connections, json_rpc, node_urls, response_shapes, transport
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.nodes import Node, NodeFault
from backend.chain.transactions.execution import find
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import counted, passed, row_of
from tests.support.certificate import self_signed, serving, trusting
from tests.support.faulty_node import Faulty, Raw
from tests.webhooks.receiver import Receiver


@pytest.mark.parametrize(
    "garbage",
    [
        Raw(200, b"\xff\xfenot json"),
        Raw(200, b"[" * 100_000),
        Raw(200, b"{}"),
        Raw(200, b"[]"),
        Raw(200, b'[{"id": "0", "result": "0x1"}]'),
        Raw(200, b'[{"id": 0}]'),
        Raw(200, b'[{"id": 0, "result": null}]'),
        Raw(200, b'[{"id": 0, "result": "one"}]'),
        Raw(200, b'[{"id": 0, "result": 17}]'),
        Raw(200, b'[{"id": 0, "error": "no"}]'),
    ],
)
async def test_malformed_rpc_response_is_a_503_that_names_the_chain(stage: Stage, node: Faulty, garbage: Raw) -> None:
    node.answers("eth_blockNumber", garbage)
    with pytest.raises(ChainUnavailable, match=f"chain {HOME_EID} answers with a malformed response"):
        await (await connect(HOME_EID)).height()
    node.heals()
    assert await (await connect(HOME_EID)).height() > 0


@pytest.mark.parametrize(
    ("method", "lie"),
    [
        ("eth_getTransactionReceipt", {"transactionHash": "0x" + "1" * 64, "status": "0x1"}),
        ("eth_getTransactionReceipt", "mined"),
        ("eth_getTransactionReceipt", []),
        ("eth_getTransactionReceipt", Raw(200, b"]")),
    ],
)
async def test_malformed_receipt_is_ignored(
    stage: Stage, node: Faulty, short_timeouts: None, method: str, lie: Any
) -> None:
    signer = await stage.wallet()
    key = f"garbled:{lie!s:.20}"
    node.answers(method, lie, times=3)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=key)
    assert passed(outcome, await row_of(key))
    assert await counted(signer) == 1


async def test_response_that_does_not_fit_the_contract_is_a_503(stage: Stage, node: Faulty) -> None:
    at = await stage.token(HOME_EID)
    for lie in ("0x", "0x01"):
        node.answers("eth_call", lie)
        with pytest.raises(ChainUnavailable, match="does not answer like the contract"):
            await token.total_supply(HOME_EID, at)
        node.heals()


@pytest.mark.long
async def test_read_of_a_contract_removed_by_a_reorg_waits_as_long_as_its_caller(
    stage: Stage, node: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await stage.token(HOME_EID)
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    node.answers("eth_call", "0x", times=8)
    with json_rpc.patience(60):
        assert await token.total_supply(HOME_EID, at) == 0
    node.answers("eth_call", "0x01", times=1)
    with json_rpc.patience(60), pytest.raises(ChainUnavailable, match="does not answer like the contract"):
        await token.total_supply(HOME_EID, at)


async def test_rate_limit_error_is_reported_with_its_wait_and_respected(stage: Stage, node: Faulty) -> None:
    node.answers("eth_blockNumber", Raw(429, b"slow down", (("Retry-After", "7"),)), times=1)
    chain = await connect(HOME_EID)
    with pytest.raises(ChainUnavailable, match="limits the call rate") as refused:
        await chain.height()
    assert refused.value.headers == {"Retry-After": "7"}
    asked = len(node.asked)
    with pytest.raises(ChainUnavailable):
        await chain.height()
    assert len(node.asked) == asked, "a node with Retry-After is not called"


async def test_caller_patience_outlasts_a_rate_limit(stage: Stage, node: Faulty) -> None:
    node.answers("eth_blockNumber", Raw(429, b"", (("Retry-After", "0"),)), times=1)
    node.refuses("eth_blockNumber", -32005, "daily request count exceeded", times=1)
    with json_rpc.patience(60):
        assert await (await connect(HOME_EID)).height() > 0


async def test_node_error_is_a_503_without_the_node_message(stage: Stage, node: Faulty) -> None:
    node.refuses("eth_blockNumber", -32601, "the key abc123 has no access to this method")
    with pytest.raises(RpcError) as error:
        await (await connect(HOME_EID)).height()
    assert (error.value.status, "abc123" in error.value.detail) == (503, False)
    assert str(HOME_EID) in error.value.detail


async def test_node_of_another_chain_signs_nothing(stage: Stage, node: Faulty) -> None:
    signer = await stage.wallet()
    node.answers("eth_chainId", "0x1")
    with pytest.raises(ChainUnavailable, match="belongs to another chain"):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="elsewhere")
    assert await find("elsewhere") is None


def test_batch_responses_are_put_in_request_order() -> None:
    asked = [("eth_blockNumber", []), ("eth_getCode", ["0x0", "latest"])]
    response = [{"id": 1, "result": "0x"}, {"id": 0, "result": "0x10"}]
    assert [answer["result"] for answer in response_shapes.ordered(asked, response)] == ["0x10", "0x"]
    with pytest.raises(response_shapes.Garbage):
        response_shapes.ordered(asked, [response[0], response[0]])


async def test_node_with_an_untrusted_certificate_receives_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = self_signed(tmp_path)
    async with Receiver(tls=serving(certificate), body=b'[{"id": 0, "result": "0x1"}]') as server:
        node, height = Node(f"https://localhost:{server.port}/5ecret"), [("eth_blockNumber", [])]
        with pytest.raises(NodeFault) as refused:
            await transport.ask(node, height)
        assert "5ecret" not in refused.value.why
        assert server.received == []
        async with connections.session_to(node.url, trusting(certificate)) as session:
            monkeypatch.setattr(connections.line(0, node.url), "_session", session)
            assert [answer["result"] for answer in await transport.ask(node, height)] == ["0x1"]
