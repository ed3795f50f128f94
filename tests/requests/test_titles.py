"""Titles of requests and approvals name people and amounts: only for callers who may read those."""

from typing import Any

import pytest

from backend.auth.scopes import Scope
from tests.conftest import World
from tests.support.firm import Firm

EMAIL = "clara.weiss@acme.example"


@pytest.mark.long
async def test_titles_with_members_are_hidden_from_keys_without_members_read(world: World) -> None:
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    await firm.post("/invitations", {"email": EMAIL, "role": "admin"})
    narrow = await world.key(firm.id, Scope.ORGS_READ, created_by=firm.admin.user_id)
    wide = await world.key(firm.id, Scope.ORGS_READ, Scope.MEMBERS_READ, created_by=firm.admin.user_id)

    async def read(key: dict[str, str], path: str, **params: str) -> Any:
        return await firm.admin.client.call("GET", f"{firm.base}{path}", headers=key, params=params)

    [request] = (await read(wide, "/requests"))["requests"]
    assert EMAIL in request["title"]
    assert EMAIL in request["steps"][0]["title"]
    for path, plural in (("/requests", "requests"), ("/approvals", "approvals")):
        [listed] = (await read(narrow, path))[plural]
        assert listed["title"] == "Member invite"
        assert EMAIL not in str(listed)
        assert EMAIL not in str(await read(narrow, f"{path}/{listed['id']}"))
        assert (await read(narrow, path, q="clara"))[plural] == []
        assert len((await read(wide, path, q="clara"))[plural]) == 1
        seen = await second.call("GET", f"{firm.base}{path}/{listed['id']}")
        assert EMAIL in seen["title"]
