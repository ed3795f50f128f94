"""A request that an API key or an application made does not start after the key or the grant was revoked."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.assets import workflow as assets
from backend.chain.bindings import token
from backend.controls import workflow as controls
from backend.core import db
from backend.core.changes import Who, acting
from backend.core.db import now
from backend.models import ApiKeyRow, DailyUseRow, RequestRow
from backend.requests import workflows
from backend.requests.schemas import RequestStatus
from tests.approvals.second_person import path_of, waiting
from tests.conftest import World
from tests.controls.issuer import WHY, Issuer, issuer
from tests.oauth.application import register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.requests.test_lanes import accepted, finished, status_of
from tests.support.crash import run, sent, unqueued
from tests.support.firm import SEPOLIA, refused
from tests.support.issuance import UNIT, asset_body

SCOPES = ["orgs:read", "assets:read", "assets:write", "api-keys:write"]
DENIED = "The API key that made this request was revoked before it started. Nothing was signed."


async def key_of(firm: Issuer) -> Any:
    return await firm.post("/api-keys", {"name": "leaked", "scopes": SCOPES})


async def mint(world: World, firm: Issuer, bearer: str) -> str:
    """Ask a mint with a credential; the engine does not run it."""
    body = {"chain_eid": SEPOLIA, "to_address": (await firm.treasury())["address"], "amount": str(UNIT), "reason": WHY}
    with unqueued():
        answer = await world.client.call("POST", f"{firm.base}{firm.control('mint')}", json=body, token=bearer)
    return str(answer["requestId"])


async def ended(firm: Issuer, request_id: str) -> Any:
    """Run a control and return its request."""
    await run(controls.control, None, firm.id, request_id)
    return await firm.get(f"/requests/{request_id}")


async def minted(firm: Issuer) -> int:
    return (await sent(firm.id)).count("tokens minted")


async def test_mint_of_a_revoked_key_is_denied_and_frees_the_daily_limit(world: World) -> None:
    firm = await issuer(world)
    limit = await firm.patch(f"/assets/{firm.of['id']}/daily-limits", {"mint": str(UNIT)})
    await firm.succeed(limit["requestId"])
    key = await key_of(firm)
    request_id = await mint(world, firm, key["key"])
    await firm.delete(f"/api-keys/{key['id']}")
    request = await ended(firm, request_id)
    assert (request["status"], request["can_retry"]) == ("denied", False)
    assert request["problem"]["detail"] == DENIED
    assert [step["status"] for step in request["steps"]] == ["waiting"]
    assert await minted(firm) == 0
    async with db.worker() as session:
        used = sa.select(DailyUseRow).where(col(DailyUseRow.request_id) == UUID(request_id))
        assert await session.scalar(used) is None
    (entry,) = (await firm.get("/audit", params={"action": "request.denied"}))["audit"]
    assert (entry["subject"]["id"], entry["credential"]) == (request_id, "system")


@pytest.mark.long
async def test_mint_approved_before_the_revocation_of_its_key_is_denied(world: World) -> None:
    firm = await issuer(world)
    second = await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    key = await key_of(firm)
    first, later = [await mint(world, firm, key["key"]) for _ in range(2)]
    approval, unapproved = [await waiting(firm, {"requestId": id_}) for id_ in (first, later)]
    with unqueued():
        await second.call("POST", path_of(firm, approval, "approve"))
    await firm.delete(f"/api-keys/{key['id']}")
    assert (await ended(firm, first))["problem"]["detail"] == DENIED
    problem = await refused(second, "POST", path_of(firm, unapproved, "approve"), 409)
    assert "was revoked or has expired since" in problem.detail
    assert await minted(firm) == 0


@pytest.mark.long
async def test_mint_of_a_key_revoked_after_its_one_call_continues_until_the_key_is_revoked_again(world: World) -> None:
    firm = await issuer(world)
    key = await key_of(firm)
    request_id, later = [await mint(world, firm, key["key"]) for _ in range(2)]
    once = f"/api-keys/{key['id']}?requests=continue"
    problem = await refused(world.client, "DELETE", f"{firm.base}{once}", 403, token=key["key"])
    assert "Revoke the key without `requests=continue`, or sign in." in problem.detail
    await firm.delete(once)
    assert (await ended(firm, request_id))["status"] == "succeeded"
    await firm.delete(f"/api-keys/{key['id']}")
    assert (await ended(firm, later))["status"] == "denied"


@pytest.mark.long
async def test_mint_of_a_key_made_by_a_key_ends_as_the_mints_of_its_maker(world: World) -> None:
    firm = await issuer(world)
    for choice, outcome in (("", "denied"), ("?requests=continue", "succeeded")):
        maker = await key_of(firm)
        body = {"name": "made", "scopes": SCOPES}
        made = await world.client.call("POST", f"{firm.base}/api-keys", json=body, token=maker["key"])
        requests = [await mint(world, firm, key["key"]) for key in (maker, made)]
        await firm.delete(f"/api-keys/{maker['id']}{choice}")
        ends = {key["id"]: key["revoked_at"] for key in (await firm.get("/api-keys"))["api_keys"]}
        assert all(ends[key["id"]] for key in (maker, made))
        assert [(await ended(firm, id_))["status"] for id_ in requests] == [outcome, outcome]


@pytest.mark.long
async def test_mint_of_a_key_made_by_an_expired_key_is_executed(world: World) -> None:
    firm = await issuer(world)
    maker = await key_of(firm)
    body = {"name": "made", "scopes": SCOPES}
    made = await world.client.call("POST", f"{firm.base}/api-keys", json=body, token=maker["key"])
    request_id = await mint(world, firm, made["key"])
    async with db.worker() as session:
        mine = sa.update(ApiKeyRow).where(col(ApiKeyRow.id) == UUID(maker["id"]))
        await session.execute(mine.values(expires_at=now() - timedelta(seconds=1)))
    keys = (await firm.get("/api-keys"))["api_keys"]
    assert next(key for key in keys if key["id"] == made["id"])["revoked_at"]
    assert (await ended(firm, request_id))["status"] == "succeeded"


@pytest.mark.long
async def test_requests_that_a_person_lets_continue_are_not_denied_by_another_key(world: World) -> None:
    firm = await issuer(world)
    key, other = await key_of(firm), await key_of(firm)
    request_id, later = [await mint(world, firm, key["key"]) for _ in range(2)]
    path = f"/api-keys/{key['id']}"
    await firm.delete(f"{path}?requests=continue")
    await world.client.call("DELETE", f"{firm.base}{path}", token=other["key"])
    assert (await ended(firm, request_id))["status"] == "succeeded"
    await firm.delete(path)
    assert (await ended(firm, later))["status"] == "denied"


@pytest.mark.long
async def test_mint_of_an_expired_key_is_executed(world: World) -> None:
    firm = await issuer(world)
    key = await key_of(firm)
    request_id = await mint(world, firm, key["key"])
    async with db.worker() as session:
        mine = sa.update(ApiKeyRow).where(col(ApiKeyRow.id) == UUID(key["id"]))
        await session.execute(mine.values(expires_at=now() - timedelta(seconds=1)))
    assert (await ended(firm, request_id))["status"] == "succeeded"


@pytest.mark.long
async def test_mint_of_a_disconnected_application_is_denied(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    firm = await issuer(world)
    scopes = ["openid", *SCOPES]
    application = await register(world, http, firm.id, scopes=scopes)
    tokens = await application.sign_in(firm.admin, " ".join(scopes))
    request_id = await mint(world, firm, tokens["access_token"])
    sessions = (await firm.admin.call("GET", "/auth/sessions"))["sessions"]
    grant = next(s["id"] for s in sessions if s["kind"] == "application")
    await firm.admin.call("DELETE", f"/auth/sessions/{grant}")
    request = await ended(firm, request_id)
    assert request["status"] == "denied"
    assert request["problem"]["detail"].startswith("The application that made this request was disconnected")
    assert await minted(firm) == 0


@pytest.mark.long
async def test_retry_by_a_revoked_key_fails_and_is_retried_by_a_person(world: World) -> None:
    firm = await issuer(world)
    key = await key_of(firm)
    request_id = await mint(world, firm, key["key"])
    await firm.owner_call(token.pause(firm.token_at))
    assert (await ended(firm, request_id))["status"] == "failed"
    await firm.owner_call(token.unpause(firm.token_at))
    with unqueued():
        await world.client.call("POST", f"{firm.base}/requests/{request_id}/retry", token=key["key"])
    await firm.delete(f"/api-keys/{key['id']}")
    request = await ended(firm, request_id)
    assert (request["status"], request["can_retry"]) == ("failed", True)
    assert request["problem"]["detail"].startswith("The API key that retried this request was revoked")
    assert (await firm.retry(request_id, 3))["status"] == "succeeded"


@pytest.mark.long
async def test_asset_changes_of_a_revoked_key_are_taken_back(world: World) -> None:
    firm = await issuer(world)
    key = await key_of(firm)
    path = f"{firm.base}/assets/{firm.of['id']}"
    with unqueued():
        change = await world.client.call("PATCH", path, json={"max_holders": 7, "name": "Leaked"}, token=key["key"])
        new = await world.client.call("POST", f"{firm.base}/assets", json=asset_body(SEPOLIA), token=key["key"])
    await firm.delete(f"/api-keys/{key['id']}")
    await run(assets.update, assets.update_failed, firm.id, change["requestId"])
    await run(assets.deploy, assets.asset_failed, firm.id, new["requestId"])
    changed, made = await firm.get(f"/assets/{firm.of['id']}"), await firm.get(f"/assets/{new['assetId']}")
    fields = ("status", "failure", "max_holders", "name")
    assert [changed[name] for name in fields] == ["active", None, firm.of["max_holders"], firm.of["name"]]
    assert made["status"] == "archived"
    assert (await firm.get(f"/requests/{change['requestId']}"))["status"] == "denied"


async def test_lineage_of_a_move_by_a_revoked_key_is_still_written(world: World, unswept: None) -> None:
    firm = await world.organization()
    await world.key(firm)
    async with db.worker() as session:
        key: UUID | None = await session.scalar(
            sa.select(col(ApiKeyRow.id)).where(col(ApiKeyRow.organization_id) == firm)
        )
        await session.execute(sa.update(ApiKeyRow).where(col(ApiKeyRow.id) == key).values(revoked_at=now()))
    with acting(Who(credential=f"key:{key}")):
        ids = [await accepted(firm) for _ in range(2)]
    async with db.worker() as session:
        lineage = sa.update(RequestRow).where(col(RequestRow.id) == ids[1])
        await session.execute(lineage.values(kind="organization.lineage"))
    for id_ in ids:
        await workflows._run(finished, None, firm, id_)
    assert [await status_of(id_) for id_ in ids] == [RequestStatus.DENIED, RequestStatus.SUCCEEDED]
