"""The price of a packet's delivery beside the gas: shown in plans, and part of the funds check before sending."""

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from backend.assets import gas
from backend.chain.bindings import layerzero
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect, native_balance
from backend.chain.transactions.execution import execute
from tests.conftest import World
from tests.support.crash import sent
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance

ETHER = 10**18


async def set_fee(wei: int) -> None:
    """Of a message that leaves Sepolia."""
    call = layerzero.set_message_fee((await contracts_of(SEPOLIA)).endpoint, wei)
    await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=SEPOLIA, signer=await operator()))


@pytest_asyncio.fixture
async def fee() -> AsyncIterator[int]:
    """A price as on a public chain on a busy day."""
    await set_fee(2 * ETHER)
    yield 2 * ETHER
    await set_fee(0)


@pytest.mark.long
async def test_bridge_from_a_wallet_that_cannot_pay_the_delivery_is_rejected(world: World, fee: int) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, treasury = await firm.asset(), (await firm.treasury())["address"]
    path, before = f"/assets/{asset['id']}", await sent(firm.id)
    requests = await firm.get("/requests")
    # More than the packet's quote, but less than the amount sent, which allows for a rising price.
    await anvil.fund(SEPOLIA, treasury, fee + ETHER // 10)
    deploy = await firm.market_body(BASE)
    for below, body in (("/bridge", {"destination_chain_eid": BASE, "amount": str(UNIT)}), ("/markets", deploy)):
        for params in ({}, {"dry_run": "true"}):
            problem = await firm.refused("POST", path + below, 409, json=body, params=params)
            assert treasury in problem.detail
            assert " ETH on Sepolia Devnet: this may cost 2.3 ETH (2.2 of it for " in problem.detail
            assert problem.detail.endswith("it has 2.1. Fund it first.")
    assert await firm.get("/requests") == requests
    assert await sent(firm.id) == before
    assert (await firm.get("/bridges"))["bridges"] == []

    await anvil.fund(SEPOLIA, treasury, 3 * ETHER)
    plan = await firm.post(path + "/markets", deploy, params={"dry_run": "true"})
    (packet,) = [s for s in plan["steps"] if s["name"] == "bridge_submitting"]
    assert packet["detail"].startswith("One message with the rules; its delivery costs up to 2.2 of the chain's own")
    plan = await firm.post(path + "/bridge", {"destination_chain_eid": BASE}, params={"dry_run": "true"})
    assert plan["steps"][1].startswith("Send one packet with the rules; its delivery costs up to 2.2 ")
    assert (plan["impact"]["fee"], plan["impact"]["fee_currency"]) == (str(ETHER * 22 // 10), "ETH")
    dearer = {"destination_chain_eid": BASE, "max_fee": str(ETHER * 21 // 10)}
    problem = await firm.refused("POST", path + "/bridge", 409, json=dearer)
    assert problem.detail.startswith("The delivery now costs up to 2.2 ETH, more than max_fee.")
    await firm.succeed((await firm.post(path + "/markets", deploy))["requestId"])
    assert ETHER // 2 < await native_balance(SEPOLIA, treasury) <= ETHER, "the surplus came back"


@pytest.mark.long
async def test_destination_cost_of_token_and_market_is_checked_together(world: World) -> None:
    """The token on the destination and the market after it, not each alone."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, treasury = await firm.asset(), (await firm.treasury())["address"]
    price = int(await (await connect(BASE)).request("eth_gasPrice"), 16)
    await anvil.fund(BASE, treasury, (gas.TOKEN + gas.PEER) * 2 * price * 6 // 5)
    path, body = f"/assets/{asset['id']}/markets", await firm.market_body(BASE)
    problem = await firm.refused("POST", path, 409, json=body)
    assert "too little ETH on Base Sepolia Devnet: this may cost" in problem.detail
    assert (await firm.get("/markets"))["markets"] == []
    await firm.post(f"/assets/{asset['id']}/bridge", {"destination_chain_eid": BASE}, params={"dry_run": "true"})


async def test_packet_gas_on_a_public_chain_is_higher(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gas.packet(SEPOLIA) == gas.PACKET
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    assert gas.packet(SEPOLIA) == gas.PUBLIC_PACKET
