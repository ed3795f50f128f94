"""Versions: the ETag of each record, and `If-Match` on every operation that acts on one."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest

from backend.assets import workflow as assets
from backend.assets.models import AssetRow
from backend.assets.schemas import AssetStatus
from backend.auth import versions
from backend.client import ApiProblem
from backend.core import db
from backend.core.errors import BadRequest
from backend.users.schemas import Role
from tests.approvals.second_person import approve, asking, path_of, waiting
from tests.conftest import Actor, World
from tests.support.crash import run, unqueued
from tests.support.firm import Firm, refused

STALE = '"0"'
OWN = ("/auth/", "/drafts/", "/saved-views/")
"""Parts of paths of what a person keeps for themselves; the last change counts."""


async def call(actor: Actor, method: str, path: str, etag: str | None = None, **options: Any) -> tuple[Any, str]:
    """Return the response of a call, and its ETag."""
    with actor.client.response_headers() as headers:
        answer = await actor.call(method, path, headers={"if-match": etag} if etag else {}, **options)
    return answer, headers.get("etag", "")


async def stale(actor: Actor, method: str, path: str, etag: str = STALE, **options: Any) -> ApiProblem:
    return await refused(actor, method, path, 412, headers={"if-match": etag}, **options)


async def active_asset(firm: Firm) -> str:
    """Return the path of an active asset without tokens, whose updates need no chain."""
    async with db.worker() as session:
        row = AssetRow(organization_id=firm.id, name="Fund", symbol="FUND", status=AssetStatus.ACTIVE)
        session.add(row)
    return f"{firm.base}/assets/{row.id}"


@pytest.mark.long
async def test_change_for_an_old_version_of_a_record_is_refused(world: World) -> None:
    firm = await Firm.found(world)
    party, linked = await firm.party(), {"label": "Cold", "address": "0x" + "12" * 20}
    wallet = await firm.post("/wallets", linked)
    webhook = await firm.post("/webhooks", {"url": "https://example.com/hook", "event_types": ["market.active"]})
    asset = await active_asset(firm)
    changes: dict[str, dict[str, Any]] = {
        firm.base: {"description": "Funds"},
        asset: {"max_holders": 10},
        f"{asset}/daily-limits": {"mint": "5"},
        f"/identity/parties/{party['id']}": {"name": "Martha Lindqvist"},
        f"{firm.base}/wallets/{wallet['id']}": {"label": "Vault"},
        f"{firm.base}/webhooks/{webhook['id']}": {"description": "Ledger"},
    }
    for path, change in changes.items():
        _, read = await call(firm.admin, "GET", path)
        problem = await stale(firm.admin, "PATCH", path, json=change)
        assert (problem.type.rsplit("/", 1)[-1], problem.etag) == ("version-mismatch", read), path
        await stale(firm.admin, "PATCH", path, f"W/{read}", json=change)
        answer, changed = await call(firm.admin, "PATCH", path, f"{STALE}, {read}", json=change)
        if "requestId" in answer:
            await firm.settle(answer["requestId"])
        assert (await call(firm.admin, "GET", path))[1] != read, path
        now = (await call(firm.admin, "GET", path))[1]
        assert changed == ("" if "requestId" in answer else now), path
        assert (await stale(firm.admin, "PATCH", path, read, json=change)).etag
    party_path = f"/identity/parties/{party['id']}"
    await stale(firm.admin, "POST", f"{party_path}/verify", json={})
    await call(firm.admin, "POST", f"{party_path}/verify", (await call(firm.admin, "GET", party_path))[1], json={})


@pytest.mark.long
async def test_records_that_only_end_have_a_version_too(world: World) -> None:
    firm = await Firm.found(world)
    viewer = await world.person(firm.id, Role.VIEWER)
    members = (await firm.get("/members"))["members"]
    application = {"name": "Ledger", "redirect_uris": ["https://example.com/back"], "scopes": ["orgs:read"]}
    ids = {
        "members": next(m["id"] for m in members if m["user_id"] == str(viewer.user_id)),
        "wallets": (await firm.post("/wallets", {"label": "Cold", "address": "0x" + "12" * 20}))["id"],
        "webhooks": (
            await firm.post("/webhooks", {"url": "https://example.com/hook", "event_types": ["market.active"]})
        )["id"],
        "api-keys": (await firm.post("/api-keys", {"name": "CI", "scopes": ["orgs:read"]}))["id"],
        "oauth-clients": (await firm.post("/oauth-clients", application))["id"],
        "invitations": (await firm.post("/invitations", {"email": "ada@example.com", "role": "viewer"}))["id"],
    }
    other = await Firm.found(world, "Other")
    for kind, id_ in ids.items():
        path = f"{firm.base}/{kind}/{id_}"
        record, read = await call(firm.admin, "GET", path)
        assert (record["id"], len(read)) == (id_, 34), path
        await refused(other.admin, "GET", f"{other.base}/{kind}/{id_}", 404)
        await stale(firm.admin, "DELETE", path)
        await call(firm.admin, "DELETE", path, read)
        await refused(firm.admin, "DELETE", path, 412 if "api" in kind or "oauth" in kind or "inv" in kind else 404,
                      headers={"if-match": read})  # fmt: skip


async def test_malformed_version_is_refused_where_the_response_would_be_replayed(world: World) -> None:
    firm = await Firm.found(world)
    webhook = await firm.post("/webhooks", {"url": "https://example.com/hook", "event_types": ["market.active"]})
    path, key = f"{firm.base}/webhooks/{webhook['id']}/test", {"idempotency-key": "test-1"}
    first = await firm.admin.call("POST", path, headers=key)
    assert await firm.admin.call("POST", path, headers=key | {"if-match": STALE}) == first
    for tags in ("0", ", ".join([STALE] * 300)):
        await refused(firm.admin, "POST", path, 400, headers=key | {"if-match": tags})


async def test_move_of_an_organization_that_has_changed_is_refused(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit, person = await world.organization("Unit", left), await world.person(top)
    _, read = await call(person, "GET", f"/orgs/{unit}")
    path, there = f"/orgs/{left}/sub-orgs/{unit}/move", {"newParentId": str(right)}
    assert (await stale(person, "POST", path, json=there)).etag == read
    await stale(person, "POST", path, json=there, params={"dry_run": "true"})
    await call(person, "POST", path, read, json=there)
    back = {"newParentId": str(left)}
    await stale(person, "POST", f"/orgs/{right}/sub-orgs/{unit}/move", read, json=back)


async def test_two_changes_for_the_same_version_have_one_winner(world: World) -> None:
    firm = await Firm.found(world)
    path = await active_asset(firm)
    _, read = await call(firm.admin, "GET", path)
    asked = [call(firm.admin, "PATCH", path, read, json={"max_holders": most}) for most in range(10, 16)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    winners = [most for most, one in zip(range(10, 16), found, strict=True) if not isinstance(one, BaseException)]
    losers = [one for one in found if isinstance(one, ApiProblem)]
    assert (len(winners), {p.status for p in losers}, len(losers)) == (1, {412}, 5)
    assert len({p.etag for p in losers} | {read}) == 2
    (changed,) = [one[0] for one in found if not isinstance(one, BaseException)]
    await firm.settle(changed["requestId"])
    assert (await firm.get(path.removeprefix(firm.base)))["max_holders"] == winners[0]


async def test_change_of_fields_that_an_accepted_change_will_write_is_refused(world: World) -> None:
    firm = await Firm.found(world)
    path = await active_asset(firm)
    with unqueued():
        first, _ = await call(firm.admin, "PATCH", path, json={"max_holders": 10, "name": "Fund I"})
        _, between = await call(firm.admin, "GET", path)
        headers, same = {"if-match": between}, {"max_holders": 20}
        problem = await refused(firm.admin, "PATCH", path, 409, headers=headers, json=same)
        assert problem.detail.startswith("An earlier update of max_holders has not started yet.")
        other, _ = await call(firm.admin, "PATCH", path, between, json={"required_kyc_level": 2})
    for accepted in (first, other):
        await run(assets.update, assets.update_failed, firm.id, accepted["requestId"])
    asset, now = await call(firm.admin, "GET", path)
    assert (asset["max_holders"], asset["required_kyc_level"], asset["status"]) == (10, 2, "active")
    later, _ = await call(firm.admin, "PATCH", path, now, json=same)
    assert (await firm.settle(later["requestId"]))["status"] == "succeeded"


async def test_repeated_change_with_an_idempotency_key_is_answered_again(world: World) -> None:
    firm = await Firm.found(world)
    _, read = await call(firm.admin, "GET", firm.base)
    sent = {"json": {"description": "Funds"}, "idempotency_key": str(uuid4())}
    assert await call(firm.admin, "PATCH", firm.base, read, **sent) == await call(
        firm.admin, "PATCH", firm.base, read, **sent
    )
    other = {"json": {"description": "Other"}, "idempotency_key": str(uuid4())}
    problem = await stale(firm.admin, "PATCH", firm.base, read, **other)
    await call(firm.admin, "PATCH", firm.base, problem.etag, **other)


async def test_version_of_a_foreign_record_is_hidden(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    path = await active_asset(other)
    foreign = path.replace(other.base, mine.base)
    await refused(mine.admin, "PATCH", path, 403, json={}, headers={"if-match": STALE})
    await refused(mine.admin, "PATCH", foreign, 404, json={}, headers={"if-match": STALE})
    party = (await other.party())["id"]
    await refused(mine.admin, "PATCH", f"/identity/parties/{party}", 404, json={}, headers={"if-match": STALE})


@pytest.mark.long
async def test_update_that_waited_is_refused_after_the_asset_has_changed(world: World) -> None:
    firm, second = await asking(world, "asset.update")
    path = await active_asset(firm)
    _, read = await call(firm.admin, "GET", path)
    first, _ = await call(firm.admin, "PATCH", path, read, json={"max_holders": 10})
    later, _ = await call(second, "PATCH", path, read, json={"max_holders": 20})
    approvals = [await waiting(firm, accepted) for accepted in (first, later)]
    assert (await approve(firm, second, approvals[0]))["status"] == "succeeded"
    problem = await refused(firm.admin, "POST", path_of(firm, approvals[1], "approve"), 409)
    assert "has changed since" in problem.detail
    assert (await call(firm.admin, "GET", path))[0]["max_holders"] == 10


async def test_organization_can_require_the_version_for_rules(world: World) -> None:
    firm = await Firm.found(world)
    path = await active_asset(firm)
    await firm.patch("", {"require_if_match": True})
    for headers in ({}, {"if-match": "*"}):
        problem = await refused(firm.admin, "PATCH", path, 428, json={"max_holders": 10}, headers=headers)
        assert (problem.rule, problem.body["resolution"]["method"]) == ("if_match", "GET")
    renaming, _ = await call(firm.admin, "PATCH", path, json={"name": "Renamed"})
    await firm.settle(renaming["requestId"])
    _, read = await call(firm.admin, "GET", path)
    await call(firm.admin, "PATCH", path, read, json={"max_holders": 10})
    await firm.refused("PATCH", "", 422, json={"require_if_match": None})


async def test_if_match_is_refused_where_it_cannot_be_compared(world: World) -> None:
    firm = await Firm.found(world)
    for header in ("abc", '"open', '"a" "b"', ""):
        with pytest.raises(BadRequest):
            versions.tags_of(header)
    headers = {"if-match": "*"}
    await firm.refused("POST", "/wallets", 400, json={"label": "Treasury"}, headers=headers)
    await refused(firm.admin, "PATCH", f"{firm.base}/wallets/none", 404, json={}, headers=headers)


async def test_every_change_of_a_record_takes_a_version(world: World) -> None:
    document = orjson.loads((Path(__file__).parents[2] / "backend" / "openapi.json").read_bytes())
    taking = {
        f"{method} {path}"
        for path, item in document["paths"].items()
        for method, entry in item.items()
        if any("IfMatch" in p.get("$ref", "") for p in entry.get("parameters", []))
    }
    changing = {
        f"{method} {path}"
        for path, item in document["paths"].items()
        for method in item
        if method in ("patch", "put", "delete") and not any(own in path for own in OWN)
    }
    assert changing <= taking
    firm = await Firm.found(world)
    async with db.step(firm.id) as session:
        for name, record in versions.NAMED.items():
            assert await versions.current(session, record, uuid4(), lock=True) is None, name
