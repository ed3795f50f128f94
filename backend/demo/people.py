"""The demo's organizations and people: a founder, a tree, invitations in each state."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.client import SignumClient
from backend.core import db, recorded_time
from backend.demo import cast
from backend.demo.caller import Caller
from backend.demo.secrets_file import Notebook
from backend.invitations import service as invitations
from backend.invitations.rules import LIFETIME
from backend.mail.models import OutboxRow
from backend.members.appointments import Appointment
from backend.sign_in.accounts import create_account
from backend.users.models import UserRow
from backend.users.schemas import Role


def caller(client: SignumClient, notebook: Notebook, email: str) -> Caller:
    """Return a person's access, who signs in with the first call."""

    async def sign_in() -> str:
        body = {"email": email, "password": notebook.password(email)}
        return str((await client.call("POST", "/auth/login", json=body))["access_token"])

    return Caller(client, sign_in)


async def founder(client: SignumClient, notebook: Notebook) -> Caller:
    """Create the first person directly, because no one exists yet who could invite them."""
    name, email = cast.FOUNDER
    async with db.worker() as session:
        known = await session.scalar(sa.select(col(UserRow.id)).where(col(UserRow.email) == email))
        if not known:
            await create_account(session, email, name, notebook.password(email))
    return caller(client, notebook, email)


async def group(founder: Caller) -> str:
    """Create the group; return its ID."""
    return str((await founder.post("/orgs", cast.GROUP, key="group"))["id"])


async def organizations(admin: Caller, group_id: str) -> dict[str, str]:
    """Create the tree below the group; return ids by name."""
    ids = {str(cast.GROUP["name"]): group_id}
    await admin.call("PATCH", f"/orgs/{group_id}", {"member_requirements": cast.REQUIREMENTS}, key="demo:requirements")

    async def divide(division: str, companies: Mapping[str, Sequence[str]]) -> None:
        ids[division] = await _below(admin, group_id, division, "Division")
        for company, vehicles in companies.items():
            ids[company] = await _below(admin, ids[division], company, "Company")
            for vehicle in vehicles:
                ids[vehicle] = await _below(admin, ids[company], vehicle, "Special purpose vehicle")

    await asyncio.gather(*(divide(division, companies) for division, companies in cast.TREE.items()))
    return ids


async def _below(admin: Caller, parent: str, name: str, kind: str) -> str:
    made = await admin.post(f"/orgs/{parent}/sub-orgs", {"name": name, "org_type": kind}, key=f"org:{name}")
    return str(made["id"])


async def team(client: SignumClient, founder: Caller, notebook: Notebook, group_id: str) -> None:
    """Invite the group's people."""
    people = (_invite(client, founder, notebook, group_id, *person) for person in cast.PEOPLE)
    await asyncio.gather(*people)


async def local_people(client: SignumClient, admin: Caller, notebook: Notebook, ids: dict[str, str]) -> None:
    """Invite the people whose role applies to a lower level."""
    people = (
        _invite(client, admin, notebook, ids[where], name, email, role) for name, email, role, where in cast.LOCALS
    )
    await asyncio.gather(*people)


async def _invite(
    client: SignumClient, by: Caller, notebook: Notebook, where: str, name: str, email: str, role: Role
) -> None:
    """Invite a person, who accepts with the token from their email. Not again where they have accepted it: the person
    who invited them may have left since.
    """
    if await _has_account(email):
        return
    await by.post(f"/orgs/{where}/invitations", {"email": email, "role": role}, key=f"invite:{email}")
    body = {
        "token": await _token(UUID(where), email),
        "display_name": name,
        "password": notebook.password(email),
    }
    await client.call("POST", "/invitations/accept", json=body, idempotency_key=f"demo:accept:{email}")


async def _has_account(email: str) -> bool:
    async with db.worker() as session:
        return await session.scalar(sa.select(col(UserRow.id)).where(col(UserRow.email) == email)) is not None


async def leave(admin: Caller, group_id: str) -> None:
    """Remove the founder from the group."""
    members = (await admin.get(f"/orgs/{group_id}/members?limit=100"))["members"]
    membership = next((one["id"] for one in members if one["user"]["email"] == cast.FOUNDER[1]), None)
    if membership:
        await admin.call("DELETE", f"/orgs/{group_id}/members/{membership}")


async def _token(organization: UUID, email: str) -> str | None:
    """Return the token in the newest email to a person."""
    async with db.transaction(organization) as session:
        query = sa.select(col(OutboxRow.body)).where(col(OutboxRow.recipient) == email)
        body = await session.scalar(query.order_by(col(OutboxRow.created_at).desc()))
    return invitations.token_in(body or "")


async def open_invitations(admin: Caller, organization: str) -> None:
    """Create pending, revoked and expired invitations; the team's are the accepted ones."""
    for email, role in [*cast.INVITED["pending"], *cast.INVITED["revoked"]]:
        made = await admin.post(
            f"/orgs/{organization}/invitations", {"email": email, "role": role}, key=f"open:{email}"
        )
        if (email, role) in cast.INVITED["revoked"] and made["status"] == "pending":
            await _revoke(admin, organization, made["id"])
    await expired_invitations(organization)


async def expired_invitations(organization: str) -> None:
    """Create the invitations that have expired, unless they exist."""
    for email, role in cast.INVITED["expired"]:
        await _expired(UUID(organization), email, role)


async def _revoke(admin: Caller, organization: str, invitation: str) -> None:
    listed: dict[str, Any] = await admin.get(f"/orgs/{organization}/invitations?limit=100")
    if any(i["id"] == invitation and i["status"] == "pending" for i in listed["invitations"]):
        await admin.call("DELETE", f"/orgs/{organization}/invitations/{invitation}")


async def _expired(organization: UUID, email: str, role: Any) -> None:
    """Create an invitation that has already expired: seven days after it was sent where the demo is in its past."""
    ended = min(timedelta(0), recorded_time.recorded_now() + LIFETIME - db.now())
    async with db.transaction(organization) as session:
        if not await invitations.exists(session, organization, email):
            await invitations.write(session, organization, email, role, by=Appointment(None), lifetime=ended)
