"""One attempt to tell an application that a session has ended; a failed one is followed by another."""

import time
from urllib.parse import urlencode
from uuid import UUID

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend import db
from backend.auth import tokens
from backend.auth.models import SessionRow
from backend.db import new_id
from backend.oauth import backchannel
from backend.oauth.models import OAuthClientRow
from backend.settings import settings
from backend.webhooks import egress

log = structlog.get_logger()
EVENT = "http://schemas.openid.net/event/backchannel-logout"
LIFETIME = 120
"""Seconds a logout token is valid."""
HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "Signum", "Accept": "*/*"}


@DBOS.workflow(name=backchannel.LOGOUT)
async def logout(organization_id: str, client_id: str, sid: str, ended: str, attempt: str) -> None:
    """Send a logout token; the same session may be told of more than once."""
    organization, client, session_id, count = UUID(organization_id), UUID(client_id), UUID(sid), int(attempt)
    query = sa.select(col(OAuthClientRow.backchannel_logout_uri)).where(
        col(OAuthClientRow.id) == client, col(OAuthClientRow.revoked_at).is_(None)
    )
    async with db.step(organization) as session:
        uri = await session.scalar(query)
    async with db.worker() as session:
        person = await session.scalar(sa.select(col(SessionRow.user_id)).where(col(SessionRow.id) == session_id))
    if uri is None or person is None:
        return
    body = urlencode({"logout_token": logout_token(client, person, session_id)}).encode()
    answer = await egress.post(uri, body, HEADERS)
    if answer.failure is None:
        return
    if count > len(backchannel.WAITS):
        log.warning("logout.undelivered", client=client_id, session=sid, reason=answer.failure)
        return
    async with db.step(organization) as session:
        await backchannel.queue(session, organization, client, session_id, UUID(ended), count + 1)


def logout_token(client_id: UUID, person: UUID, sid: UUID) -> str:
    """A logout token (Back-Channel Logout 1.0, 2.4)."""
    issued = int(time.time())
    claims = {
        "iss": settings().base_url,
        "aud": str(client_id),
        "sub": str(person),
        "sid": str(sid),
        "iat": issued,
        "exp": issued + LIFETIME,
        "jti": str(new_id()),
        "events": {EVENT: {}},
    }
    return tokens.sign(claims, "logout+jwt")
