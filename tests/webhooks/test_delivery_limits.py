"""Above a day's limit of stored deliveries, endpoints are disabled; changes are never refused."""

import asyncio
from uuid import UUID

import pytest
import sqlalchemy as sa
from dbos import DBOS
from limits import RateLimitItemPerDay

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish
from backend.limits import rate_limits
from backend.webhooks import delivery_limits, events
from tests.conftest import World
from tests.factors.steps import problem_of
from tests.support.runs import result_of
from tests.webhooks.conftest import Endpoint
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_disabled import mails_about
from tests.webhooks.test_events import ASSET, change, written


@pytest.fixture
def limit_of_two(monkeypatch: pytest.MonkeyPatch, limits: None) -> None:
    """At most two deliveries a day below one root; a person's limit is higher."""
    monkeypatch.setattr(rate_limits, "DELIVERIES_BELOW", RateLimitItemPerDay(2))


@pytest.fixture
def two_of_a_person(monkeypatch: pytest.MonkeyPatch, limits: None) -> None:
    """At most two deliveries a day for the endpoints of one person."""
    monkeypatch.setattr(rate_limits, "DELIVERIES_OF_PERSON", RateLimitItemPerDay(2))


async def disabled() -> int:
    """Wait for every run that disables endpoints; return their number."""
    runs = await DBOS.list_workflows_async(name=delivery_limits.DISABLE)
    for run in runs:
        await result_of(run.workflow_id)
    return len(runs)


async def state_of(end: Endpoint) -> tuple[str, str | None]:
    """Return the status of an endpoint, and why it is disabled."""
    shown = await end.get()
    return shown["status"], shown["disabled_reason"]


async def test_endpoint_above_the_limit_is_disabled_and_keeps_what_was_stored(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    end = await Endpoint.made(world, receiver.url)
    for count in (1, 2):
        await change(end.organization)
        await receiver.came(count)  # what still waits is not sent once the endpoint is disabled
    await change(end.organization)
    before = await disabled()
    assert await state_of(end) == ("disabled", "too_many_events")
    for _ in range(3):
        await change(end.organization)
    assert await written(end) == [2]
    assert await disabled() == before, "no further runs"
    [(recipient, _, text)] = await mails_about(end.organization)
    assert recipient == end.admin.email
    assert "2 deliveries" in text


async def test_endpoint_enabled_again_below_the_limit_receives_events(
    world: World, receiver: Receiver, limit_of_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    for count in (1, 2):
        await change(end.organization)
        await receiver.came(count)
    await change(end.organization)
    await disabled()
    monkeypatch.setattr(rate_limits, "DELIVERIES_BELOW", RateLimitItemPerDay(3))
    await end.patch(status="enabled")
    await change(end.organization)
    await receiver.came(3)
    assert await state_of(end) == ("enabled", None)


async def test_change_whose_event_reaches_the_limit_above_it_disables_each_endpoint(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    group = await world.organization("Group")
    fund = await world.organization("Fund", group)
    ends = [await Endpoint.made(world, receiver.url, group, include_descendants=True) for _ in range(2)]
    own = await Endpoint.made(world, receiver.url, fund)
    await change(fund)
    await disabled()
    assert [await state_of(end) for end in (*ends, own)] == [("disabled", "too_many_events")] * 3
    assert await written(*ends, own) == [0, 0, 0]
    assert len(await mails_about(group)) == 2, "one for each admin, for both endpoints"


async def test_rolled_back_change_above_the_limit_disables_no_endpoint(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    end = await Endpoint.made(world, receiver.url)
    before = await disabled()

    async def undone() -> None:
        async with db.transaction(end.organization) as session:
            for _ in range(3):
                await publish(session, end.organization, "asset.created", ("asset", ASSET))
            raise RuntimeError("undone")

    with pytest.raises(RuntimeError, match="undone"):
        await undone()
    assert await disabled() == before
    assert await state_of(end) == ("enabled", None)


async def test_change_above_the_limit_waits_for_no_lock_on_an_endpoint(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    end = await Endpoint.made(world, receiver.url)
    async with db.worker() as holder:
        await holder.execute(sa.text("select from webhook_endpoints where id = :id for no key update"), {"id": end.id})
        async with asyncio.timeout(5):
            for _ in range(3):
                await change(end.organization)
    await disabled()
    assert await state_of(end) == ("disabled", "too_many_events")


async def test_endpoints_of_a_person_in_several_roots_share_a_limit(
    world: World, receiver: Receiver, two_of_a_person: None
) -> None:
    first = await Endpoint.made(world, receiver.url)
    made = await first.admin.call("POST", "/orgs", json={"name": "Second"})
    path = f"/orgs/{made['id']}/webhooks"
    hook = await first.admin.call("POST", path, json={"url": receiver.url, "event_types": ["asset.created"]})
    second = Endpoint(UUID(made["id"]), first.admin, hook)
    other = await Endpoint.made(world, receiver.url, second.organization)
    for _ in range(2):
        await change(first.organization)
    await change(second.organization)
    await disabled()
    assert await written(first, second, other) == [2, 0, 1]
    assert await state_of(second) == ("disabled", "too_many_events")
    assert await state_of(other) == ("enabled", None), "another person's"


async def test_events_of_one_root_leave_half_of_the_limit_of_a_person() -> None:
    assert rate_limits.DELIVERIES_OF_PERSON.amount >= 2 * rate_limits.DELIVERIES_BELOW.amount


async def test_log_of_a_disabled_endpoint_does_not_grow_above_the_limit(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.patch(status="disabled")
    for _ in range(4):
        await change(end.organization)
    await disabled()
    assert await written(end) == [2]
    assert await state_of(end) == ("disabled", "too_many_events"), "its log is not complete"


async def test_endpoint_whose_maker_has_ended_keeps_that_reason_above_the_limit(
    world: World, receiver: Receiver, limit_of_two: None
) -> None:
    end = await Endpoint.made(world, receiver.url)
    body = {"name": "Maker", "scopes": [Scope.ORGS_READ, Scope.ORGS_WRITE]}
    key = await end.admin.call("POST", f"/orgs/{end.organization}/api-keys", json=body)
    headers = {"Authorization": f"Bearer {key['key']}"}
    hook = await world.client.call(
        "POST", f"/orgs/{end.organization}/webhooks", json={"url": receiver.url}, headers=headers
    )
    await end.admin.call("DELETE", f"/orgs/{end.organization}/api-keys/{key['id']}")
    for _ in range(2):
        await change(end.organization)
    await disabled()
    made = Endpoint(end.organization, end.admin, hook)
    assert await state_of(made) == ("disabled", "maker_ended")


async def test_test_event_above_the_limit_is_refused(world: World, receiver: Receiver, limit_of_two: None) -> None:
    end = await Endpoint.made(world, receiver.url)
    for _ in range(2):
        await end.post("/test")
    problem = await problem_of(end.post("/test"))
    assert (problem.status, "2 deliveries" in problem.detail) == (429, True)
    assert await written(end) == [2]
    await change(end.organization)
    await disabled()
    assert await state_of(end) == ("disabled", "too_many_events"), "test events count"


async def test_event_without_an_engine_is_stored(
    world: World, receiver: Receiver, limit_of_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that only writes rows cannot queue the run that disables the endpoint."""
    end = await Endpoint.made(world, receiver.url)
    monkeypatch.setattr(events.engine, "is_running", lambda: False)
    for _ in range(3):
        await change(end.organization)
    assert await written(end) == [3]
