"""Bridges: carried, refused, delivered late, tried again; and their list."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from backend import db, sweep
from backend.assets import records
from backend.bridges import arriving, carrying, service
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import BridgeStatus
from backend.bridges.workflow import send
from backend.chain import relayer, token
from backend.errors import Conflict
from backend.settings import settings
from tests.conftest import World
from tests.firm import BASE, HYPEREVM, SEPOLIA, Firm
from tests.issuance import UNIT, Issuance, steps_of
from tests.killing import killed, sent, unqueued


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "PAUSES", (0.0, 0.0))


async def bridged(firm: Issuance, asset: Any, eid: int, amount: int = 0, **body: Any) -> Any:
    accepted = await firm.post(
        f"/assets/{asset['id']}/bridge", {"destination_chain_eid": eid, "amount": str(amount)} | body
    )
    assert accepted["status"] == "pending"
    return accepted


def supplies(asset: Any) -> dict[int, str]:
    return {d["chain_eid"]: d["supply"] for d in asset["deployments"]}


async def test_supply_crosses_to_a_new_chain_and_back(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset(required_kyc_level=2)
    accepted = await bridged(firm, asset, BASE, 300 * UNIT)
    request = await firm.succeed(accepted["requestId"])
    steps = steps_of(request)
    assert list(steps) == ["bridge_pending", "bridge_submitting", "bridge_confirmed"]
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["amount"], bridge["failure"]) == ("confirmed", str(300 * UNIT), None)
    assert (bridge["asset_symbol"], bridge["request_id"]) == (asset["symbol"], request["id"])
    assert bridge["guid"]
    assert bridge["source_tx_hash"] == steps["bridge_submitting"]["tx_hash"]
    assert bridge["destination_tx_hash"] == steps["bridge_confirmed"]["tx_hash"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert supplies(asset) == {SEPOLIA: str(700 * UNIT), BASE: str(300 * UNIT)}
    assert asset["total_supply"] == str(1_000 * UNIT)
    holders = (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]
    assert [(h["chain_eid"], h["balance"]) for h in holders] == [(SEPOLIA, str(700 * UNIT)), (BASE, str(300 * UNIT))]

    back = await bridged(firm, asset, SEPOLIA, 100 * UNIT, source_chain_eid=BASE)
    await firm.succeed(back["requestId"])
    assert supplies(await firm.get(f"/assets/{asset['id']}")) == {SEPOLIA: str(800 * UNIT), BASE: str(200 * UNIT)}


async def test_a_refused_delivery_fails_with_its_reason_and_a_retry_after_attest_confirms(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, 50 * UNIT, to_address=wallet["address"])
    request = await firm.fail(accepted["requestId"])
    assert request["problem"]["detail"] == "The receiver has no valid attestation."
    assert request["can_retry"]
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("failed", "The receiver has no valid attestation.")
    assert bridge["checked_at"]
    assert [s["status"] for s in request["steps"]] == ["succeeded", "succeeded", "failed"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "failed"]

    await firm.attest(party, BASE)
    before = await sent(firm.id)
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("confirmed", None)
    assert await sent(firm.id) == before
    asset = await firm.get(f"/assets/{asset['id']}")
    assert supplies(asset) == {SEPOLIA: str(950 * UNIT), BASE: str(50 * UNIT)}


async def test_a_late_delivery_by_somebody_else_still_confirms(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, UNIT, to_address=wallet["address"])
    await firm.fail(accepted["requestId"])
    first = await firm.get(f"/bridges/{accepted['bridgeId']}")
    await firm.attest(party, BASE)
    await relayer.deliver(first["guid"], SEPOLIA, first["source_tx_hash"])
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("confirmed", None)
    assert bridge["checked_at"] > first["checked_at"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "active"]
    assert supplies(asset)[BASE] == str(UNIT)


async def test_a_late_delivery_is_noticed_by_the_sweep(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, UNIT, to_address=wallet["address"])
    await firm.fail(accepted["requestId"])
    bridge = await row_of(accepted["bridgeId"])
    monkeypatch.setattr(arriving, "AGAIN", timedelta(0))
    await arriving.late_deliveries()
    seen = await row_of(accepted["bridgeId"])
    assert (seen.status, seen.checked_at and bridge.checked_at and seen.checked_at > bridge.checked_at) == (
        BridgeStatus.FAILED,
        True,
    )

    await firm.attest(party, BASE)
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    await relayer.deliver(bridge.guid, SEPOLIA, bridge.source_tx_hash)
    assert await arriving.late_deliveries() >= 1
    seen = await row_of(accepted["bridgeId"])
    assert (seen.status, seen.failure) == (BridgeStatus.CONFIRMED, None)
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "active"]
    assert supplies(asset)[BASE] == str(UNIT)


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """One chain where others deliver, in their own time."""
    stand_in = SimpleNamespace(is_embedded=lambda eid: eid != BASE)
    monkeypatch.setattr(carrying, "endpoints", stand_in)
    monkeypatch.setattr(relayer, "endpoints", stand_in)
    monkeypatch.setattr(carrying, "PAUSES", (0.05, 0.05))


async def deliver(bridge_id: str) -> None:
    """As a public chain's own executor would."""
    bridge = await row_of(bridge_id)
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relayer, "endpoints", SimpleNamespace(is_embedded=lambda eid: True))
        await relayer.deliver(bridge.guid, bridge.source_chain_eid, bridge.source_tx_hash)


async def row_of(bridge_id: str) -> BridgeRow:
    async with db.worker() as session:
        return await session.get_one(BridgeRow, UUID(bridge_id))


async def ended(firm: Issuance, request_id: str) -> Any:
    """A request that went on elsewhere, at its end."""
    async with asyncio.timeout(60):
        while (request := await firm.get(f"/requests/{request_id}"))["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return request


async def until_sent(bridge_id: str) -> None:
    async with asyncio.timeout(60):
        while (await row_of(bridge_id)).guid is None:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.05)


async def test_on_a_public_chain_the_asset_does_not_wait_for_the_delivery(world: World, public: None) -> None:
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
        "what changed meanwhile holds there too"
    )
    assert (await sent(firm.id)).count(f"bridge {asset['symbol']}") == 1


async def test_a_market_on_a_public_chain_follows_its_bridge_and_holds_nothing(world: World, public: None) -> None:
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


async def test_a_packet_that_is_given_up_on_a_public_chain_fails_and_its_retry_waits_again(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    with monkeypatch.context() as patch:
        patch.setattr(settings(), "bridge_give_up_seconds", 0)
        accepted = await bridged(firm, asset, BASE, UNIT)
        await firm.settle(accepted["requestId"])
        request = await ended(firm, accepted["requestId"])
    assert request["problem"]["detail"] == "The packet was not delivered in time."
    await firm.post(f"/requests/{accepted['requestId']}/retry")
    await deliver(accepted["bridgeId"])
    await firm.settle(accepted["requestId"], 2)
    assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    assert (await firm.get(f"/bridges/{accepted['bridgeId']}"))["status"] == "confirmed"


async def test_rules_that_changed_while_a_packet_waited_are_put_right(world: World) -> None:
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


async def test_killed_at_any_moment_one_packet_is_sent(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    before = await sent(firm.id)
    with unqueued():
        accepted = await bridged(firm, asset, BASE, 10 * UNIT)
    kills = 0
    while await killed(send, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "succeeded", request
    assert kills > 8
    made = await sent(firm.id)
    for label in before:
        made.remove(label)
    assert made == sorted([f"deploy {asset['symbol']}", "set peer", "set peer", f"bridge {asset['symbol']}"])
    assert supplies(await firm.get(f"/assets/{asset['id']}")) == {SEPOLIA: str(990 * UNIT), BASE: str(10 * UNIT)}


async def test_the_list_is_paged_by_created_at_without_loss_or_doubles(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, other = await firm.asset(), await firm.asset()

    async def insert(asset_id: str) -> None:
        async with db.transaction(firm.id) as session:
            row = await records.asset(session, firm.id, UUID(asset_id))
            await service.insert(session, row, SEPOLIA, BASE, 0, None)

    await asyncio.gather(*(insert(asset["id"]) for _ in range(12)), insert(other["id"]))
    everything = (await firm.get("/bridges"))["bridges"]
    times = [b["created_at"] for b in everything]
    assert len(set(times)) == 13
    assert times == sorted(times, reverse=True)
    seen, cursor = [], None
    while True:
        page = await firm.get("/bridges", params={"limit": "5", "cursor": cursor})
        seen += page["bridges"]
        cursor = page["nextCursor"]
        if cursor is None:
            break
        assert cursor == page["bridges"][-1]["created_at"]
    assert [b["id"] for b in seen] == [b["id"] for b in everything]
    assert len((await firm.get("/bridges", params={"assetId": other["id"]}))["bridges"]) == 1
    assert len((await firm.get("/bridges", params={"status": "pending", "limit": "1000"}))["bridges"]) == 13
    assert (await firm.get("/bridges", params={"status": "failed"})) == {"bridges": [], "nextCursor": None}
    for query in (
        {"limit": "0"},
        {"limit": "-1"},
        {"limit": "many"},
        {"cursor": "x"},
        {"status": "lost"},
        {"assetId": "x"},
    ):
        await firm.refused("GET", "/bridges", 400, params=query)
    stranger = await Firm.found(world, "Stranger")
    assert (await stranger.get("/bridges"))["bridges"] == []
    await stranger.refused("GET", f"/bridges/{everything[0]['id']}", 404)


async def test_bridges_asked_for_at_one_time_are_walked_once_each(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    at = db.now()
    monkeypatch.setattr(service, "now", lambda: at)
    async with db.transaction(firm.id) as session:
        row = await records.asset(session, firm.id, UUID(asset["id"]))
        made = [str((await service.insert(session, row, SEPOLIA, BASE, 0, None)).id) for _ in range(60)]
    for limit in (1, 7, 60):
        seen, cursor = [], None
        while len(seen) <= len(made):
            page = await firm.get("/bridges", params={"limit": str(limit), "cursor": cursor})
            seen += [b["id"] for b in page["bridges"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
            assert cursor == page["bridges"][-1]["created_at"]
        assert seen == made[::-1]


async def test_bad_input_is_told_where_it_is_and_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/bridge"
    good = {"destination_chain_eid": BASE}
    for change, status, field in (
        ({"destination_chain_eid": 49_999}, 400, "destination_chain_eid"),
        ({"destination_chain_eid": HYPEREVM}, 400, "destination_chain_eid"),
        ({"destination_chain_eid": 1.5}, 422, "destination_chain_eid"),
        ({"destination_chain_eid": SEPOLIA, "source_chain_eid": SEPOLIA}, 400, "destination_chain_eid"),
        ({"source_chain_eid": BASE}, 400, "source_chain_eid"),
        ({"amount": "1"}, 400, "amount"),
        ({"amount": str(2**256)}, 422, "amount"),
        ({"to_address": "0x12"}, 422, "to_address"),
        ({"memo": "x"}, 422, "memo"),
    ):
        problem = await firm.refused("POST", path, status, json=good | change)
        assert field in problem.by_field(), change
    problem = await firm.refused("POST", path, 409, json=good | {"amount": str(2_000 * UNIT)})
    assert str(1_000 * UNIT) in problem.detail
    await firm.refused("POST", path, 409, json={"destination_chain_eid": SEPOLIA})
    assert (await firm.get("/bridges"))["bridges"] == []


async def test_when_one_of_two_chains_fails_nothing_goes_on_behind_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    ended: list[str] = []

    async def peer(_run: Any, _step: Any, row: Any, _other: Any) -> None:
        if row.chain_eid == SEPOLIA:
            raise Conflict("The token says no.")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("the other")
            raise

    with monkeypatch.context() as broken:
        broken.setattr(carrying, "_peer", peer)
        accepted = await bridged(firm, asset, BASE, 10 * UNIT)
        request = await firm.fail(accepted["requestId"])
    assert request["problem"]["detail"] == "The token says no."
    assert ended == ["the other"]
