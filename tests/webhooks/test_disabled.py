"""Who is notified when an endpoint was disabled automatically."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.settings import settings
from backend.mail import rules
from backend.models import MemberRow, OutboxRow
from backend.users.schemas import Role
from tests.conftest import World
from tests.webhooks.conftest import Clock, Endpoint, Queued, attempt
from tests.webhooks.receiver import Receiver


async def mails_about(organization: UUID) -> list[tuple[str, str, str]]:
    """Return recipient, subject and text of an organization's emails."""
    async with db.worker() as session:
        query = sa.select(OutboxRow).where(OutboxRow.organization_id == organization)
        rows = await session.scalars(query.order_by(OutboxRow.recipient))
        return [(row.recipient, row.subject, row.body) for row in rows]


async def test_admins_are_mailed_when_their_endpoint_is_disabled(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, f"{receiver.url}&token=s3cret")
    admins = [await world.person(end.organization) for _ in range(2)]
    await world.person(end.organization, Role.VIEWER)
    asked = await world.person(await world.organization("Elsewhere"))
    body = {"user_id": str(asked.user_id), "role": "admin"}
    await end.admin.call("POST", f"/orgs/{end.organization}/members", json=body)
    known = {end.admin.email, *(a.email for a in admins)}
    receiver.status = 500
    delivery = await end.post("/test")
    for _ in range(10):
        clock.at += timedelta(hours=8)
        await attempt(end, delivery["id"])
    mails = await mails_about(end.organization)
    assert {recipient for recipient, _, _ in mails} == known, "and no admin who has not accepted the role"
    assert len(mails) == len(known), "one each, independent of the waiting deliveries"
    for _, subject, text in mails:
        assert subject == "A webhook endpoint of Acme was disabled"
        assert f"{settings().origin}/o/{end.organization}/webhooks/{end.id}" in text
        assert "500" in text
        assert "s3cret" not in text, "an address may carry a secret"


async def test_nearest_admins_above_are_mailed_when_the_organization_has_no_admin(
    world: World, receiver: Receiver
) -> None:
    top = await world.organization("Top")
    middle = await world.organization("Middle", top)
    low = await world.organization("Low", middle)
    far, near = await world.person(top), await world.person(middle)
    end = await Endpoint.made(world, receiver.url, low)
    async with db.worker() as session:
        own = sa.update(MemberRow).where(col(MemberRow.user_id) == end.admin.user_id)
        await session.execute(own.values(role=Role.VIEWER))
    receiver.status = 410
    end.admin = near
    await end.settled((await end.post("/test"))["id"])
    [(recipient, _, text)] = await mails_about(low)
    assert recipient == near.email, f"not {far.email}"
    assert "410" in text


async def test_endpoint_disabled_in_a_loop_sends_a_limited_number_of_mails(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_OF_TOPIC", 2)
    end = await Endpoint.made(world, receiver.url)
    receiver.status = 410
    for _ in range(3):
        await end.settled((await end.post("/test"))["id"])
        await end.patch(status="enabled")
    assert len(await mails_about(end.organization)) == 2


async def test_endpoint_disabled_by_a_person_sends_no_mail(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.patch(status="disabled")
    assert await mails_about(end.organization) == []
