"""Batches of decisions about parties."""

from typing import Any
from uuid import uuid4

from tests.conftest import World
from tests.support.firm import Firm


async def verify(firm: Firm, items: list[dict[str, Any]], **options: Any) -> Any:
    body = {"organization_id": str(firm.id), "items": items}
    return await firm.admin.call("POST", "/identity/parties/verify-batch", json=body, **options)


async def party(firm: Firm, made: Any) -> Any:
    return await firm.admin.call("GET", f"/identity/parties/{made['id']}")


async def test_parties_are_verified_and_refused_one_by_one_and_once(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    one, two, rejected = [await firm.party(name=name) for name in ("One", "Two", "Rejected")]
    foreign = await other.party()
    await firm.admin.call("POST", f"/identity/parties/{rejected['id']}/reject", json={"reason": "No documents"})
    items = [
        {"party_id": one["id"], "kyc_level": 2, "accredited": True, "expected_status": "created"},
        {"party_id": rejected["id"], "kyc_level": 1},
        {"party_id": foreign["id"], "kyc_level": 1},
        {"party_id": two["id"], "expected_status": "verifying"},
        {"party_id": two["id"]},
    ]
    key = {"idempotency-key": str(uuid4())}
    done = await verify(firm, items, headers=key)
    assert (done["verified"], done["refused"]) == (2, 3)
    assert [r["problem"] and r["problem"]["status"] for r in done["results"]] == [None, 400, 404, 409, None]
    assert done["results"][3]["problem"]["detail"].startswith("The party is created by now, not verifying.")
    first = done["results"][0]["party"]
    assert (first["status"], first["kyc_level"], first["accredited"]) == ("verified", 2, True)

    assert await verify(firm, items, headers=key) == done
    assert [(await party(firm, p))["status"] for p in (one, two, rejected)] == ["verified", "verified", "rejected"]
    assert await party(firm, one) == first
    assert (await other.admin.call("GET", f"/identity/parties/{foreign['id']}"))["status"] == "created"
    entries = (await firm.get("/audit", params={"action": "party.verified"}))["audit"]
    assert len(entries) == 2
