"""The demo's people on the sign-in page: who they are, what they are about to do, and signing in as one of them.

Only a browser on this machine is offered them, and only where the whole installation is local: the chains and the
database are embedded, the server listens on loopback, and nothing stands between it and the browser.
"""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.auth.secrets import digest
from backend.core import db
from backend.core.errors import NotFound
from backend.core.readiness import readiness
from backend.core.settings import settings
from backend.demo_people import rules
from backend.demo_people.schemas import Demo, DemoPerson
from backend.devnet import reset
from backend.sign_in import service as sign_in
from backend.users.models import UserRow
from backend.users.schemas import Role

PROVEN = timedelta(hours=2)
"""How much later than the sign-in a session's proof of identity begins to age."""
ABSENT = "No resource exists at this address."
OFFERED = (Role.ADMIN, Role.COMPLIANCE_OFFICER, Role.CLIENT)
_NAMES = sa.text("""
  select u.email, u.display_name from members m join users u on u.id = m.user_id
  where m.organization_id = :org and m.status = 'active' and u.email = any(:emails)
""")
_WAITING = sa.text("""
  select
    (select count(*) from parties where organization_id = :org and status in ('created', 'verifying')) as reviews,
    (select count(*) from approvals
     where organization_id = :org and status = 'pending' and expires_at > now()) as approvals,
    (select count(distinct d.id) from distributions d
       join distribution_recipients r on r.distribution_id = d.id
       join parties p on p.organization_id = d.organization_id and p.wallet_address = r.address
       left join distribution_claims c on c.distribution_id = d.id and c.index = r.index
     where d.organization_id = :org and d.status = 'active' and p.email = :investor and c.id is null) as claims
""")


def check(request: Request, *, from_own_page: bool = False) -> None:
    """Raise 404 unless the demo's people are offered to the sender of a request."""
    sender = rules.Sender.of(request.client.host if request.client else "", request.headers.items())
    is_welcome = sender.is_own_page if from_own_page else sender.is_local
    if not settings().is_local_demo or not is_welcome(settings().origins):
        raise NotFound(ABSENT)


async def read(session: db.Write) -> Demo:
    """Return the demo, or how far its creation is; 404 where the database has other organizations instead."""
    known = _notes()
    if known is None:
        if "demo data" not in readiness().waiting:
            raise NotFound(ABSENT)
        at = readiness()
        return Demo(is_ready=False, doing=at.doing, percent=at.percent, people=[], start_over_path=None)
    organization = UUID(known["organization_id"])
    await db.scope(session, [organization])
    can_reset = reset.is_possible(settings())
    path = f"/o/{organization}/chains?start-over=yes" if can_reset else None
    people = await _people(session, organization, _offered(known))
    return Demo(is_ready=True, doing="", percent=100, people=people, start_over_path=path)


async def _people(session: db.Write, organization: UUID, emails: dict[Role, str]) -> list[DemoPerson]:
    asked = {"org": organization, "emails": list(emails.values())}
    names = {row.email: row.display_name for row in await session.execute(_NAMES, asked)}
    investor = emails.get(Role.CLIENT, "")
    waiting = (await session.execute(_WAITING, {"org": organization, "investor": investor})).one()
    tasks = {
        Role.ADMIN: rules.admin_task(waiting.approvals),
        Role.COMPLIANCE_OFFICER: rules.officer_task(waiting.reviews),
        Role.CLIENT: rules.investor_task(waiting.claims),
    }
    return [
        DemoPerson(role=role, name=names[email] or email, task=tasks[role])
        for role, email in emails.items()
        if email in names
    ]


async def person(session: db.Write, role: str) -> UserRow:
    """Return the person of a role as whom a browser may sign in; 404 where the demo lacks one."""
    known = _notes()
    email = None if known is None else _offered(known).get(Role(role)) if role in OFFERED else None
    found = await sign_in.find_account(session, email) if email else None
    if found is None:
        raise NotFound(ABSENT)
    return await sign_in.themself(session, found.user_id)


async def keep_proven(session: db.Write, secret: str) -> None:
    """Let a session count as confirmed for a demo's length: the password of its person is only in a file, and
    another sign-in is one click away."""
    mine = sa.update(SessionRow).where(col(SessionRow.token_hash) == digest(secret))
    await session.execute(mine.values(proven_at=db.now() + PROVEN))


def _notes() -> dict[str, Any] | None:
    """Return demo.json; None before the demo is finished."""
    path = settings().home / "demo.json"
    return json.loads(path.read_text()) if path.exists() else None


def _offered(known: dict[str, Any]) -> dict[Role, str]:
    """Return the email of the first person with each offered role."""
    found: dict[Role, str] = {}
    for role in OFFERED:
        if emails := [user["email"] for user in known["users"] if user["role"] == role]:
            found[role] = emails[0]
    return found
