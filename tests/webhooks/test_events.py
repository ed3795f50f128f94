"""From changes to deliveries: one transaction, the right endpoints, no data of other tenants."""

from typing import Any
from uuid import UUID

import orjson
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import Change, Who, publish
from backend.core.db import new_id
from backend.webhooks import events
from backend.webhooks.models import DeliveryRow
from tests.conftest import World
from tests.factors.steps import problem_of
from tests.webhooks.conftest import Endpoint
from tests.webhooks.receiver import Receiver

ASSET = new_id()


async def change(organization: UUID, action: str = "asset.created", **after: Any) -> None:
    """Record a change, in a separate transaction."""
    async with db.transaction(organization) as session:
        await publish(session, organization, action, ("asset", ASSET), None, after)


async def written(*endpoints: Endpoint) -> list[int]:
    """Return how many deliveries each endpoint has."""
    return [len(await end.deliveries()) for end in endpoints]


async def test_event_is_sent_to_subscribed_endpoints(world: World, receiver: Receiver) -> None:
    acme = await world.organization()
    every = await Endpoint.made(world, receiver.url, acme)
    assets = await Endpoint.made(world, receiver.url, acme, event_types=["asset.created"])
    wallets = await Endpoint.made(world, receiver.url, acme, event_types=["wallet.created"])
    await change(acme, status="active")
    first, second = await receiver.came(2)
    assert first.event == second.event
    assert orjson.loads(first.body)["data"] == {
        "object": "asset",
        "id": str(ASSET),
        "organization_id": str(acme),
        "status": "active",
    }
    await change(acme, "asset.exploded")
    assert await written(every, assets, wallets) == [1, 1, 0]


async def test_rolled_back_change_leaves_no_event(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)

    async def undone() -> None:
        async with db.transaction(end.organization) as session:
            await publish(session, end.organization, "asset.created", ("asset", ASSET))
            assert await session.scalar(sa.select(sa.func.count()).select_from(DeliveryRow)) == 1
            raise RuntimeError("undone")

    with pytest.raises(RuntimeError, match="undone"):
        await undone()
    assert await written(end) == [0]
    async with db.worker() as session:
        text = "select count(*) from dbos.workflow_status where queue_partition_key = :id"
        assert await session.scalar(sa.text(text), {"id": end.id}) == 0
    assert receiver.received == []


async def test_event_reaches_ancestor_endpoints_that_include_descendants(world: World, receiver: Receiver) -> None:
    group = await world.organization("Group")
    fund = await world.organization("Fund", group)
    vehicle = await world.organization("Vehicle", fund)
    sister = await world.organization("Sister", group)
    wide = await Endpoint.made(world, receiver.url, group, include_descendants=True)
    narrow = await Endpoint.made(world, receiver.url, group)
    middle = await Endpoint.made(world, receiver.url, fund, include_descendants=True)
    beside = await Endpoint.made(world, receiver.url, sister, include_descendants=True)
    own = await Endpoint.made(world, receiver.url, vehicle)
    await change(vehicle)
    assert await written(wide, narrow, middle, beside, own) == [1, 0, 1, 0, 1]
    await change(group)
    assert await written(wide, narrow, middle, beside, own) == [2, 1, 1, 0, 1]
    answer = (await wide.deliveries())[1]
    assert (answer["organization_id"], answer["payload"]["data"]["organization_id"]) == (str(group), str(vehicle))


async def test_deliveries_of_descendants_are_hidden_from_a_key(world: World, receiver: Receiver) -> None:
    group = await world.organization("Group")
    fund = await world.organization("Fund", group)
    wide = await Endpoint.made(world, receiver.url, group, include_descendants=True)
    key = await world.key(group, Scope.ORGS_READ, Scope.ORGS_WRITE)
    await change(fund)
    await change(group)
    assert await written(wide) == [2]
    own, below = await wide.deliveries()
    path = f"{wide.path}/deliveries"
    seen = (await world.client.call("GET", path, headers=key))["deliveries"]
    assert [d["id"] for d in seen] == [own["id"]]
    replay = world.client.call("POST", f"{path}/{below['id']}/replay", headers=key)
    assert (await problem_of(replay)).status == 404


async def test_endpoint_that_stops_including_descendants_drops_their_unsent_deliveries(
    world: World, receiver: Receiver
) -> None:
    group = await world.organization("Group")
    fund = await world.organization("Fund", group)
    wide = await Endpoint.made(world, receiver.url, group, include_descendants=True)
    key = await world.key(group, Scope.ORGS_READ, Scope.ORGS_WRITE)
    await world.client.call("PATCH", wide.path, json={"status": "disabled"}, headers=key)
    await change(fund)
    await change(group)
    assert await written(wide) == [2]
    await world.client.call("PATCH", wide.path, json={"include_descendants": False}, headers=key)
    left = await wide.deliveries()
    assert [d["payload"]["data"]["organization_id"] for d in left] == [str(group)]


async def test_move_is_one_event_for_the_organization_and_both_parents(world: World, receiver: Receiver) -> None:
    group = await world.organization("Group")
    old, new = await world.organization("Old", group), await world.organization("New", group)
    moved = await world.organization("Moved", new)
    ends = [await Endpoint.made(world, receiver.url, place) for place in (moved, old, new)]
    wide = await Endpoint.made(world, receiver.url, group, include_descendants=True)
    async with db.transaction(moved, old, new) as session:
        for place in (moved, old, new):
            subject, before, after = ("organization", moved), {"parent_id": str(old)}, {"parent_id": str(new)}
            await publish(session, place, "organization.moved", subject, before, after)
    assert await written(*ends, wide) == [1, 1, 1, 1]
    answer = [(await end.deliveries())[0] for end in (*ends, wide)]
    assert len({d["event_id"] for d in answer}) == 1
    assert answer[1]["payload"]["data"] == {
        "object": "organization",
        "id": str(moved),
        "organization_id": str(moved),
        "parent_id": str(new),
        "changed": ["parent_id"],
    }


async def test_repeated_change_of_one_subject_is_two_events(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    async with db.transaction(end.organization) as session:
        for _ in range(2):
            await publish(session, end.organization, "asset.updated", ("asset", ASSET), {}, {})
    first, second = await receiver.came(2)
    assert first.event != second.event


async def test_event_written_by_the_worker_is_sent(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    async with db.worker() as session:
        await publish(session, end.organization, "attestation.expired", ("attestation", new_id()))
    (got,) = await receiver.came()
    assert orjson.loads(got.body)["type"] == "attestation.expired"


async def test_event_of_an_organization_outside_the_scope_is_rejected(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    with pytest.raises(sa.exc.DBAPIError, match="not entered"):
        async with db.transaction(acme) as session:
            await publish(session, other, "asset.created", ("asset", ASSET))


async def test_event_missed_by_a_disabled_endpoint_can_be_replayed(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.patch(status="disabled")
    await change(end.organization)
    (missed,) = await end.deliveries()
    assert (missed["status"], missed["failure"], missed["attempt"]) == ("failed", "The endpoint was disabled", 0)
    assert missed["next_attempt_at"] is None
    assert receiver.received == []
    await end.patch(status="enabled")
    accepted = await end.post("/recover", {"since": missed["created_at"]})
    assert (accepted["status"], accepted["webhookId"]) == ("accepted", end.id)
    (got,) = await receiver.came()
    assert got.event == missed["event_id"]


async def test_delivery_rows_belong_to_the_organization_of_the_endpoint(world: World, receiver: Receiver) -> None:
    group = await world.organization("Group")
    fund = await world.organization("Fund", group)
    await Endpoint.made(world, receiver.url, group, include_descendants=True)
    await change(fund)
    count = sa.select(sa.func.count()).select_from(DeliveryRow)
    async with db.transaction(fund) as session:
        assert await session.scalar(count) == 0
    async with db.transaction(group) as session:
        assert await session.scalar(count.where(col(DeliveryRow.organization_id) == group)) == 1


def test_event_contains_ids_and_status_but_no_personal_data() -> None:
    before = {"status": "updating", "name": "Old", "email": "marta@example.com"}
    after = {
        "status": "active",
        "name": "Marta Lindqvist",
        "email": "marta.lindqvist@example.com",
        "user_id": str(new_id()),
        "external_id": "SWE-19800101-1234",
        "chain_eid": 40161,
        "tx_hash": "0x" + "ab" * 32,
        "wallet_address": "0x" + "ab" * 20,
        "description": None,
    }
    said = events.data_of(Change(new_id(), "asset.updated", ("asset", ASSET), before, after, Who()))
    assert said.keys() == {
        "object", "id", "organization_id", "status", "previous_status", "user_id", "chain_eid", "tx_hash", "changed",
    }  # fmt: skip
    assert (said["previous_status"], said["status"]) == ("updating", "active")
    assert said["changed"] == sorted(after)
    assert "arta" not in str(said)
