"""Undeliverable packets: dropped permanently by two people, and their supply minted back once."""

import asyncio
from contextvars import Context
from typing import Any

import pytest

from backend.bridges import return_steps, returns
from backend.bridges.workflow import give_back
from backend.chain.bindings import layerzero, token
from backend.chain.errors import Reverted
from backend.chain.finality import Finality
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import DeliveryStatus
from backend.chain.rpc import deep_reads
from backend.chain.rpc.finality import Heads
from backend.chain.rpc.terms import ChainTerms
from backend.core.settings import settings
from tests.approvals.second_person import approve, deny, waiting
from tests.bridges.delivery import bridged, ended, row_of, supplies
from tests.bridges.test_late_deliveries import failed_bridge
from tests.conftest import Actor, World
from tests.support.crash import killed, sent, unqueued
from tests.support.firm import BASE, SEPOLIA, refused
from tests.support.issuance import UNIT, Issuance, steps_of

WHY = {"reason": "The receiver will never be eligible."}


async def asked(world: World, firm: Issuance, bridge_id: str) -> tuple[Any, Any, Actor]:
    """A waiting return: its acceptance, its approval, and a second person."""
    second = await world.person(firm.id)
    accepted = await firm.post(f"/bridges/{bridge_id}/return", WHY)
    assert accepted["status"] == "awaiting_approval"
    return accepted, await waiting(firm, accepted), second


async def totals(firm: Issuance, asset: Any) -> tuple[int, int]:
    """Return the supply of both tokens, by chain."""
    at = {d["chain_eid"]: d["token_address"] for d in (await firm.get(f"/assets/{asset['id']}"))["deployments"]}
    return await token.total_supply(SEPOLIA, at[SEPOLIA]), await token.total_supply(BASE, at[BASE])


@pytest.mark.long
async def test_returned_bridge_drops_its_packet_and_mints_the_supply_back(world: World) -> None:
    firm, asset, party, bridge = await failed_bridge(world)
    path = f"/bridges/{bridge['bridgeId']}"
    treasury = (await firm.treasury())["address"]
    plan = await firm.post(f"{path}/return?dry_run=true", WHY)
    assert plan["steps"][0] == ("Clear the verified packet on Base Sepolia Devnet, so that it can never be delivered")
    impact = plan["impact"]
    assert (impact["amount"], impact["to_address"], impact["can_be_undone"]) == (str(UNIT), treasury, False)
    assert impact["warnings"][0].startswith("This cannot be undone.")
    assert await totals(firm, asset) == (999 * UNIT, 0)

    accepted, approval, second = await asked(world, firm, bridge["bridgeId"])
    assert (await firm.refused("POST", f"{path}/return", 409, json=WHY)).detail.startswith("A return of this bridge is")
    await refused(firm.admin, "POST", f"{firm.base}/approvals/{approval['id']}/approve", 403)
    request = await approve(firm, second, approval)
    assert (request["status"], request["id"]) == ("succeeded", accepted["requestId"])
    (entry,) = (await firm.get("/audit?action=bridge.return_requested"))["audit"]
    assert (entry["after"]["asset_id"], entry["after"]["amount"]) == (str(asset["id"]), str(UNIT))
    (entry,) = (await firm.get("/audit?action=bridge.returned"))["audit"]
    assert (entry["after"]["asset_id"], entry["after"]["amount"]) == (str(asset["id"]), str(UNIT))
    steps = steps_of(request)
    shown = await firm.get(path)
    assert (shown["status"], shown["return_request_id"]) == ("failed", request["id"])
    assert shown["return_tx_hash"] == steps["supply_returned"]["tx_hash"]
    back, own = steps["supply_returned"]["detail"], await firm.treasury()
    assert f"{asset['symbol']} minted back to {own['address'][:6]}…" in back
    assert f'(own wallet "{own["label"]}")' in back
    assert shown["returned_at"]
    assert await totals(firm, asset) == (1_000 * UNIT, 0)
    assert supplies(await firm.get(f"/assets/{asset['id']}"))[SEPOLIA] == str(1_000 * UNIT)

    await firm.attest(party, BASE)
    late = await relayer.deliver(shown["guid"], SEPOLIA, shown["source_tx_hash"])
    assert late.status is DeliveryStatus.DROPPED
    assert await totals(firm, asset) == (1_000 * UNIT, 0)
    assert (await firm.get(path))["status"] == "failed"
    retried = await firm.retry(bridge["requestId"])
    assert "its supply is being returned, or was" in retried["problem"]["detail"]
    again = await firm.refused("POST", f"{path}/return", 409, json=WHY)
    assert again.detail == "The supply of this bridge was already returned."


@pytest.mark.long
async def test_return_of_an_unverified_packet_skips_it(world: World, public: None, monkeypatch: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    with monkeypatch.context() as patch:
        patch.setattr(settings(), "bridge_give_up_seconds", 0)
        bridge = await bridged(firm, asset, BASE, UNIT)
        await firm.settle(bridge["requestId"])
        assert (await ended(firm, bridge["requestId"]))["status"] == "failed"
    plan = await firm.post(f"/bridges/{bridge['bridgeId']}/return?dry_run=true", WHY)
    assert plan["steps"][0].startswith("Skip the unverified packet on Base Sepolia Devnet")
    _, approval, second = await asked(world, firm, bridge["bridgeId"])
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert await totals(firm, asset) == (1_000 * UNIT, 0)


@pytest.mark.long
async def test_return_of_a_packet_delivered_while_waiting_mints_nothing(world: World) -> None:
    firm, asset, party, bridge = await failed_bridge(world)
    _, approval, second = await asked(world, firm, bridge["bridgeId"])
    row = await row_of(bridge["bridgeId"])
    await firm.attest(party, BASE)
    await relayer.deliver(str(row.guid), SEPOLIA, str(row.source_tx_hash))
    problem = await refused(second, "POST", f"{firm.base}/approvals/{approval['id']}/approve", 409)
    assert "There is nothing to return" in problem.detail or "is confirmed" in problem.detail
    assert (await firm.get(f"/bridges/{bridge['bridgeId']}"))["status"] == "confirmed"
    assert await totals(firm, asset) == (999 * UNIT, UNIT)


@pytest.mark.long
async def test_return_of_a_packet_delivered_during_its_check_says_so(world: World, monkeypatch: Any) -> None:
    firm, asset, party, bridge = await failed_bridge(world)
    row, simulate = await row_of(bridge["bridgeId"]), returns.rehearse

    async def after_the_delivery(intent: Any) -> None:
        monkeypatch.setattr(returns, "rehearse", simulate)
        await firm.attest(party, BASE)
        await relayer.deliver(str(row.guid), SEPOLIA, str(row.source_tx_hash))
        await simulate(intent)

    monkeypatch.setattr(returns, "rehearse", after_the_delivery)
    problem = await firm.refused("POST", f"/bridges/{bridge['bridgeId']}/return", 409, json=WHY)
    assert problem.detail == "The packet was delivered in the meantime. There is nothing to return."
    assert await totals(firm, asset) == (999 * UNIT, UNIT)


@pytest.mark.long
async def test_packet_delivered_just_before_the_drop_wins(world: World, monkeypatch: Any) -> None:
    firm, asset, party, bridge = await failed_bridge(world)
    accepted, approval, second = await asked(world, firm, bridge["bridgeId"])
    row = await row_of(bridge["bridgeId"])
    write = return_steps.write

    async def deliver() -> None:
        await firm.attest(party, BASE)
        await relayer.deliver(str(row.guid), SEPOLIA, str(row.source_tx_hash))

    async def late(*arguments: Any, **named: Any) -> Any:
        await asyncio.create_task(deliver(), context=Context())  # by others, not by the workflow
        return await write(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(return_steps, "write", late)
        request = await approve(firm, second, approval)
    assert (request["status"], request["problem"]["detail"]) == ("failed", return_steps.DELIVERED)
    shown = await firm.get(f"/bridges/{bridge['bridgeId']}")
    assert (shown["status"], shown["returned_at"], shown["return_request_id"]) == ("confirmed", None, None)
    assert await totals(firm, asset) == (999 * UNIT, UNIT)
    assert "mint back" not in await sent(firm.id)
    retried = await firm.retry(accepted["requestId"])
    assert retried["status"] == "failed"
    assert await totals(firm, asset) == (999 * UNIT, UNIT)


@pytest.mark.long
async def test_return_killed_at_any_moment_mints_back_once(world: World) -> None:
    firm, asset, _, bridge = await failed_bridge(world)
    before = await sent(firm.id)
    second = await world.person(firm.id)
    with unqueued():
        accepted = await firm.post(f"/bridges/{bridge['bridgeId']}/return", WHY)
        await second.call("POST", f"{firm.base}/approvals/{(await waiting(firm, accepted))['id']}/approve")
    kills = 0
    while await killed(give_back, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    assert kills >= 4
    assert (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "succeeded"
    made = await sent(firm.id)
    for label in before:
        made.remove(label)
    assert made == ["drop packet", "mint back"]
    assert await totals(firm, asset) == (1_000 * UNIT, 0)


@pytest.mark.long
async def test_return_mints_back_only_after_the_drop_is_settled(world: World, monkeypatch: Any) -> None:
    firm, asset, _, bridge = await failed_bridge(world)
    _, approval, second = await asked(world, firm, bridge["bridgeId"])
    looks: list[tuple[int, int]] = []

    async def not_yet(packet: Any) -> bool:
        looks.append(await totals(firm, asset))
        return len(looks) > 3

    with monkeypatch.context() as patch:
        patch.setattr(relayer, "is_dropped", not_yet)
        assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert looks == [(999 * UNIT, 0)] * 4
    assert await totals(firm, asset) == (1_000 * UNIT, 0)


@pytest.mark.long
async def test_failed_mint_back_is_completed_by_a_retry_of_the_return_only(world: World, monkeypatch: Any) -> None:
    firm, asset, _, bridge = await failed_bridge(world)
    accepted, approval, second = await asked(world, firm, bridge["bridgeId"])
    write = return_steps.write

    async def no_minting(run: Any, step: Any, call: Any, key: str, **named: Any) -> Any:
        if key == "mint-back":
            raise Reverted("The token is paused.", name="TransferRestricted")
        return await write(run, step, call, key, **named)

    with monkeypatch.context() as patch:
        patch.setattr(return_steps, "write", no_minting)
        request = await approve(firm, second, approval)
    assert request["problem"]["detail"] == "The token is paused."
    retried = await firm.retry(bridge["requestId"])
    assert "was abandoned" in retried["problem"]["detail"]
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    assert await totals(firm, asset) == (1_000 * UNIT, 0)
    assert (await sent(firm.id)).count("drop packet") == 1


@pytest.mark.long
async def test_denied_return_leaves_the_bridge_retryable(world: World) -> None:
    firm, asset, party, bridge = await failed_bridge(world)
    accepted, approval, second = await asked(world, firm, bridge["bridgeId"])
    await deny(firm, second, approval)
    assert (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "denied"
    await firm.attest(party, BASE)
    assert (await firm.retry(bridge["requestId"]))["status"] == "succeeded"
    assert await totals(firm, asset) == (999 * UNIT, UNIT)


@pytest.mark.long
async def test_bridge_that_has_not_failed_cannot_be_returned(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    bridge = await bridged(firm, asset, BASE, UNIT)
    await firm.succeed(bridge["requestId"])
    for params in ({}, {"dry_run": "true"}):
        path = f"/bridges/{bridge['bridgeId']}/return"
        problem = await firm.refused("POST", path, 409, json=WHY, params=params)
        assert problem.detail == "The bridge is confirmed. Only the supply of a failed bridge can be returned."
    await firm.refused("POST", f"/bridges/{bridge['bridgeId']}/return", 422, json={})
    await firm.refused("POST", f"/bridges/{asset['id']}/return", 404, json=WHY)


async def test_packet_state_from_a_node_without_history_counts_after_its_first_read_is_deep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = ChainTerms(1.0, 2, 2, 5, Finality.FINAL, history=0)
    latest, is_there = [10], [False]

    async def heads(_: Any) -> Heads:
        return Heads(latest[0], latest[0] - 2, latest[0] - 2, latest[0] - 5)

    async def look(block: int | None) -> bool:
        assert block is None, "it answers for the newest block only"
        return is_there[0]

    monkeypatch.setattr(deep_reads, "terms_of", lambda eid: terms)
    monkeypatch.setattr(deep_reads.finality, "heads", heads)
    rpc = layerzero.Rpc(30367)
    assert not await deep_reads.holds(rpc, "x", look)
    is_there[0] = True
    for height, expected in ((11, False), (15, False), (16, True)):
        latest[0] = height
        assert await deep_reads.holds(rpc, "x", look) is expected
    is_there[0], latest[0] = False, 17
    assert not await deep_reads.holds(rpc, "x", look)
    is_there[0] = True
    assert not await deep_reads.holds(rpc, "x", look), "a reorganization undid it, so counting starts again"
