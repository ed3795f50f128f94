"""Late packets: delivered late, by others, or on a public chain."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from limits import RateLimitItemPerDay, RateLimitItemPerSecond

from backend.bridges import delivery, late_deliveries, own_delivery
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import BridgeStatus
from backend.chain.bindings import layerzero, token
from backend.chain.layerzero import relayer
from backend.chain.rpc.json_rpc import Rpc
from backend.core import db
from backend.core.fields import Network
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.server import sweep
from tests.bridges.delivery import (
    bridged,
    deliver,
    ended,
    row_of,
    supplies,
    until,
    until_sent,
    until_undelivered,
    verify,
)
from tests.conftest import World
from tests.support.crash import sent
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance
from tests.support.node_pool.pool import in_front_of

pytestmark = pytest.mark.long

READS = ("eth_blockNumber", "eth_call", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs")


async def failed_bridge(world: World) -> tuple[Issuance, Any, Any, Any]:
    """A bridge that failed because its receiver is not attested on the destination: firm, asset, party, acceptance."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, UNIT, to_address=wallet["address"])
    await firm.fail(accepted["requestId"])
    return firm, asset, party, accepted


async def test_late_delivery_by_a_third_party_confirms_the_bridge(world: World) -> None:
    firm, asset, party, accepted = await failed_bridge(world)
    first = await firm.get(f"/bridges/{accepted['bridgeId']}")
    await firm.attest(party, BASE)
    await relayer.deliver(first["guid"], SEPOLIA, first["source_tx_hash"])
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("confirmed", None)
    assert bridge["checked_at"] > first["checked_at"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "active"]
    assert supplies(asset)[BASE] == str(UNIT)


async def test_late_delivery_is_noticed_by_the_sweep(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm, asset, party, accepted = await failed_bridge(world)
    bridge = await row_of(accepted["bridgeId"])
    monkeypatch.setattr(late_deliveries, "AGAIN", timedelta(0))
    await late_deliveries.late_deliveries()
    seen = await row_of(accepted["bridgeId"])
    assert (seen.status, seen.checked_at and bridge.checked_at and seen.checked_at > bridge.checked_at) == (
        BridgeStatus.FAILED,
        True,
    )

    await firm.attest(party, BASE)
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    await relayer.deliver(bridge.guid, SEPOLIA, bridge.source_tx_hash)
    await late_deliveries.late_deliveries()  # unless the sweep of the running server was faster
    seen = await row_of(accepted["bridgeId"])
    assert (seen.status, seen.failure) == (BridgeStatus.CONFIRMED, None)
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "active"]
    assert supplies(asset)[BASE] == str(UNIT)


async def test_asset_on_a_public_chain_does_not_wait_for_the_delivery(world: World, public: None) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    accepted = await bridged(firm, asset, BASE, UNIT)
    await until_sent(accepted["bridgeId"])
    change = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 1})
    await firm.succeed(change["requestId"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "running"
    assert [s["status"] for s in request["steps"]] == ["succeeded", "succeeded", "running"]
    await sweep.once()

    await deliver(accepted["bridgeId"])
    request = await ended(firm, accepted["requestId"])
    assert [s["status"] for s in request["steps"]] == ["succeeded"] * 3
    asset = await firm.get(f"/assets/{asset['id']}")
    assert supplies(asset) == {SEPOLIA: str(999 * UNIT), BASE: str(UNIT)}
    there = next(d for d in asset["deployments"] if d["chain_eid"] == BASE)
    assert (await token.rules(BASE, there["token_address"])).min_kyc_level == 1, (
        "a change in the meantime applies there too"
    )
    assert (await sent(firm.id)).count(f"bridge {asset['symbol']}") == 1


async def test_market_on_a_public_chain_waits_for_its_bridge_without_blocking_the_asset(
    world: World, public: None
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/markets"
    accepted = await firm.post(path, await firm.market_body(BASE))
    market = await firm.get(f"{path}/{accepted['marketId']}")
    await until_sent(market["bridge_id"])
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"description": "While it waits"}))["requestId"])
    assert (await firm.get(f"{path}/{accepted['marketId']}"))["status"] == "pending_bridge"
    await deliver(market["bridge_id"])
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    assert (await firm.get(f"{path}/{accepted['marketId']}"))["status"] == "active"


async def test_undelivered_packet_on_a_public_chain_fails_and_its_retry_waits(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    with monkeypatch.context() as patch:
        patch.setattr(settings(), "bridge_give_up_seconds", 0)
        accepted = await bridged(firm, asset, BASE, UNIT)
        await firm.settle(accepted["requestId"])
        request = await ended(firm, accepted["requestId"])
    assert request["problem"]["detail"] == "The packet was not delivered in time. Retry the bridge."
    await firm.post(f"/requests/{accepted['requestId']}/retry")
    await deliver(accepted["bridgeId"])
    await firm.settle(accepted["requestId"], 2)
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    assert (await firm.get(f"/bridges/{accepted['bridgeId']}"))["status"] == "confirmed"


async def test_rules_changed_while_a_packet_waits_are_corrected(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset(required_kyc_level=1)
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"], level=3)
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, UNIT, to_address=wallet["address"])
    await firm.fail(accepted["requestId"])
    change = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 3})
    await firm.succeed(change["requestId"])
    await firm.attest(party, BASE)
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    there = next(d for d in (await firm.get(f"/assets/{asset['id']}"))["deployments"] if d["chain_eid"] == BASE)
    assert (await token.rules(BASE, there["token_address"])).min_kyc_level == 3


async def test_packet_with_a_new_id_after_a_reorg_is_delivered(world: World) -> None:
    firm, asset, party, accepted = await failed_bridge(world)
    sent_as = await row_of(accepted["bridgeId"])
    former = "0x" + "5e" * 32
    async with db.worker() as session:
        row = await session.get_one(BridgeRow, sent_as.id)
        row.guid, row.source_tx_hash = former, "0x" + "6f" * 32  # of the replaced branch
    await firm.attest(party, BASE)
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["guid"]) == ("confirmed", sent_as.guid)
    assert bridge["source_tx_hash"] == sent_as.source_tx_hash
    assert supplies(await firm.get(f"/assets/{asset['id']}"))[BASE] == str(UNIT)


async def test_bridge_succeeds_when_a_node_lacks_the_packet_transaction(world: World, public: None) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    async with in_front_of(SEPOLIA) as pool:
        accepted = await bridged(firm, asset, BASE, UNIT)
        await until_sent(accepted["bridgeId"])
        pool.become(lags=(0, 50), routes=dict.fromkeys(READS, 0) | {"eth_getTransactionReceipt": 1})
        await deliver(accepted["bridgeId"])
        answer = await ended(firm, accepted["requestId"])
        assert answer["status"] == "succeeded", (answer["problem"], [s["status"] for s in answer["steps"]])


async def test_bridge_with_an_observed_arrival_is_settled_without_a_second_observation(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart, a process detects a delivery with its second read if the node keeps no history."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    accepted = await bridged(firm, asset, BASE, UNIT)
    await until_undelivered(accepted["requestId"])
    attempt, seen = delivery._try, list[bool]()

    async def once(*of: Any) -> relayer.Delivery | None:
        if any(seen):
            return None
        answer = await attempt(*of)
        seen.append(answer is not None and answer.status is relayer.DeliveryStatus.DELIVERED)
        return answer

    monkeypatch.setattr(delivery, "_try", once)
    await deliver(accepted["bridgeId"])
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"


async def test_operator_delivery_confirms_at_its_confirmation_depth(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    accepted = await bridged(firm, asset, BASE, UNIT)
    await until_sent(accepted["bridgeId"])
    is_off_path, is_deep, looks = layerzero.is_off_path, False, 0
    ours, path = (await row_of(accepted["bridgeId"])).guid, f"/bridges/{accepted['bridgeId']}"

    async def deep(rpc: Rpc, at: str, packet: relayer.Packet) -> bool:
        nonlocal looks
        taken = await is_off_path(rpc, at, packet)
        looks += taken and packet.guid == ours
        return taken and (is_deep or packet.guid != ours)

    monkeypatch.setattr(layerzero, "is_off_path", deep)
    monkeypatch.setattr(own_delivery, "EXECUTORS", 0.0)
    await verify(accepted["bridgeId"])

    async def is_decided() -> bool:
        return looks > 2 or (await firm.get(path))["status"] == "confirmed"

    await until(is_decided)
    assert (await firm.get(path))["status"] == "submitting", "a reorganization can still undo the delivery"
    is_deep = True
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    bridge = await firm.get(path)
    assert bridge["status"] == "confirmed"
    assert bridge["destination_tx_hash"]


async def test_operator_delivery_missing_on_the_chain_is_checked_again_after_a_pause(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    accepted = await bridged(firm, await firm.asset(), BASE, UNIT)
    await until_undelivered(accepted["requestId"])
    await verify(accepted["bridgeId"])
    done = list[str]()

    async def paused(seconds: float) -> None:
        done.append("paused")
        await asyncio.sleep(seconds)

    async def received(*_: Any, **__: Any) -> relayer.Delivery:
        done.append("received")
        return relayer.Delivery(relayer.DeliveryStatus.DELIVERED, "0x" + "8d" * 32, 1)

    async def has_received_twice() -> bool:
        return done.count("received") > 1

    with monkeypatch.context() as patch:
        patch.setattr(delivery, "asyncio", SimpleNamespace(sleep=paused))
        patch.setattr(relayer, "receive", received)
        patch.setattr(own_delivery.Patience, "ends", lambda self, seen: seen.status is relayer.DeliveryStatus.READY)
        await until(has_received_twice)
    first = done.index("received")
    assert done[first + 1] == "paused"
    await deliver(accepted["bridgeId"])
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"


async def test_deliveries_by_the_operator_count_as_transactions_it_pays_for(
    world: World, public: None, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    monkeypatch.setattr(own_delivery, "EXECUTORS", 0.0)
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS", RateLimitItemPerDay(1))
    # The test reads often, and the clock of the limits stands still.
    monkeypatch.setattr(rate_limits, "PER_PRINCIPAL", dict.fromkeys(Network, RateLimitItemPerSecond(100_000)))
    first, second = [await bridged(firm, asset, BASE, UNIT) for _ in range(2)]
    for accepted in (first, second):
        await until_undelivered(accepted["requestId"])
    await verify(first["bridgeId"])
    assert (await ended(firm, first["requestId"]))["status"] == "succeeded"

    await verify(second["bridgeId"])

    async def is_refused() -> bool:
        return (await firm.get(path))["failure"] is not None

    path = f"/bridges/{second['bridgeId']}"
    await until(is_refused)
    bridge = await firm.get(path)
    assert bridge["status"] == "submitting"
    assert bridge["failure"].startswith("The transactions that the operator pays for today are used up.")
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS", RateLimitItemPerDay(2))
    assert (await ended(firm, second["requestId"]))["status"] == "succeeded"
    assert (await firm.get(path))["failure"] is None
