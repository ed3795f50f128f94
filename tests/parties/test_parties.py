"""Parties: created, found, reviewed; never those of another organization."""

from typing import Any

import pytest

from backend.auth.scopes import Scope
from backend.users.schemas import Role
from tests.conftest import World
from tests.support.firm import Firm, refused

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
PARTIES = "/identity/parties"


async def test_party_is_created_found_changed_and_verified(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.party(WALLET.lower(), email="marta@example.com")
    assert (party["status"], party["wallet_address"], party["kyc_level"]) == ("created", WALLET, 0)
    path = f"{PARTIES}/{party['id']}"
    changed = await firm.admin.call("PATCH", path, json={"name": "Marta L.", "email": None})
    assert (changed["name"], changed["email"], changed["wallet_address"]) == ("Marta L.", None, WALLET)
    verified = await firm.admin.call("POST", f"{path}/verify", json={"kyc_level": 2, "accredited": True})
    assert (verified["status"], verified["kyc_level"], verified["accredited"]) == ("verified", 2, True)
    assert verified["reviewed_by"] == str(firm.admin.user_id)
    me = await firm.admin.call("GET", "/auth/me")
    assert await firm.admin.call("GET", path) == verified | {"reviewed_by_name": me["user"]["display_name"]}


async def test_parties_are_filtered_by_status_and_search(world: World) -> None:
    firm = await Firm.found(world)
    ids = {(await firm.party(None, name=n, email=e))["id"]: n for n, e in (("Ann 100%", "ann@x.example"), ("Bo", None))}
    await firm.verified(None)

    async def names(**params: Any) -> set[str]:
        query = {"organization_id": str(firm.id), **params}
        return {p["name"] for p in (await firm.admin.call("GET", PARTIES, params=query))["parties"]}

    assert await names(status="created") == set(ids.values())
    assert await names(status="verified") == {"Marta Lindqvist"}
    assert await names(q="ANN") == await names(q="x.example") == await names(q="100%") == {"Ann 100%"}
    assert await names(q="%") == {"Ann 100%"}
    first = await firm.admin.call("GET", PARTIES, params={"limit": "2"})
    second = await firm.admin.call("GET", PARTIES, params={"limit": "2", "cursor": first["nextCursor"]})
    assert (len(first["parties"]), len(second["parties"]), second["nextCursor"]) == (2, 1, None)


async def test_rejected_party_is_verified_only_with_a_reason(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.verified(None, level=3, accredited=True)
    path = f"{PARTIES}/{party['id']}"
    rejected = await firm.admin.call("POST", f"{path}/reject", json={"reason": "Documents were forged."})
    assert (rejected["status"], rejected["kyc_level"], rejected["accredited"]) == ("rejected", 0, False)
    await refused(firm.admin, "POST", f"{path}/reject", 409, json={"reason": "Again."})
    assert (await refused(firm.admin, "POST", f"{path}/verify", 400, json={})).by_field().keys() == {"reason"}
    again = await firm.admin.call("POST", f"{path}/verify", json={"reason": "New passport."})
    assert (again["status"], again["kyc_level"], again["reason"]) == ("verified", 1, "New passport.")


async def test_wallet_belongs_to_one_party_per_organization(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    first, second = await firm.party(WALLET), await firm.party(None)
    await refused(firm.admin, "POST", PARTIES, 409, json={"name": "B", "country": "DEU", "wallet_address": WALLET})
    await refused(firm.admin, "PATCH", f"{PARTIES}/{second['id']}", 409, json={"wallet_address": WALLET})
    await firm.admin.call("PATCH", f"{PARTIES}/{first['id']}", json={"wallet_address": None})
    await firm.admin.call("PATCH", f"{PARTIES}/{second['id']}", json={"wallet_address": WALLET})
    assert (await other.party(WALLET))["wallet_address"] == WALLET
    assert len((await firm.admin.call("GET", PARTIES))["parties"]) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"country": "XXX"}, "country"),
        ({"country": "usa"}, "country"),
        ({"country": "Germany"}, "country"),
        ({"name": ""}, "name"),
        ({"name": "<img src=x onerror=alert(1)>"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"email": "<b>x</b>@example.com"}, "email"),
        ({"email": "unknown"}, "email"),
        ({"wallet_address": "0x12"}, "wallet_address"),
        ({"wallet_address": WALLET[:-2] + "e7"}, "wallet_address"),
        ({"kind": "<script>"}, "kind"),
        ({"organization_id": "1"}, "organization_id"),
        ({"status": "verified"}, "status"),
    ],
)
async def test_party_with_bad_input_is_a_422_at_its_field_and_writes_nothing(
    world: World, body: dict[str, Any], field: str
) -> None:
    firm = await Firm.found(world)
    good = {"name": "Marta", "country": "SWE"}
    problem = await refused(firm.admin, "POST", PARTIES, 422, json=good | body)
    assert problem.by_field().keys() == {field}
    assert (await firm.admin.call("GET", PARTIES))["parties"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"kyc_level": 0},
        {"kyc_level": 256},
        {"kyc_level": 1.5},
        {"kyc_level": "2"},
        {"accredited": "maybe"},
        {"reason": "<script>alert(1)</script>"},
        {"reason": ""},
    ],
)
async def test_invalid_decision_changes_nothing(world: World, body: dict[str, Any]) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    await refused(firm.admin, "POST", f"{PARTIES}/{party['id']}/verify", 422, json=body)
    assert (await firm.admin.call("GET", f"{PARTIES}/{party['id']}")) == party | {"reviewed_by_name": None}


async def test_parties_of_another_organization_are_invisible(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    party = await other.party(WALLET)
    for method, tail in (("GET", ""), ("PATCH", ""), ("POST", "/verify"), ("POST", "/reject")):
        json = None if method == "GET" else {"reason": "x"} if tail else {"name": "x"}
        await refused(mine.admin, method, f"{PARTIES}/{party['id']}{tail}", 404, json=json)
        with pytest.raises(Exception, match="404"):
            await world.client.call(method, f"{PARTIES}/{party['id']}{tail}", headers=mine.key, json=json)
    assert (await mine.admin.call("GET", PARTIES, params={"q": "Marta"}))["parties"] == []
    await refused(mine.admin, "GET", PARTIES, 403, params={"organization_id": str(other.id)})
    foreign = {"organization_id": str(other.id), "name": "x", "country": "DEU"}
    await refused(mine.admin, "POST", PARTIES, 403, json=foreign)
    assert (await other.admin.call("GET", f"{PARTIES}/{party['id']}")) == party | {"reviewed_by_name": None}


async def test_parent_role_reaches_a_party_by_its_id(world: World) -> None:
    top = await Firm.found(world, "Top")
    below = await Firm.found(world, "Below", parent=top.id)
    party = await below.party(WALLET)
    assert (await top.admin.call("GET", f"{PARTIES}/{party['id']}"))["organization_id"] == str(below.id)
    verified = await top.admin.call("POST", f"{PARTIES}/{party['id']}/verify", json={})
    assert verified["status"] == "verified"
    found = await top.admin.call("GET", PARTIES, params={"organization_id": str(below.id)})
    assert [p["id"] for p in found["parties"]] == [party["id"]]


async def test_party_operations_enforce_scopes_and_roles(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    reader = await world.key(firm.id, Scope.ATTESTATIONS_READ)
    assert (await world.client.call("GET", PARTIES, headers=reader))["parties"]
    with pytest.raises(Exception, match="403"):
        await world.client.call("POST", f"{PARTIES}/{party['id']}/verify", headers=reader, json={})
    viewer = await world.person(firm.id, Role.VIEWER)
    # The permission is checked before the body.
    problem = await refused(viewer, "POST", f"{PARTIES}/{party['id']}/verify", 403, json={"kyc_level": "x"})
    assert problem.type.endswith("/errors/insufficient-scope")
    await refused(viewer, "POST", PARTIES, 403, json={"name": 5})
    other = await world.organization("Other")
    await refused(firm.admin, "POST", PARTIES, 403, json={"organization_id": str(other), "name": 5})
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    assert (await officer.call("POST", f"{PARTIES}/{party['id']}/verify", json={}))["status"] == "verified"


async def test_key_reaches_parties_of_its_own_organization(world: World) -> None:
    firm = await Firm.found(world)
    party = await world.client.call("POST", PARTIES, headers=firm.key, json={"name": "Keyed", "country": "DEU"})
    assert party["organization_id"] == str(firm.id)
    verified = await world.client.call("POST", f"{PARTIES}/{party['id']}/verify", headers=firm.key)
    assert (verified["status"], verified["kyc_level"]) == ("verified", 1)
    assert verified["reviewed_by"] == str(firm.admin.user_id)


async def test_party_update_without_a_field_names_the_fields(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    problem = await refused(firm.admin, "PATCH", f"/identity/parties/{party['id']}", 422, json={})
    (finding,) = problem.errors
    assert finding["detail"] == "must have at least one of these fields: name, email, wallet_address"
