"""Workflow of one attempt to notify an application of an ended session; a failed attempt queues the next."""

import time
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend.auth import tokens
from backend.auth.models import SessionRow
from backend.auth.oauth_models import OAuthClientRow
from backend.core import db
from backend.core.db import new_id
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.engine import fair_partitions
from backend.engine.fair_partitions import SlowReceivers
from backend.sign_in import backchannel_logout
from backend.webhooks import egress

log = structlog.get_logger()
EVENT = "http://schemas.openid.net/event/backchannel-logout"
LIFETIME = 120
"""Seconds for which a logout token is valid."""
HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "Signum", "Accept": "*/*"}


@DBOS.workflow(name=backchannel_logout.LOGOUT)
async def logout(organization_id: str, client_id: str, sid: str, ended: str, attempt: str) -> None:
    """Send a logout token. The same session may be reported more than once."""
    organization, client, session_id, count = UUID(organization_id), UUID(client_id), UUID(sid), int(attempt)
    async with db.step(organization) as session:
        receiver = (await session.execute(_receiver(client))).first()
    async with db.worker() as session:
        person = await session.scalar(sa.select(col(SessionRow.user_id)).where(col(SessionRow.id) == session_id))
    if receiver is None or receiver.uri is None or person is None:
        return
    body = urlencode({"logout_token": logout_token(client, person, session_id)}).encode()
    answer = await egress.post(receiver.uri, body, HEADERS)
    runtime.part(SlowReceivers).note(client, answer.is_slow)
    if answer.failure is None:
        return
    if count > len(backchannel_logout.WAITS):
        log.warning("logout.delivery_failed", client=client_id, session=sid, reason=answer.failure)
        return
    async with db.step(organization) as session:
        name = fair_partitions.name_of(client, receiver.root, receiver.created_by)
        await backchannel_logout.queue(session, organization, client, session_id, UUID(ended), count + 1, name)


def _receiver(client: UUID) -> Any:
    """Return the query for an application's address and the shares of its partition."""
    return sa.select(
        col(OAuthClientRow.backchannel_logout_uri).label("uri"),
        sa.func.signum_root(col(OAuthClientRow.organization_id), type_=sa.Uuid()).label("root"),
        col(OAuthClientRow.created_by),
    ).where(col(OAuthClientRow.id) == client, col(OAuthClientRow.revoked_at).is_(None))


def logout_token(client_id: UUID, person: UUID, sid: UUID) -> str:
    """Return a logout token (Back-Channel Logout 1.0, 2.4)."""
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
