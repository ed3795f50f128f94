"""Batches of decisions about parties."""

from typing import Any
from uuid import uuid4

import pytest
from limits import RateLimitItemPerDay

from backend.limits import rate_limits
from tests.conftest import World
from tests.support.firm import Firm, refused


async def verify(firm: Firm, items: list[dict[str, Any]], **options: Any) -> Any:
    body = {"organization_id": str(firm.id), "items": items}
    return await firm.admin.call("POST", "/identity/parties/verify-batch", json=body, **options)


async def party(firm: Firm, made: Any) -> Any:
    return await firm.admin.call("GET", f"/identity/parties/{made['id']}")


async def test_parties_are_verified_and_refused_one_by_one_and_once(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    one, two, third, rejected = [await firm.party(name=name) for name in ("One", "Two", "Third", "Rejected")]
    foreign = await other.party()
    await firm.admin.call("POST", f"/identity/parties/{rejected['id']}/reject", json={"reason": "No documents"})
    items = [
        {"party_id": one["id"], "kyc_level": 2, "accredited": True, "expected_status": "created"},
        {"party_id": rejected["id"], "kyc_level": 1},
        {"party_id": foreign["id"], "kyc_level": 1},
        {"party_id": third["id"], "expected_status": "verifying"},
        {"party_id": two["id"]},
        {"party_id": one["id"], "kyc_level": 3},
    ]
    key = {"idempotency-key": str(uuid4())}
    done = await verify(firm, items, headers=key)
    assert (done["verified"], done["refused"]) == (2, 4)
    assert [r["problem"] and r["problem"]["status"] for r in done["results"]] == [None, 400, 404, 409, None, 409]
    assert done["results"][3]["problem"]["detail"].startswith("The party is created by now, not verifying.")
    first = done["results"][0]["party"]
    assert (first["status"], first["kyc_level"], first["accredited"]) == ("verified", 2, True)

    assert done["results"][5]["problem"]["detail"] == "Item 1 verifies the same party."
    assert await verify(firm, items, headers=key) == done
    assert [(await party(firm, p))["status"] for p in (one, two, rejected)] == ["verified", "verified", "rejected"]
    assert first.items() <= (await party(firm, one)).items()
    assert (await other.admin.call("GET", f"/identity/parties/{foreign['id']}"))["status"] == "created"
    entries = (await firm.get("/audit", params={"action": "party.verified"}))["audit"]
    assert len(entries) == 2


async def test_items_of_a_batch_are_limited_like_single_calls(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "ITEMS", (RateLimitItemPerDay(3),))
    firm = await Firm.found(world)
    one, two, third, fourth = [{"party_id": (await firm.party())["id"]} for _ in range(4)]
    assert (await verify(firm, [one, two]))["verified"] == 2
    body = {"organization_id": str(firm.id), "items": [third, fourth]}
    await refused(firm.admin, "POST", "/identity/parties/verify-batch", 429, json=body)
    assert (await party(firm, {"id": third["party_id"]}))["status"] == "created"
    assert (await verify(firm, [third]))["verified"] == 1
