"""A sign-in with a device that is not known is mailed to the person."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.db import Write
from backend.mail.alerts import tell_person

SUBJECT = "A new sign-in to Signum"
LETTER = (
    "Your account was signed in to with a device that has not been used before: {agent}, from {address}, on {time} UTC."
    "\n\nIf it was you, you do not need to do anything. If not, open {origin}/account, choose another password, unlink "
    "the wallets that are not yours, and sign out everywhere. A linked wallet signs in without the password."
)
MARKS = (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))


async def note_browser(session: Write, user_id: UUID, agent: str, address: str) -> None:
    """Mail a person whose browser does not know the account (`backend.auth.devices`), unless it is their first. To be
    called before its session is opened, as the one below."""
    mine = sa.exists().where(col(SessionRow.user_id) == user_id, col(SessionRow.client_id).is_(None))
    if await session.scalar(sa.select(mine)):
        await _tell(session, user_id, agent, address)


async def note_program(session: Write, user_id: UUID, agent: str, address: str) -> None:
    """Mail a person whose account a program signs in to that has not done so from this address before."""
    same = sa.and_(col(SessionRow.user_agent) == agent[:300], col(SessionRow.address) == address)
    before = sa.select(sa.func.count(), sa.func.bool_or(same)).where(
        col(SessionRow.user_id) == user_id, col(SessionRow.client_id).is_(None)
    )
    count, is_known = (await session.execute(before)).one()
    if count and not is_known:
        await _tell(session, user_id, agent, address)


async def _tell(session: Write, user_id: UUID, agent: str, address: str) -> None:
    facts: dict[str, Any] = {"agent": _name_of(agent), "address": address or "an unknown address"}
    await tell_person(session, user_id, SUBJECT, LETTER, **facts)


def _name_of(agent: str) -> str:
    """A browser's name in what it says of itself; of a program, its first word."""
    known = next((name for mark, name in MARKS if mark in agent), None)
    return known or "".join(c for c in agent.split("/")[0][:40] if c.isprintable()) or "an unknown program"
