"""Titles of requests and approvals name people and amounts: only for callers who may read those."""

import json
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.settings import settings
from backend.requests import titles
from backend.server import runtime
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
    assert request["scope"] == "members:write"
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


async def test_search_and_audit_log_hide_titles_from_keys_without_members_read(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    await firm.post("/invitations", {"email": EMAIL, "role": "admin"})
    narrow = await world.key(firm.id, Scope.ORGS_READ, created_by=firm.admin.user_id)
    wide = await world.key(firm.id, Scope.ORGS_READ, Scope.MEMBERS_READ, created_by=firm.admin.user_id)

    async def read(key: dict[str, str], path: str) -> Any:
        return await firm.admin.client.call("GET", f"{firm.base}{path}", headers=key)

    async def export(key: dict[str, str]) -> str:
        transport = runtime.local_transport(api)
        async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
            return (await http.get(f"/v1{firm.base}/audit.csv", headers=key)).text

    assert [one["kind"] for one in (await read(wide, "/search?q=clara"))["results"]] == ["request"]
    assert (await read(narrow, "/search?q=clara"))["results"] == []
    assert (await read(narrow, "/search?q=invite"))["results"] == []
    [approval, *_] = (await read(wide, "/audit"))["audit"]
    assert EMAIL in approval["after"]["title"]
    assert EMAIL in approval["subject_name"]
    [withheld, *_] = (await read(narrow, "/audit"))["audit"]
    assert (withheld["action"], withheld["withheld"], withheld["after"]) == ("approval.created", True, None)
    assert EMAIL not in str(await read(narrow, "/audit"))
    assert EMAIL in await export(wide)
    assert EMAIL not in await export(narrow)


async def test_problem_and_details_of_a_request_are_hidden_with_its_title(world: World) -> None:
    firm = await Firm.found(world)
    await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    await firm.post("/invitations", {"email": EMAIL, "role": "admin"})
    problem = {"type": "about:blank", "title": "Conflict", "status": 409, "detail": f"{EMAIL} is a member."}
    problem |= {"revert": {"error": "NotEligible", "code": 3, "arguments": {"receiver": EMAIL}}}
    async with db.worker() as session:
        id_ = await session.scalar(
            sa.text(
                "update requests set problem = cast(:problem as jsonb),"
                " arguments = arguments || jsonb_build_object('reason', cast(:reason as text))"
                " where organization_id = :id returning id"
            ),
            {"reason": f"Asked by {EMAIL}", "problem": json.dumps(problem), "id": firm.id},
        )
        await session.execute(
            sa.text("update request_steps set detail = :detail where request_id = :id"),
            {"detail": f"Mail to {EMAIL}", "id": id_},
        )
    narrow = await world.key(firm.id, Scope.ORGS_READ, created_by=firm.admin.user_id)
    wide = await world.key(firm.id, Scope.ORGS_READ, Scope.MEMBERS_READ, created_by=firm.admin.user_id)
    hidden = await firm.admin.client.call("GET", f"{firm.base}/requests/{id_}", headers=narrow)
    assert EMAIL not in str(hidden)
    kept = {"type": "about:blank", "title": "Conflict", "status": 409, "detail": titles.WITHHELD}
    assert (hidden["problem"], hidden["steps"][0]["detail"], hidden["reason"]) == (kept, None, None)
    shown = await firm.admin.client.call("GET", f"{firm.base}/requests/{id_}", headers=wide)
    assert shown["reason"] == f"Asked by {EMAIL}"
    assert (shown["problem"], shown["steps"][0]["detail"]) == (problem, f"Mail to {EMAIL}")
