"""What the delivery of a packet costs beside the gas: shown in plans, and asked of the wallet before it is sent."""

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from backend.assets import gas
from backend.chain import devnet, endpoint, endpoints
from backend.chain.deployment import contracts_of, operator
from backend.chain.rpc import connect, native_balance
from backend.chain.transactions import execute
from tests.conftest import World
from tests.firm import BASE, SEPOLIA
from tests.issuance import UNIT, Issuance
from tests.killing import sent

ETHER = 10**18


async def set_fee(wei: int) -> None:
    """Of a message that leaves Sepolia."""
    call = endpoint.set_message_fee((await contracts_of(SEPOLIA)).endpoint, wei)
    await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=SEPOLIA, signer=await operator()))


@pytest_asyncio.fixture
async def fee() -> AsyncIterator[int]:
    """A price as of a public chain on a busy day."""
    await set_fee(2 * ETHER)
    yield 2 * ETHER
    await set_fee(0)


async def test_a_wallet_that_cannot_pay_the_delivery_is_told_before(world: World, fee: int) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, treasury = await firm.asset(), (await firm.treasury())["address"]
    path, before = f"/assets/{asset['id']}", await sent(firm.id)
    requests = await firm.get("/requests")
    # More than the packet is quoted, but less than is sent along in case its price rises.
    await devnet.fund(SEPOLIA, treasury, fee + ETHER // 10)
    deploy = await firm.market_body(BASE)
    for below, body in (("/bridge", {"destination_chain_eid": BASE, "amount": str(UNIT)}), ("/markets", deploy)):
        for params in ({}, {"dry_run": "true"}):
            problem = await firm.refused("POST", path + below, 409, json=body, params=params)
            assert treasury in problem.detail
            assert " ETH on Sepolia Devnet to pay for this, which may take 2.3 ETH (2.2 of it for " in problem.detail
            assert problem.detail.endswith("it has 2.1. Fund it first.")
    assert await firm.get("/requests") == requests
    assert await sent(firm.id) == before
    assert (await firm.get("/bridges"))["bridges"] == []

    await devnet.fund(SEPOLIA, treasury, 3 * ETHER)
    plan = await firm.post(path + "/markets", deploy, params={"dry_run": "true"})
    (packet,) = [s for s in plan["steps"] if s["name"] == "bridge_submitting"]
    assert packet["detail"].startswith("One packet with the rules; its delivery costs up to 2.2 of the chain's own")
    plan = await firm.post(path + "/bridge", {"destination_chain_eid": BASE}, params={"dry_run": "true"})
    assert plan["steps"][1].startswith("Send one packet with the rules; its delivery costs up to 2.2 ")
    await firm.succeed((await firm.post(path + "/markets", deploy))["requestId"])
    assert ETHER // 2 < await native_balance(SEPOLIA, treasury) <= ETHER, "what was too much came back"


async def test_the_destination_must_be_paid_for_as_a_whole(world: World) -> None:
    """The token there and the market after it, not each by itself."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, treasury = await firm.asset(), (await firm.treasury())["address"]
    price = int(await (await connect(BASE)).request("eth_gasPrice"), 16)
    await devnet.fund(BASE, treasury, (gas.TOKEN + gas.PEER) * 2 * price * 6 // 5)
    path, body = f"/assets/{asset['id']}/markets", await firm.market_body(BASE)
    problem = await firm.refused("POST", path, 409, json=body)
    assert "too little ETH on Base Sepolia Devnet to pay for this, which may take" in problem.detail
    assert (await firm.get("/markets"))["markets"] == []
    await firm.post(f"/assets/{asset['id']}/bridge", {"destination_chain_eid": BASE}, params={"dry_run": "true"})


async def test_a_packet_of_a_public_chain_is_reckoned_with_more_gas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gas.packet(SEPOLIA) == gas.PACKET
    monkeypatch.setattr(endpoints, "is_embedded", lambda eid: False)
    assert gas.packet(SEPOLIA) == gas.PUBLIC_PACKET
