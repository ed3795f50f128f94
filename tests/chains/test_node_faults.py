"""A chain whose node fails while a request needs it: a clear 503, and nothing half written."""

import pytest

from tests.conftest import World
from tests.support.faulty_node import Raw, in_front_of
from tests.support.issuance import SEPOLIA, Issuance, asset_body


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"<html>", "answers with status 500"),
        (200, b"garbage", "answers with a malformed response"),
        (429, b"", "limits the call rate"),
    ],
)
async def test_request_that_needs_a_silent_chain_is_a_503(world: World, status: int, body: bytes, words: str) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        node.answers("eth_gasPrice", Raw(status, body, (("Retry-After", "1"),)))
        refused = await firm.refused("POST", "/assets", 503, json=asset_body(SEPOLIA))
        assert refused.detail == f"The node of the chain {SEPOLIA} {words}."
    assert (await firm.get("/assets"))["assets"] == []
    assert "asset.deploy" not in [request["kind"] for request in (await firm.get("/requests"))["requests"]]


async def test_node_error_is_a_503_and_its_message_is_only_logged(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        node.refuses("eth_gasPrice", -32601, "project 5ecret has no access")
        refused = await firm.refused("POST", "/assets", 503, json=asset_body(SEPOLIA))
    assert refused.detail.startswith(f"The node of the chain {SEPOLIA} answered with an error (-32601).")
    assert (await firm.get("/assets"))["assets"] == []


@pytest.mark.long
async def test_deployment_survives_intermittent_node_failures(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        accepted = await firm.post("/assets", asset_body(SEPOLIA))
        node.answers("eth_estimateGas", Raw(502, b""), times=2)
        node.answers("eth_sendRawTransaction", Raw(429, b"", (("Retry-After", "0"),)), times=2)
        node.answers("eth_call", Raw(200, b"garbage"), times=2)
        node.answers("eth_getTransactionReceipt", Raw(500, b""), times=2)
        await firm.succeed(accepted["requestId"])
    asset = await firm.get(f"/assets/{accepted['assetId']}")
    assert asset["status"] == "active"
