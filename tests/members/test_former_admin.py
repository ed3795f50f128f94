"""People who left the organization keep their names: at the roles they granted, and in the audit log."""

import pytest

from backend.users.schemas import Role
from tests.conftest import World


@pytest.mark.parametrize("is_above", [False, True])
async def test_name_of_an_admin_who_left_stays_at_the_roles_they_granted(world: World, *, is_above: bool) -> None:
    acme = await world.organization()
    below = await world.organization("Below", acme)
    admin, former = await world.person(acme), await world.person(acme)
    other = await world.person(await world.organization("Beside", acme))
    place = below if is_above else acme
    name = (await former.call("GET", "/auth/me"))["user"]["display_name"]
    path = f"/orgs/{place}/members"
    made = await former.call("POST", path, json={"user_id": str(other.user_id), "role": Role.VIEWER})
    members = (await admin.call("GET", f"/orgs/{acme}/members"))["members"]
    left = next(one for one in members if one["user_id"] == str(former.user_id))
    await admin.call("DELETE", f"/orgs/{acme}/members/{left['id']}")
    listed = (await admin.call("GET", path))["members"]
    assert next(one for one in listed if one["id"] == made["id"])["appointment"]["by"] == name
    log = (await admin.call("GET", f"/orgs/{acme}/audit"))["audit"]
    removal = next(one for one in log if one["action"] == "member.removed")
    assert removal["subject_name"] == name
