"""Batches of freezes: each item is a request of its own."""

from typing import Any
from uuid import uuid4

import pytest

from backend.chain.bindings import token
from tests.approvals.second_person import approve, asking, deny
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import Issuance

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
WHY = "Sanctions list of 24 November"
PAUSED_CHAIN = 40_245


def item(address: str, **fields: Any) -> dict[str, Any]:
    return {"chain_eid": SEPOLIA, "address": address, "reason": WHY} | fields


async def frozen(asset: Any, *addresses: str) -> list[bool]:
    at = asset["deployments"][0]["token_address"]
    return [amount > 0 for amount in await token.frozen_of_many(SEPOLIA, at, list(addresses))]


@pytest.mark.long
async def test_batch_with_wrong_items_freezes_the_others_once(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/freeze/batch"
    items = [item(STRANGER), item(OTHER, chain_eid=PAUSED_CHAIN), item(OTHER, amount="7"), item(STRANGER, amount="1")]
    plan = await firm.post(path, {"items": items}, params={"dry_run": "true"})
    assert (plan["accepted"], plan["refused"]) == (2, 2)
    assert plan["results"][2]["plan"]["impact"]["changes"][0]["after"] == "7"
    assert await frozen(asset, STRANGER, OTHER) == [False, False]

    key = {"idempotency-key": str(uuid4())}
    first = await firm.post(path, {"items": items}, headers=key)
    assert [one["problem"] and one["problem"]["status"] for one in first["results"]] == [None, 400, None, 409]
    assert first["results"][3]["problem"]["detail"] == "Item 1 is the same account."
    assert await firm.post(path, {"items": items}, headers=key) == first
    for one in (first["results"][0], first["results"][2]):
        request = await firm.succeed(one["acceptance"]["requestId"])
        assert request["kind"] == "token.freeze"
    assert await frozen(asset, STRANGER, OTHER) == [True, True]
    entries = (await firm.get("/audit", params={"action": "control.requested"}))["audit"]
    assert [entry["after"]["reason"] for entry in entries] == [WHY, WHY]

    path = f"/assets/{asset['id']}/unfreeze/batch"
    answer = await firm.post(path, {"items": [item(STRANGER), item(OTHER)]})
    for one in answer["results"]:
        await firm.succeed(one["acceptance"]["requestId"])
    assert await frozen(asset, STRANGER, OTHER) == [False, False]


@pytest.mark.long
async def test_each_freeze_of_a_batch_waits_for_its_own_second_person(world: World) -> None:
    firm, second = await asking(world, "token.freeze")
    asset = await firm.asset()
    answer = await firm.post(f"/assets/{asset['id']}/freeze/batch", {"items": [item(STRANGER), item(OTHER)]})
    one, two = (result["acceptance"] for result in answer["results"])
    assert (one["status"], two["status"]) == ("awaiting_approval", "awaiting_approval")
    waiting = (await firm.get("/approvals", params={"status": "pending"}))["approvals"]
    approvals = {found["request_id"]: found for found in waiting}
    shown = await second.call("GET", f"{firm.base}/approvals/{approvals[one['requestId']]['id']}")
    assert {found["name"]: found["value"] for found in shown["arguments"]}["reason"] == WHY
    assert (await approve(firm, second, approvals[one["requestId"]]))["status"] == "succeeded"
    assert (await deny(firm, second, approvals[two["requestId"]]))["status"] == "denied"
    assert await frozen(asset, STRANGER, OTHER) == [True, False]


async def test_batch_of_freezes_without_items_or_reason_is_refused(world: World) -> None:
    firm = await Firm.found(world)
    path = f"/assets/{uuid4()}/freeze/batch"
    for items in ([], [item(STRANGER)] * 201, [{"chain_eid": SEPOLIA, "address": STRANGER}]):
        assert (await firm.refused("POST", path, 422, json={"items": items})).by_field()
    answer = await firm.post(path, {"items": [item(STRANGER)]})
    assert answer["results"][0]["problem"]["status"] == 404
