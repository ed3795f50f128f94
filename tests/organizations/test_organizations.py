"""Founding, reading, changing and listing organizations."""

from typing import Any
from uuid import UUID

import pytest

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id
from backend.organizations.models import OrganizationRow
from backend.users.schemas import Role
from tests.conftest import Actor, World


async def refused(call: Any) -> ApiProblem:
    with pytest.raises(ApiProblem) as problem:
        await call
    return problem.value


async def test_organization_founder_is_its_admin(world: World) -> None:
    person = await world.person(await world.organization("First"))
    made = await person.call("POST", "/orgs", json={"name": "Second", "jurisdiction": "DEU"})
    assert (made["parent_id"], made["depth"], made["hierarchy_path"]) == (None, 0, f"/{made['id']}")
    members = await person.call("GET", f"/orgs/{made['id']}/members")
    assert [(m["user_id"], m["role"]) for m in members["members"]] == [(str(person.user_id), "admin")]


async def test_organization_creation_requires_a_person_with_write_access(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    by_key = await refused(world.client.call("POST", "/orgs", json={"name": "X"}, headers=key))
    assert by_key.status == 403
    viewer = await world.person(acme, Role.VIEWER)
    by_viewer = await refused(viewer.call("POST", "/orgs", json={"name": "X"}))
    assert by_viewer.type.endswith("/errors/insufficient-scope")


async def test_sub_organization_inherits_place_and_network(world: World) -> None:
    top = await world.organization("Top")
    person = await world.person(top)
    await person.call("PATCH", f"/orgs/{top}", json={"network": "mainnet"})
    division = await person.call("POST", f"/orgs/{top}/sub-orgs", json={"name": "Division"})
    unit = await person.call("POST", f"/orgs/{division['id']}/sub-orgs", json={"name": "Unit", "network": "testnet"})
    assert unit["hierarchy_path"] == f"/{top}/{division['id']}/{unit['id']}"
    assert (unit["depth"], division["network"], unit["network"]) == (2, "mainnet", "testnet")
    assert await person.call("GET", f"/orgs/{unit['id']}") == unit
    listed = (await person.call("GET", f"/orgs/{top}/sub-orgs"))["organizations"]
    assert [(o["name"], o["ancestors"], o["child_count"]) for o in listed] == [("Division", ["Top"], 1)]


async def test_sub_organization_created_by_a_key_is_out_of_its_reach(world: World) -> None:
    top = await world.organization("Top")
    key = await world.key(top)
    made = await world.client.call("POST", f"/orgs/{top}/sub-orgs", json={"name": "Below"}, headers=key)
    assert made["parent_id"] == str(top)
    assert (await refused(world.client.call("GET", f"/orgs/{made['id']}", headers=key))).status == 403


async def test_merge_patch_changes_only_named_fields(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    path = f"/orgs/{acme}"
    await person.call(
        "PATCH", path, json={"email": "A@Example.com", "member_requirements": {"seats": 9, "kyc_required": True}}
    )
    changed = await person.call(
        "PATCH", path, json={"email": None, "member_requirements": {"seats": 0, "min_kyc_level": 2}}
    )
    assert changed["email"] is None
    assert changed["member_requirements"] == {
        "kyc_required": True,
        "min_kyc_level": 2,
        "accreditation_required": False,
        "blocked_countries": [],
        "allowed_email_domains": [],
        "seats": 0,
    }
    assert changed["updated_at"] > changed["created_at"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": None}, "/name"),
        ({"name": "   "}, "/name"),
        ({"name": "bell\x07"}, "/name"),
        ({"name": "nul\x00"}, ""),
        ({"name": "two\nlines"}, "/name"),
        ({"name": "<script>alert(1)</script>"}, "/name"),
        ({"org_type": "<img src=x onerror=alert(1)>"}, "/org_type"),
        ({"description": "<b>bold</b>"}, "/description"),
        ({"website": "javascript:alert(1)"}, "/website"),
        ({"website": 'https://x.example/"><script>'}, "/website"),
        ({"jurisdiction": "XXX"}, "/jurisdiction"),
        ({"network": "devnet"}, "/network"),
        ({"approvals": None}, "/approvals"),
        ({"allowed_ip_ranges": None}, "/allowed_ip_ranges"),
        ({"member_requirements": None}, "/member_requirements"),
        ({"member_requirements": {"min_kyc_level": None}}, "/member_requirements/min_kyc_level"),
        ({"member_requirements": {"seats": None}}, "/member_requirements/seats"),
        ({"hierarchy_path": "/x"}, "/hierarchy_path"),
        (
            {"member_requirements": {"allowed_email_domains": ["not a domain"]}},
            "/member_requirements/allowed_email_domains/0",
        ),
    ],
)
async def test_invalid_field_is_a_422_at_its_field(world: World, body: dict[str, Any], pointer: str) -> None:
    acme = await world.organization("Acme")
    person = await world.person(acme)
    problem = await refused(person.call("PATCH", f"/orgs/{acme}", json=body))
    assert (problem.status, [e["pointer"] for e in problem.errors]) == (422, [pointer])
    assert (await person.call("GET", f"/orgs/{acme}"))["name"] == "Acme"


async def test_null_for_the_seats_names_the_value_that_removes_the_limit(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    for body in ({"seats": 9}, {"blocked_countries": ["PRK"]}):
        await person.call("PATCH", f"/orgs/{acme}", json={"member_requirements": body})
    problem = await refused(person.call("PATCH", f"/orgs/{acme}", json={"member_requirements": {"seats": None}}))
    assert "Omit the field to keep it, or send 0 to remove it" in problem.errors[0]["detail"]
    assert (await person.call("GET", f"/orgs/{acme}"))["member_requirements"]["seats"] == 9


async def test_seats_that_an_earlier_version_stored_as_null_are_unlimited(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    async with db.worker() as session:
        row = await session.get_one(OrganizationRow, acme)
        row.member_requirements = {"kyc_required": True, "seats": None}
    assert (await person.call("GET", f"/orgs/{acme}"))["member_requirements"]["seats"] == 0
    body = {"member_requirements": {"min_kyc_level": 2}}
    changed = (await person.call("PATCH", f"/orgs/{acme}", json=body))["member_requirements"]
    assert (changed["kyc_required"], changed["min_kyc_level"], changed["seats"]) == (True, 2, 0)


async def test_optional_fields_accept_null(world: World) -> None:
    acme = await world.organization("Acme")
    person = await world.person(acme)
    body = {"name": "Beta", "network": None, "jurisdiction": "Delaware, USA", "email": None}
    made = await person.call("POST", f"/orgs/{acme}/sub-orgs", json=body)
    assert (made["network"], made["jurisdiction"]) == ("testnet", "Delaware, USA")
    added = await person.call("POST", f"/orgs/{acme}/invitations", json={"email": "z@example.com", "role": None})
    assert added["role"] == "client"


async def test_special_characters_round_trip(world: World) -> None:
    person = await world.person(await world.organization())
    name = "Müller & Söhne “Immobilien” 3 < 4 %_\\ 不动产 🏠"
    made = await person.call("POST", "/orgs", json={"name": name})
    assert made["name"] == name
    found = await person.call("GET", "/orgs", params={"q": "%_\\ 不动"})
    assert [o["id"] for o in found["organizations"]] == [made["id"]]


async def test_organizations_reached_by_several_roles_are_listed_once(world: World) -> None:
    top = await world.organization("Top")
    middle = await world.organization("Middle", top)
    low = await world.organization("Low", middle)
    await world.organization("Foreign")
    person = await world.person(top)
    await with_role(world, person, middle)
    listed = (await person.call("GET", "/orgs"))["organizations"]
    assert [o["name"] for o in listed] == ["Low", "Middle", "Top"]
    assert listed[0]["ancestors"] == ["Top", "Middle"]
    assert listed[0]["hierarchy_path"] == f"/{top}/{middle}/{low}"
    assert [o["name"] for o in (await person.call("GET", "/orgs", params={"q": "MID"}))["organizations"]] == ["Middle"]
    key = await world.key(middle, Scope.ORGS_READ)
    by_key = await world.client.call("GET", "/orgs", headers=key)
    assert [o["name"] for o in by_key["organizations"]] == ["Middle"]
    narrow = await world.key(middle, Scope.ASSETS_READ)
    assert (await refused(world.client.call("GET", "/orgs", headers=narrow))).status == 403


async def test_organizations_are_paged_without_loss_or_duplicates(world: World) -> None:
    top = await world.organization("Top")
    ids = {str(top), *[str(await world.organization(f"O{i}", top)) for i in range(7)]}
    person = await world.person(top)
    seen, cursor = [], None
    while True:
        page = await person.call("GET", "/orgs", params={"limit": 3, "cursor": cursor})
        seen += [o["id"] for o in page["organizations"]]
        if not (cursor := page["nextCursor"]):
            break
    assert len(seen) == 8
    assert set(seen) == ids


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "cursor=x", "cursor=bm90fG9uZQ"])
async def test_organizations_with_an_invalid_query_are_a_400(world: World, query: str) -> None:
    person = await world.person(await world.organization())
    assert (await refused(person.call("GET", f"/orgs?{query}"))).status == 400


async def test_foreign_and_unknown_organization_get_the_same_403(world: World) -> None:
    person = await world.person(await world.organization())
    foreign = await world.organization("Foreign")
    for path in ("", "/summary", "/tree", "/sub-orgs", "/access", "/members", "/invitations", "/api-keys"):
        answers = [await refused(person.call("GET", f"/orgs/{i}{path}")) for i in (foreign, new_id(), "nonsense")]
        assert {(a.status, a.detail) for a in answers} == {(403, answers[0].detail)}


async def test_summary_counts_only_its_organization(world: World) -> None:
    acme = await world.organization()
    await world.organization("Deeper", await world.organization("Below", acme))
    person = await world.person(acme)
    await world.person(acme, Role.CLIENT)
    await world.key(acme)
    other = await world.organization()
    await world.person(other)
    await person.call("POST", f"/orgs/{acme}/invitations", json={"email": "a@example.com"})
    summary = await person.call("GET", f"/orgs/{acme}/summary")
    assert summary["members"] == {"staff": 1, "clients": 1, "total": 2}
    assert (summary["api_keys"], summary["sub_organizations"]) == ({"active": 1, "revoked": 0}, 1)
    assert summary["sub_organizations_all"] == 2
    assert (summary["assets"], summary["attention"]["pending_invitations"]) == ({"total": 0, "by_status": {}}, 1)


async def test_access_lists_the_source_of_each_role(world: World) -> None:
    top = await world.organization("Top")
    low = await world.organization("Low", top)
    above, here = await world.person(top), await world.person(low, Role.VIEWER)
    await world.person(low, Role.CLIENT)
    first = await here.call("GET", f"/orgs/{low}/access", params={"limit": 1})
    rest = await here.call("GET", f"/orgs/{low}/access", params={"limit": 1, "cursor": first["nextCursor"]})
    found = [
        (a["user_id"], a["role"], a["organization_name"], a["inherited"]) for a in first["access"] + rest["access"]
    ]
    assert found == [(str(here.user_id), "viewer", "Low", False), (str(above.user_id), "admin", "Top", True)]
    assert rest["nextCursor"] is None


async def with_role(world: World, person: Actor, organization: UUID, role: Role = Role.ADMIN) -> None:
    """Give a person one more role."""
    from backend.core import db
    from backend.models import MemberRow

    async with db.worker() as session:
        session.add(MemberRow(organization_id=organization, user_id=person.user_id, role=role))


@pytest.mark.parametrize("name", ["Acme\u202ednI", "\u2067Acme", "Acme\u200f", "\u061cAcme"])
async def test_name_with_bidirectional_controls_is_refused(world: World, name: str) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with pytest.raises(ApiProblem) as refused:
        await admin.call("PATCH", f"/orgs/{acme}", json={"name": name})
    assert refused.value.status == 422
    assert "bidirectional" in str(refused.value.body)
    renamed = await admin.call("PATCH", f"/orgs/{acme}", json={"name": "شركة مثال"})
    assert renamed["name"] == "شركة مثال"


async def test_person_creates_at_most_ten_organizations_a_day(world: World, limits: None) -> None:
    admin = await world.person(await world.organization())
    for number in range(10):
        await admin.call("POST", "/orgs", json={"name": f"Root {number}"})
    await admin.call("POST", "/orgs", json={"name": "Rehearsed"}, params={"dry_run": "true"})
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", "/orgs", json={"name": "One more"})
    assert refused.value.status == 429
