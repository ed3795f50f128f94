"""`signum erase person`: no trace of the person is left, no one can sign in, and the audit logs can be verified."""

from typing import Any

import pytest

from backend.client import ApiProblem
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World
from tests.erasures.traces import everything, traces
from tests.support.firm import Firm
from tests.support.operator import command

EMAIL, REASON = "wilhelmina.quist@example.net", "Request 4712"
TABLES = ("users", "members", "sessions", "api_keys", "audit_log", "audit_heads", "requests", "outbox", "invitations",
          "parties", "wallets", "preferences", "form_drafts", "saved_views")  # fmt: skip


async def renamed(world: World, firm: Firm) -> Any:
    """Create a colleague whose name and email are in many places."""
    person = await world.person(firm.id, Role.ADMIN, EMAIL)
    await firm.patch(f"/members/{await member_of(firm, person)}", {"role": "admin"})
    await person.call("POST", "/auth/login", json={"email": EMAIL, "password": PASSWORD})
    await person.call("POST", f"{firm.base}/api-keys", json={"name": f"Key of {EMAIL}", "scopes": ["orgs:read"]})
    await person.call("POST", f"{firm.base}/wallets", json={"label": f"For {EMAIL.upper()}"})
    await person.call("PATCH", "/auth/preferences", json={"time_zone": "Europe/Oslo"})
    return person


async def member_of(firm: Firm, person: Any) -> str:
    members = (await firm.get("/members", params={"limit": 100}))["members"]
    return next(str(m["id"]) for m in members if m["user"]["id"] == str(person.user_id))


@pytest.mark.long
async def test_erased_person_leaves_no_trace_and_valid_audit_logs(world: World, database_url: str) -> None:
    firm, other = await Firm.found(world, name="Northwind"), await Firm.found(world, name="Contoso")
    person = await renamed(world, firm)
    await other.post("/invitations", {"email": EMAIL, "role": "viewer"})
    name = EMAIL.split("@")[0].title()
    state = everything(database_url, *TABLES)
    shown = await command(database_url, "erase", "person", EMAIL, "--reason", REASON)
    assert (shown.code, "Nothing was changed" in shown.out) == (0, True), shown.err
    assert everything(database_url, *TABLES) == state, "a dry run changes nothing"
    done = await command(database_url, "erase", "person", EMAIL.upper(), "--reason", REASON, "--yes")
    assert done.code == 0, done.err
    assert EMAIL not in (shown.out + done.out).lower()
    assert traces(database_url, EMAIL, name) == {}
    for call in (
        person.call("GET", "/auth/me"),
        world.client.call("POST", "/auth/login", json={"email": EMAIL, "password": PASSWORD}),
    ):
        with pytest.raises(ApiProblem) as refused:
            await call
        assert refused.value.status == 401
    members = (await firm.get("/members", params={"limit": 100}))["members"]
    assert str(person.user_id) not in str(members)
    assert {
        key["revoked_at"] is None for key in (await firm.get("/api-keys"))["api_keys"] if key["name"] != "test"
    } == {False}
    log = (await firm.get("/audit", params={"limit": 100}))["audit"]
    mine = [entry for entry in log if entry["actor"] == str(person.user_id)]
    assert {entry["actor_name"] for entry in mine} == {"Erased person"}
    assert {entry["address"] for entry in mine} == {None}
    assert log[0]["action"] == "user.erased"
    for one in (firm, other):
        found = await one.get("/audit/verify")
        assert (found["whole"], found["erased"] > 0) == (True, True), found
    state = everything(database_url, *TABLES)
    again = await command(database_url, "erase", "person", EMAIL, "--reason", REASON, "--yes")
    assert (again.code, "No account has this email address." in again.err) == (1, True)
    assert everything(database_url, *TABLES) == state, "a second run changes nothing"


@pytest.mark.long
async def test_only_admin_of_an_organization_is_not_erased(world: World, database_url: str) -> None:
    firm = await Firm.found(world, name="Northwind")
    refused = await command(database_url, "erase", "person", firm.admin.email, "--reason", REASON, "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"signum: The person is the only admin of Northwind ({firm.id}). Make another person an admin first.\n"
    )
    await firm.admin.call("GET", "/auth/me")
    await world.person(firm.id)
    named = await command(database_url, "erase", "person", firm.admin.email, "--reason", firm.admin.email, "--yes")
    assert (named.code, "Omit it." in named.err) == (1, True)
