"""From an invitation to a membership."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id
from backend.core.settings import settings
from backend.invitations import rules, service
from backend.members.appointments import Appointment
from backend.models import InvitationRow, OutboxRow
from backend.users.schemas import Role
from tests.conftest import Actor, World

PASSWORD = "a long new password"


async def status_of(call: Awaitable[Any]) -> int:
    try:
        await call
    except ApiProblem as problem:
        return problem.status
    return 200


async def invited(
    world: World, admin: Actor, org: UUID, email: str, role: str = "viewer"
) -> tuple[dict[str, Any], str]:
    made = await admin.call("POST", f"/orgs/{org}/invitations", json={"email": email, "role": role})
    return made, await token_of(world, org)


async def token_of(world: World, org: UUID) -> str:
    found = rules.token_in(await world.letter(org))
    assert found is not None
    return found


def accept(world: World, token: str, **body: Any) -> Awaitable[Any]:
    new = {"display_name": "New Person", "password": PASSWORD}
    return world.client.call("POST", "/invitations/accept", json={"token": token, **(body or new)})


async def age(invitation: str) -> None:
    async with db.worker() as session:
        row = await session.get_one(InvitationRow, UUID(invitation))
        row.expires_at -= timedelta(days=8)


async def test_list_has_the_state_of_each_email(world: World) -> None:
    acme = await world.organization("Acme")
    admin = await world.person(acme)
    made, _ = await invited(world, admin, acme, f"{new_id().hex}@example.com")
    other, _ = await invited(world, admin, acme, f"{new_id().hex}@example.com")
    async with db.worker() as session:
        digest = (await session.get_one(InvitationRow, UUID(other["id"]))).token_hash
        await session.execute(sa.update(OutboxRow).where(col(OutboxRow.opens) == digest).values(status="failed"))
    listed = await admin.call("GET", f"/orgs/{acme}/invitations")
    assert {one["id"]: one["delivery"] for one in listed["invitations"]} == {made["id"]: "kept", other["id"]: "failed"}
    assert (await admin.call("GET", f"/orgs/{acme}/invitations/{other['id']}"))["delivery"] == "failed"
    async with db.worker() as session:
        await session.execute(sa.delete(OutboxRow).where(col(OutboxRow.opens) == digest))
    assert (await admin.call("GET", f"/orgs/{acme}/invitations/{other['id']}"))["delivery"] is None


async def test_new_person_creates_an_account_and_joins(world: World) -> None:
    acme = await world.organization("Acme")
    admin = await world.person(acme)
    email = f"New.{new_id().hex}@Example.com"
    made, token = await invited(world, admin, acme, email, "compliance_officer")
    assert (made["email"], made["status"], made["invited_by"]) == (email.lower(), "pending", str(admin.user_id))
    assert "token" not in str(made)
    joined = await accept(world, token)
    assert (joined["organization_id"], joined["organization_name"], joined["role"]) == (
        str(acme),
        "Acme",
        "compliance_officer",
    )
    cookie = await world.sign_in(email, PASSWORD)
    assert (await world.client.call("GET", f"/orgs/{acme}/members", cookie=cookie))["members"]
    listed = (await admin.call("GET", f"/orgs/{acme}/invitations"))["invitations"]
    assert [i["status"] for i in listed] == ["accepted"]
    assert await status_of(accept(world, token)) == 409


@pytest.mark.parametrize(("server", "delivery"), [(None, "kept"), ("smtp://mail.example", "queued")])
async def test_new_invitation_says_whether_its_email_is_sent(
    world: World, monkeypatch: pytest.MonkeyPatch, server: str | None, delivery: str
) -> None:
    monkeypatch.setattr(settings(), "smtp_url", server)
    acme = await world.organization("Acme")
    made, _ = await invited(world, await world.person(acme), acme, f"{new_id().hex}@example.com")
    assert made["delivery"] == delivery
    async with db.worker() as session:
        query = sa.select(col(OutboxRow.status)).where(col(OutboxRow.organization_id) == acme)
        assert (await session.scalars(query)).all() == [delivery]


async def test_signed_in_person_joins(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    known = await world.person(await world.organization())
    _, token = await invited(world, admin, acme, known.email.upper())
    assert await status_of(accept(world, token)) == 409
    stranger = await world.person(await world.organization())
    body = {"token": token}
    assert await status_of(stranger.call("POST", "/invitations/accept", json=body)) == 403
    assert (await known.call("POST", "/invitations/accept", json=body))["user_id"] == str(known.user_id)
    assert await status_of(known.call("GET", f"/orgs/{acme}/members")) == 200


async def test_invitation_token_used_concurrently_works_once(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    _, token = await invited(world, admin, acme, f"{new_id().hex}@example.com")
    answers = await asyncio.gather(*(status_of(accept(world, token)) for _ in range(4)))
    assert sorted(answers) == [200, 409, 409, 409]
    assert len((await admin.call("GET", f"/orgs/{acme}/members"))["members"]) == 2


async def test_invalid_credentials_are_rejected_but_an_expired_cookie_is_ignored(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    _, token = await invited(world, admin, acme, f"{new_id().hex}@example.com")
    body = {"token": token, "display_name": "N", "password": PASSWORD}
    assert await status_of(world.client.call("POST", "/invitations/accept", json=body, token="sgn_wrong")) == 401
    key = await world.key(acme)
    assert await status_of(world.client.call("POST", "/invitations/accept", json=body, headers=key)) == 403
    await world.client.call("POST", "/invitations/accept", json=body, cookie="signum_session=over")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"display_name": "N"}, 422),
        ({"password": PASSWORD}, 422),
        ({"display_name": "N", "password": "short"}, 400),
        ({"display_name": "<img src=x>", "password": PASSWORD}, 422),
        ({"display_name": "N", "password": PASSWORD, "role": "admin"}, 422),
    ],
)
async def test_acceptance_with_missing_data_leaves_the_invitation_open(
    world: World, body: dict[str, Any], status: int
) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    _, token = await invited(world, admin, acme, f"{new_id().hex}@example.com")
    assert await status_of(accept(world, token, **body)) == status
    assert await status_of(accept(world, token)) == 200


async def test_unknown_token_is_a_404(world: World) -> None:
    assert await status_of(accept(world, "unknown")) == 404


async def test_invitation_to_an_address_with_a_pending_one_is_rejected(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    path = f"/orgs/{acme}/invitations"
    made, _ = await invited(world, admin, acme, "twice@example.com")
    assert await status_of(admin.call("POST", path, json={"email": "TWICE@example.com"})) == 409
    assert await status_of(admin.call("POST", path, json={"email": admin.email})) == 409
    answer = await admin.call("DELETE", f"{path}/{made['id']}")
    assert list(answer) == ["message"]
    again, _ = await invited(world, admin, acme, "twice@example.com")
    await age(again["id"])
    assert await status_of(admin.call("POST", path, json={"email": "twice@example.com"})) == 200
    calls = [status_of(admin.call("POST", path, json={"email": "race@example.com"})) for _ in range(4)]
    assert sorted(await asyncio.gather(*calls)) == [200, 409, 409, 409]


async def test_invitation_is_revoked_or_accepted_only_while_pending(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    path = f"/orgs/{acme}/invitations"
    revoked, first = await invited(world, admin, acme, "r@example.com")
    await admin.call("DELETE", f"{path}/{revoked['id']}")
    expired, second = await invited(world, admin, acme, "e@example.com")
    await age(expired["id"])
    for invitation, token in ((revoked, first), (expired, second)):
        assert await status_of(admin.call("DELETE", f"{path}/{invitation['id']}")) == 400
        assert await status_of(accept(world, token)) == 409
    assert await status_of(admin.call("DELETE", f"{path}/{new_id()}")) == 404
    assert await status_of(admin.call("DELETE", f"{path}/nonsense")) == 404
    listed = (await admin.call("GET", path))["invitations"]
    assert [(i["email"], i["status"]) for i in listed] == [("e@example.com", "expired"), ("r@example.com", "revoked")]
    assert (await admin.call("GET", path, params={"status": "pending"}))["invitations"] == []


async def test_invitation_link_is_not_readable_through_the_api(world: World) -> None:
    """The link allows joining as the invited person, so an admin sees only that an email was written."""
    await world.operator()
    acme = await world.organization()
    admin = await world.person(acme)
    made, token = await invited(world, admin, acme, f"{new_id().hex}@example.com", "admin")
    everything = await world.key(acme)
    for options in ({"cookie": admin.cookie}, {"headers": everything}):
        response = await world.client.call("GET", f"/orgs/{acme}/outbox", **options)
        assert [(m["recipient"], m["body"], m["is_private"]) for m in response["mails"]] == [
            (made["email"], None, True)
        ]
    assert "token=" not in str(await admin.call("GET", f"/orgs/{acme}/audit"))
    assert (await accept(world, token))["role"] == "admin", "the operator has passed it on"


async def test_invitation_on_an_embedded_installation_is_readable_by_the_operator_alone(world: World) -> None:
    root = await world.operator()
    admin, email = await world.person(root), f"{new_id().hex}@example.com"
    await admin.call("POST", f"/orgs/{root}/invitations", json={"email": email})

    async def text(**options: Any) -> str | None:
        mails = (await world.client.call("GET", f"/orgs/{root}/outbox", **options))["mails"]
        body: str | None = mails[0]["body"]
        return body

    assert await text(headers=await world.key(root, created_by=admin.user_id)) is None
    assert await text(headers=await world.key(root), cookie=admin.cookie) is None
    token = rules.token_in(await text(cookie=admin.cookie) or "")
    assert token is not None
    assert (await accept(world, token))["email"] == email
    assert await text(cookie=admin.cookie) == "", "the link works once"
    await world.client.call("POST", "/auth/password/forgot", json={"email": email})
    assert await text(cookie=admin.cookie) is None, "a password reset opens an account"


@pytest.mark.parametrize(
    ("lifetime", "words"),
    [
        (timedelta(days=7), "expires in 7 days."),
        (timedelta(days=1, hours=5), "expires in 1 day."),
        (timedelta(hours=5), "expires in less than a day."),
        (timedelta(days=-1), "expires in less than a day."),
    ],
)
def test_invitation_says_how_long_its_link_works(lifetime: timedelta, words: str) -> None:
    assert f"works once and {words}" in rules.letter("Acme", "a client", "https://acme.example", lifetime)[1]


async def test_admin_invitation_requires_an_admin(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.MEMBERS_WRITE)
    path = f"/orgs/{acme}/invitations"
    body = {"email": "boss@example.com", "role": "admin"}
    assert await status_of(world.client.call("POST", path, json=body, headers=key)) == 403
    viewer = await world.person(acme, Role.VIEWER)
    assert await status_of(viewer.call("POST", path, json={"email": "x@example.com"})) == 403
    assert await status_of(viewer.call("GET", f"/orgs/{acme}/outbox")) == 403


@pytest.mark.parametrize("email", ["nope", "<script>@example.com", "a@b", "a@example.com\nBcc: x@example.com", None])
async def test_invitation_to_a_malformed_address_is_a_422(world: World, email: str | None) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    assert await status_of(admin.call("POST", f"/orgs/{acme}/invitations", json={"email": email})) == 422
    assert (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"] == []


async def test_demo_invitation_is_written_and_found(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    async with db.transaction(acme) as session:
        assert not await service.exists(session, acme, "Late@example.com")
        await service.write(session, acme, "late@example.com", Role.CLIENT, by=Appointment(None), lifetime=timedelta(0))
        assert await service.exists(session, acme, "Late@example.com")
    listed = (await admin.call("GET", f"/orgs/{acme}/invitations"))["invitations"]
    assert [i["status"] for i in listed] == ["expired"]


def preview(world: World, token: str) -> Awaitable[Any]:
    return world.client.call("POST", "/invitations/preview", json={"token": token})


async def test_invitation_preview_shows_its_terms_to_the_link_holder(world: World) -> None:
    acme = await world.organization("Acme")
    admin = await world.person(acme)
    email = f"seen.{new_id().hex}@example.com"
    made, token = await invited(world, admin, acme, email, "member")
    response = await preview(world, token)
    assert response == {
        "organization_id": str(acme), "organization_name": "Acme", "email": email, "role": "member",
        "status": "pending", "has_account": False, "expires_at": made["expires_at"],
    }  # fmt: skip
    await age(made["id"])
    assert (await preview(world, token))["status"] == "expired"


async def test_invitation_preview_changes_nothing_and_recognizes_accounts(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, guest = await world.person(acme), await world.person(other)
    _, token = await invited(world, admin, acme, guest.email)
    assert (await preview(world, token))["has_account"]
    await guest.call("POST", "/invitations/accept", json={"token": token})
    assert (await preview(world, token))["status"] == "accepted"


@pytest.mark.parametrize("token", ["nothing", "", "x" * 300, None])
async def test_invitation_preview_of_an_unknown_link_reveals_nothing(world: World, token: Any) -> None:
    assert await status_of(preview(world, token)) in (404, 422)


async def test_invitation_mails_to_a_stranger_are_limited_to_three_a_day(world: World, limits: None) -> None:
    acme = await world.organization()
    admin, stranger = await world.person(acme), f"s{new_id().hex}@example.com"
    for _ in range(3):
        made, _ = await invited(world, admin, acme, stranger)
        await admin.call("DELETE", f"/orgs/{acme}/invitations/{made['id']}")
    with pytest.raises(ApiProblem) as refused:
        await invited(world, admin, acme, stranger)
    assert refused.value.status == 429
    assert refused.value.retry_after
    assert await status_of(invited(world, admin, acme, f"t{new_id().hex}@example.com")) == 200


async def test_organization_name_creates_no_link_in_a_mail(world: World) -> None:
    acme = await world.organization("Win at https://evil.example/prize now.")
    admin = await world.person(acme)
    made, token = await invited(world, admin, acme, f"s{new_id().hex}@example.com")
    async with db.worker() as session:
        query = sa.select(OutboxRow).where(OutboxRow.recipient == made["email"])
        mail = (await session.scalars(query)).one()
    for text in (mail.subject, mail.body):
        assert "evil.example" not in text
        assert "https://evil" not in text
        assert "Win at https://evil.example/prize now." in text.replace("\u2060", "")
    assert f"{settings().origin}/invitation?token={token}" in mail.body
