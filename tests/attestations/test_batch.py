"""Batches of attestations: each item is a request of its own."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from eth_account import Account

from backend.attestations import service
from backend.client import ApiProblem, SignumClient
from tests.approvals.second_person import approve, path_of
from tests.conftest import World
from tests.support.crash import unqueued
from tests.support.firm import SEPOLIA, Firm

BATCH = "/attestations/batch"


@pytest_asyncio.fixture(scope="module")
async def firm(client: SignumClient) -> Firm:
    """An issuer."""
    return await Firm.issuing(World(client))


def item(party: Any, **fields: Any) -> dict[str, Any]:
    return {"party_id": party["id"], "chain_eid": SEPOLIA} | fields


async def attested(firm: Firm, party: Any) -> list[Any]:
    return list((await firm.get("/attestations", params={"party_id": party["id"]}))["attestations"])


async def verified(firm: Firm, count: int) -> list[Any]:
    return [await firm.verified(Account.create().address) for _ in range(count)]


async def test_batch_with_wrong_items_accepts_the_others_once(world: World, firm: Firm) -> None:
    one, two = await verified(firm, 2)
    foreign = await (await Firm.found(world)).verified(Account.create().address)
    unverified = await firm.party(Account.create().address)
    items = [item(one), item(unverified), item(foreign), item(two, kyc_level=1), item(one, kyc_level=1)]
    plan = await firm.post(BATCH, {"items": items}, params={"dry_run": "true"})
    assert [r["problem"] and r["problem"]["status"] for r in plan["results"]] == [None, 409, 409, None, 409]
    assert (plan["accepted"], plan["results"][3]["plan"]["impact"]["kyc_level"]) == (2, 1)
    assert await attested(firm, one) == []

    key = {"idempotency-key": str(uuid4())}
    first = await firm.post(BATCH, {"items": items}, headers=key)
    assert (first["accepted"], first["refused"]) == (2, 3)
    problems = [r["problem"] for r in first["results"]]
    assert [p and p["title"] for p in problems] == [
        None, "Prerequisites not met", "Prerequisites not met", None, "Conflict",
    ]  # fmt: skip
    assert problems[1]["prerequisites"][1]["state"] == "party_verified"
    assert problems[4]["detail"] == "Item 1 attests the same party on the same chain."
    assert await firm.post(BATCH, {"items": items}, headers=key) == first
    for party, result in ((one, first["results"][0]), (two, first["results"][3])):
        accepted = result["acceptance"]
        assert (await firm.settle(accepted["requestId"]))["subject"]["id"] == accepted["attestationId"]
        (found,) = await attested(firm, party)
        assert (found["id"], found["status"]) == (accepted["attestationId"], "active")
    assert await attested(firm, unverified) == []


async def nothing(*_: Any) -> dict[int, Any]:
    """Accept no items together."""
    return {}


async def test_batch_that_ended_between_two_items_is_continued_by_its_key(
    firm: Firm, monkeypatch: pytest.MonkeyPatch
) -> None:
    parties = await verified(firm, 3)
    body, key = {"items": [item(p) for p in parties]}, {"idempotency-key": str(uuid4())}
    create, refused = service.create, str(parties[1]["id"])

    async def fails(context: Any, wanted: Any, dry_run: bool) -> Any:
        if str(wanted.party_id) == refused:
            raise RuntimeError("The process ends here.")
        return await create(context, wanted, dry_run)

    with unqueued():
        with monkeypatch.context() as patch:
            patch.setattr(service, "create", fails)
            patch.setattr(service, "create_together", nothing)
            with pytest.raises(ApiProblem, match="unexpected"):
                await firm.post(BATCH, body, headers=key)
        before = [await attested(firm, p) for p in parties]
        assert [len(found) for found in before] == [1, 0, 1]
        done = await firm.post(BATCH, body, headers=key)
        assert (done["accepted"], done["refused"]) == (3, 0)
        ids = [r["acceptance"]["attestationId"] for r in done["results"]]
        assert [[a["id"] for a in await attested(firm, p)] for p in parties] == [[one] for one in ids]
        assert [before[0][0]["id"], before[2][0]["id"]] == [ids[0], ids[2]]


async def test_batch_with_another_body_under_the_same_key_is_refused(firm: Firm) -> None:
    one, two = await verified(firm, 2)
    key = {"idempotency-key": str(uuid4())}
    with unqueued():
        await firm.post(BATCH, {"items": [item(one)]}, headers=key)
        assert (await firm.refused("POST", BATCH, 422, json={"items": [item(two)]}, headers=key)).type.endswith(
            "idempotency-conflict"
        )
    assert await attested(firm, two) == []


@pytest.mark.parametrize("items", [[], [{"party_id": str(uuid4()), "chain_eid": SEPOLIA}] * 201])
async def test_batch_without_items_or_with_too_many_is_refused(firm: Firm, items: list[Any]) -> None:
    assert (await firm.refused("POST", BATCH, 422, json={"items": items})).by_field().keys() == {"items"}


@pytest.mark.long
async def test_each_item_waits_for_its_own_second_person(world: World) -> None:
    firm = await Firm.issuing(world)
    second = await world.person(firm.id)
    await firm.patch("", {"approvals": ["attestation.issue"]})
    one, two = await verified(firm, 2)
    ends = datetime(2099, 1, 1, tzinfo=UTC).isoformat()
    made = await firm.post(BATCH, {"items": [item(one, expires_at=ends), item(two)]})
    assert (made["accepted"], [r["awaits_approval"] for r in made["results"]]) == (2, [True, True])
    waiting = (await firm.get("/approvals", params={"status": "pending"}))["approvals"]
    by_request = {a["request_id"]: a for a in waiting}
    approval = by_request[made["results"][0]["acceptance"]["requestId"]]
    detail = await second.call("GET", path_of(firm, approval))
    shown = {argument["name"]: argument["text"] for argument in detail["arguments"]}
    assert shown["party_id"].endswith(one["wallet_address"])
    assert shown["expires_at"].startswith("1 Jan 2099")
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    statuses = [[a["status"] for a in await attested(firm, party)] for party in (one, two)]
    assert statuses == [["active"], ["pending"]]
