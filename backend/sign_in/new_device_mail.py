"""Email to a person about a sign-in from an unknown device."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.core.db import Write
from backend.mail.alerts import email_person

TOPIC = "session.new_device"
SUBJECT = "New sign-in to Signum"
LETTER = (
    "Your account was signed in to from a new device: {agent}, from {address}, on {time} UTC.\n\nIf this was you, no "
    "action is needed. If not, open {origin}/account, change your password, unlink wallets that you do not "
    "recognize, and sign out everywhere. A linked wallet signs in without the password."
)
MARKS = (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))


async def note_browser(session: Write, user_id: UUID, agent: str, address: str) -> None:
    """Email a person whose browser is unknown for the account (`backend.sign_in.known_devices`), unless it is their
    first.

    Call it before the session is opened, as the function below.
    """
    mine = sa.exists().where(col(SessionRow.user_id) == user_id, col(SessionRow.client_id).is_(None))
    if await session.scalar(sa.select(mine)):
        await _publish(session, user_id, agent, address)


async def note_program(session: Write, user_id: UUID, agent: str, address: str) -> None:
    """Email a person about a sign-in of a program that is new from this address."""
    same = sa.and_(col(SessionRow.user_agent) == agent[:300], col(SessionRow.address) == address)
    before = sa.select(sa.func.count(), sa.func.bool_or(same)).where(
        col(SessionRow.user_id) == user_id, col(SessionRow.client_id).is_(None)
    )
    count, is_known = (await session.execute(before)).one()
    if count and not is_known:
        await _publish(session, user_id, agent, address)


async def _publish(session: Write, user_id: UUID, agent: str, address: str) -> None:
    facts: dict[str, Any] = {"agent": _name_of(agent), "address": address or "an unknown address"}
    await email_person(session, user_id, TOPIC, SUBJECT, LETTER, **facts)


def _name_of(agent: str) -> str:
    """Return a browser's name from its user agent; for a program, its first word."""
    known = next((name for mark, name in MARKS if mark in agent), None)
    return known or "".join(c for c in agent.split("/")[0][:40] if c.isprintable()) or "an unknown program"
