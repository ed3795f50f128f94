"""Endpoints: created, shown, changed, deleted; and refused URLs."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.db import new_id
from backend.core.encryption import SECRETS, CannotUnseal
from backend.core.settings import settings
from backend.server import runtime
from backend.users.schemas import Role
from backend.webhooks import egress
from backend.webhooks.models import EndpointRow
from backend.webhooks.schemas import EventType
from tests.conftest import World
from tests.support.firm import refused
from tests.webhooks.conftest import Endpoint

URL = "https://hooks.example.com/signum"
OTHER_URL = "https://other.example.com/signum"


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Name resolution under the test's control."""
    known = {"hooks.example.com": ["93.184.215.14", "2606:4700::1111"]}

    def look_up(host: str, port: int) -> list[str]:
        if host not in known:
            raise OSError("unknown")
        return known[host]

    monkeypatch.setattr(egress, "_look_up", look_up)
    return known


async def test_endpoint_secret_is_shown_once(world: World) -> None:
    end = await Endpoint.made(world, URL, event_types=["asset.created", "asset.updated"], description="Ledger")
    made = dict(end.record)
    assert made.pop("secret").startswith("whsec_")
    assert made == {
        "id": end.id,
        "organization_id": str(end.organization),
        "url": URL,
        "event_types": ["asset.created", "asset.updated"],
        "description": "Ledger",
        "include_descendants": False,
        "status": "enabled",
        "disabled_reason": None,
        "disabled_at": None,
        "disabled_by_name": None,
        "parent_id": None,
        "client_id": None,
        "api_version": "v1",
        "last_success_at": None,
        "last_failure_at": None,
        "old_secrets_until": None,
        "created_at": made["created_at"],
        "updated_at": made["updated_at"],
    }
    assert await end.get() == made
    listed = await end.admin.call("GET", f"/orgs/{end.organization}/webhooks")
    assert listed == {"webhooks": [made], "nextCursor": None}
    disabled = await end.admin.call("GET", f"/orgs/{end.organization}/webhooks", params={"status": "disabled"})
    assert disabled["webhooks"] == []


async def test_endpoint_secret_is_encrypted_at_rest(world: World) -> None:
    end, other = await Endpoint.made(world, URL), await Endpoint.made(world, URL)
    async with db.worker() as session:
        row = await session.get_one(EndpointRow, UUID(end.id))
    assert end.secret not in row.secret
    assert SECRETS.unseal_text(row.secret, end.id) == end.secret
    with pytest.raises(CannotUnseal):
        SECRETS.unseal_text(row.secret, other.id)


async def test_replayed_endpoint_creation_omits_the_secret_and_creates_nothing(world: World, api: Any) -> None:
    acme = await world.organization()
    headers = await world.key(acme) | {"idempotency-key": "once"}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url="http://localhost") as http:
        path = f"/v1/orgs/{acme}/webhooks"
        first, second = [await http.post(path, json={"url": URL}, headers=headers) for _ in range(2)]
        listed = (await http.get(path, headers=headers)).json()["webhooks"]
    assert (first.status_code, first.headers["cache-control"]) == (201, "no-store")
    assert (first.json() | {"secret": None}) == second.json()
    assert len(listed) == 1


async def test_endpoint_is_changed_disabled_and_deleted(world: World) -> None:
    end = await Endpoint.made(world, URL, description="Ledger")
    changed = await end.patch(event_types=["wallet.created"], description=None, url=URL + "/2")
    assert (changed["event_types"], changed["description"], changed["url"]) == (["wallet.created"], None, URL + "/2")
    off = await end.patch(status="disabled")
    assert (off["status"], off["disabled_reason"]) == ("disabled", "manual")
    assert off["disabled_at"] is not None
    name = (await end.admin.call("GET", "/auth/me"))["user"]["display_name"]
    assert off["disabled_by_name"] == name
    assert (await end.admin.call("GET", end.path))["disabled_by_name"] == name
    listed = (await end.admin.call("GET", end.path.rpartition("/")[0]))["webhooks"]
    assert [one["disabled_by_name"] for one in listed] == [name]
    for path, body in (("/test", None), ("/recover", {"since": "2026-01-01T00:00:00Z"})):
        assert (await refused(end.admin, "POST", end.path + path, 409, json=body)).detail.startswith("The endpoint is")
    on = await end.patch(status="enabled")
    assert (on["status"], on["disabled_reason"], on["disabled_at"]) == ("enabled", None, None)
    assert on["disabled_by_name"] is None
    assert await end.admin.call("DELETE", end.path) is None
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")):
        body = {"description": "Gone"} if method == "PATCH" else None
        await refused(end.admin, method, end.path + path, 404, json=body)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"url": "hooks.example.com"}, 422),
        ({"url": "ftp://hooks.example.com/"}, 422),
        ({"url": "https://user:pass@hooks.example.com/"}, 422),
        ({"url": "https://hooks.example.com@10.0.0.1/"}, 422),
        ({"url": "https://hooks.example.com\\@10.0.0.1/"}, 422),
        ({"url": "https://hooks.example.com/#part"}, 422),
        ({"url": "https://hooks.example.com:99999/"}, 422),
        ({"url": "https://hooks.example.com/a b"}, 422),
        ({"url": "https://hooks.exämple.com/"}, 422),
        ({"url": "https:///path"}, 422),
        ({"url": "https://[::1/"}, 422),
        ({"url": "https://hooks.example.com/" + "a" * 2000}, 422),
        ({"url": URL, "event_types": []}, 422),
        ({"url": URL, "event_types": ["asset.exploded"]}, 422),
        ({"url": URL, "event_types": ["asset.created", "asset.created"]}, 422),
        ({"url": URL, "event_types": ["*", "asset.created"]}, 422),
        ({"url": URL, "secret": "whsec_mine"}, 422),
        ({"url": URL, "description": "<script>"}, 422),
        ({"url": "http://hooks.example.com/"}, 400),
        ({"url": "https://hooks.example.com:22/"}, 400),
        ({"url": "https://192.168.1.1/"}, 400),
        ({"url": "https://169.254.169.254/"}, 400),
        ({"url": "https://[::ffff:127.0.0.1]/"}, 400),
        ({"url": "http://localhost:22/"}, 400),
        ({"url": "https://internal.example.com/"}, 400),
        ({"url": "https://half.example.com/"}, 400),
        ({"url": "https://mine.example.com/"}, 400),
    ],
)
async def test_invalid_endpoint_is_rejected_with_a_reason(
    world: World, names: dict[str, list[str]], body: dict[str, Any], status: int
) -> None:
    names |= {
        "internal.example.com": ["10.0.0.7"],
        "half.example.com": ["93.184.215.14", "::ffff:10.0.0.7"],
        "mine.example.com": ["127.0.0.1"],
    }
    acme = await world.organization()
    admin = await world.person(acme)
    problem = await refused(admin, "POST", f"/orgs/{acme}/webhooks", status, json=body)
    assert problem.errors
    assert "10.0.0.7" not in str(problem.errors)
    assert (await admin.call("GET", f"/orgs/{acme}/webhooks"))["webhooks"] == []


async def test_endpoint_change_is_validated_like_a_creation(world: World) -> None:
    end = await Endpoint.made(world, URL)
    for body, status in (
        ({"url": "https://10.0.0.1/"}, 400),
        ({"url": None}, 422),
        ({"status": None}, 422),
        ({"status": "gone"}, 422),
        ({"event_types": None}, 422),
    ):
        await refused(end.admin, "PATCH", end.path, status, json=body)
    assert await end.get() == {k: v for k, v in end.record.items() if k != "secret"}


async def test_unresolvable_host_name_is_accepted(world: World) -> None:
    end = await Endpoint.made(world, "https://not-yet.example.com/hooks")
    assert end.record["status"] == "enabled"


async def test_loopback_endpoint_requires_the_installation_setting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Endpoint.made(world, "http://127.0.0.1:9000/hooks")
    acme = await world.organization()
    admin = await world.person(acme)
    reached_by_others = (("webhook_loopback", False), ("host", "0.0.0.0"), ("public_url", "http://signum.example"))
    for name, value in reached_by_others:
        with monkeypatch.context() as patch:
            patch.setattr(settings(), name, value)
            body = {"url": "http://127.0.0.1:9000/"}
            problem = await refused(admin, "POST", f"/orgs/{acme}/webhooks", 400, json=body)
            assert "this machine" in problem.detail


async def test_organization_has_at_most_twenty_endpoints(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)

    async def make() -> int:
        try:
            await admin.call("POST", f"/orgs/{acme}/webhooks", json={"url": URL})
        except Exception as problem:
            return int(getattr(problem, "status", 0))
        return 201

    answers = await asyncio.gather(*(make() for _ in range(23)))
    assert sorted(answers) == [201] * 20 + [409] * 3


async def test_endpoint_operations_enforce_roles(world: World) -> None:
    end = await Endpoint.made(world, URL)
    officer = await world.person(end.organization, Role.COMPLIANCE_OFFICER)
    assert (await officer.call("GET", end.path))["id"] == end.id
    await refused(officer, "PATCH", end.path, 403, json={"status": "disabled"})
    await refused(officer, "POST", f"{end.path}/rotate-secret", 403)
    stranger = await world.person(await world.organization())
    await refused(stranger, "GET", end.path, 403)
    own = f"/orgs/{(await world.organization())}/webhooks/{end.id}"
    other = await world.person(UUID(own.split("/")[2]))
    await refused(other, "GET", own, 404)
    await refused(end.admin, "POST", f"{end.path}/deliveries/{new_id()}/replay", 404)


async def test_events_of_descendants_require_a_person(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_WRITE, Scope.ORGS_READ)
    path = f"/orgs/{acme}/webhooks"
    wide = {"url": URL, "include_descendants": True}
    with pytest.raises(Exception, match="only for its own organization"):
        await world.client.call("POST", path, json=wide, headers=key)
    made = await world.client.call("POST", path, json={"url": URL}, headers=key)
    with pytest.raises(Exception, match="only for its own organization"):
        await world.client.call("PATCH", f"{path}/{made['id']}", json={"include_descendants": True}, headers=key)
    end = await Endpoint.made(world, URL, acme, include_descendants=True)
    assert end.record["include_descendants"] is True
    assert (await world.client.call("PATCH", end.path, json={"description": "x"}, headers=key))["description"] == "x"


async def test_key_that_redirects_an_endpoint_with_descendants_is_refused(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_WRITE, Scope.ORGS_READ)
    end = await Endpoint.made(world, URL, acme, include_descendants=True, event_types=["asset.created"])
    for body in ({"url": OTHER_URL}, {"event_types": ["*"]}, {"url": OTHER_URL, "include_descendants": True}):
        with pytest.raises(Exception, match="only for its own organization"):
            await world.client.call("PATCH", end.path, json=body, headers=key)
    same = await world.client.call("PATCH", end.path, json={"url": URL, "description": "x"}, headers=key)
    assert (same["url"], same["description"]) == (URL, "x")
    narrowed = {"url": OTHER_URL, "include_descendants": False}
    assert (await world.client.call("PATCH", end.path, json=narrowed, headers=key))["url"] == OTHER_URL


async def test_key_that_enables_an_endpoint_with_descendants_is_refused(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_WRITE, Scope.ORGS_READ)
    end = await Endpoint.made(world, URL, acme, include_descendants=True)
    disabled, enabled = {"status": "disabled"}, {"status": "enabled"}
    assert (await world.client.call("PATCH", end.path, json=enabled, headers=key))["status"] == "enabled"
    assert (await world.client.call("PATCH", end.path, json=disabled, headers=key))["status"] == "disabled"
    with pytest.raises(Exception, match="only for its own organization"):
        await world.client.call("PATCH", end.path, json=enabled, headers=key)
    assert (await end.admin.call("PATCH", end.path, json=enabled))["status"] == "enabled"


async def test_event_types_are_public(world: World) -> None:
    listed = (await world.client.call("GET", "/webhooks/event-types"))["event_types"]
    assert [entry["type"] for entry in listed] == [str(t) for t in EventType]
    assert all(entry["description"] and entry["type"].startswith(entry["group"] + ".") for entry in listed)
