"""Expired rows are deleted every night; everything else stays."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from dbos import DBOS

from backend.auth.models import IdempotencyRow, OneTimeSecretRow, RefreshTokenRow, SessionRow
from backend.core import db
from backend.core.db import new_id, now
from backend.engine import retention
from backend.mail.models import Cause, OutboxRow, mail
from backend.mail.schemas import MailKind
from backend.markets import announcements
from backend.models import AnnouncementRow, OAuthClientRow, OAuthCodeRow
from tests.conftest import World
from tests.support.firm import Firm

DAY = timedelta(days=1)


def secret() -> str:
    return new_id().hex


async def kept(kind: Any, ids: list[UUID]) -> list[bool]:
    """Return for each of some rows whether it still exists."""
    async with db.worker() as session:
        found = set(await session.scalars(sa.select(kind.id).where(kind.id.in_(ids))))
    return [one in found for one in ids]


async def write(*rows: Any) -> list[UUID]:
    """Add rows and return their ids."""
    async with db.worker() as session:
        session.add_all(rows)
    return [row.id for row in rows]


def session_of(user: UUID, **values: Any) -> SessionRow:
    return SessionRow(user_id=user, token_hash=secret(), **{"expires_at": now() + DAY} | values)


async def test_idempotency_responses_are_deleted_after_a_day(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)

    def row(age: timedelta) -> IdempotencyRow:
        return IdempotencyRow(
            principal="user:x", method="POST", path="/", key=secret(), digest="", created_at=now() - age
        )

    old = await write(*(row(DAY + timedelta(minutes=1)) for _ in range(10)))
    young = await write(row(DAY - timedelta(minutes=1)), row(timedelta(0)))
    assert (await retention.once())["idempotency_keys"] >= 10
    assert await kept(IdempotencyRow, old) == [False] * 10
    assert await kept(IdempotencyRow, young) == [True, True]


async def test_session_is_deleted_a_month_after_its_end_with_its_tokens(world: World) -> None:
    acme = await world.organization()
    user = (await world.person(acme)).user_id
    month = 30 * DAY + timedelta(minutes=1)
    over, ended, lately, alive, revoked_early = await write(
        session_of(user, expires_at=now() - month),
        session_of(user, revoked_at=now() - month),
        session_of(user, revoked_at=now() - 29 * DAY),
        session_of(user),
        session_of(user, expires_at=now() - month, revoked_at=now() - 2 * month),
    )
    sessions = [over, ended, lately, alive, revoked_early]
    tokens = await write(
        *(
            RefreshTokenRow(session_id=s, token_hash=secret(), expires_at=now() - month, used_at=now() - month)
            for s in sessions
            for _ in range(2)
        )
    )
    [client] = await write(OAuthClientRow(organization_id=acme, name="App", redirect_uris=[], scopes=[]))
    codes = await write(
        *(
            OAuthCodeRow(
                code_hash=secret(), client_id=client, user_id=user, session_id=s, grant_id=ended, redirect_uri="",
                scope="", code_challenge="", expires_at=now() - age,
            )
            for s, age in ((over, 2 * DAY), (alive, 2 * DAY), (alive, timedelta(0)))
        )
    )  # fmt: skip
    await retention.once()
    assert await kept(RefreshTokenRow, tokens) == [False] * 4 + [True] * 4 + [False] * 2
    assert await kept(OAuthCodeRow, codes) == [False, False, True]
    assert await kept(SessionRow, sessions) == [False, True, True, True, False], "a code of today refers to the second"
    async with db.worker() as session:
        await session.execute(sa.delete(OAuthCodeRow).where(OAuthCodeRow.id == codes[2]))
    await retention.once()
    assert await kept(SessionRow, sessions) == [False, False, True, True, False]


async def test_one_time_secrets_are_deleted_when_they_expire(api: Any) -> None:
    old, new = await write(
        OneTimeSecretRow(purpose="siwe", secret_hash=secret(), expires_at=now() - 2 * DAY),
        OneTimeSecretRow(purpose="siwe", secret_hash=secret(), expires_at=now() + DAY),
    )
    await retention.once()
    assert await kept(OneTimeSecretRow, [old, new]) == [False, True]


async def test_announcements_of_markets_are_deleted_after_two_weeks(world: World) -> None:
    acme = await world.organization()

    def made(age: timedelta) -> AnnouncementRow:
        return AnnouncementRow(organization_id=acme, key=secret(), created_at=now() - age)

    old, young = await write(made(14 * DAY + timedelta(minutes=1)), made(14 * DAY - timedelta(minutes=1)))
    await retention.once()
    assert await kept(AnnouncementRow, [old, young]) == [False, True]
    assert 2 * announcements.OLDEST <= 14 * DAY, "what may still be announced is remembered"


async def test_mails_are_deleted_after_ninety_days(world: World) -> None:
    acme = await world.organization()

    def sent(age: timedelta) -> OutboxRow:
        row = mail(acme, "marta@example.com", "Invited", "Text", Cause(MailKind.NOTICE))
        row.created_at = now() - age
        return row

    mails = await write(sent(90 * DAY + timedelta(minutes=1)), sent(90 * DAY - timedelta(minutes=1)))
    await retention.once()
    assert await kept(OutboxRow, mails) == [False, True]


@pytest.mark.long
async def test_engine_deletes_only_finished_workflows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    await firm.patch("", {"approvals": ["token.mint"]})
    second = await world.person(firm.id)
    asked = await firm.post("/approvals", {"approvals": []})
    approval = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]
    await second.call("POST", f"{firm.base}/approvals/{approval['id']}/approve")
    await firm.settle(asked["requestId"])
    name = f"{asked['requestId']}:1"
    assert await DBOS.get_workflow_status_async(name) is not None
    await retention.once()
    assert await DBOS.get_workflow_status_async(name) is not None, "a week has not passed"
    monkeypatch.setattr(retention, "WORKFLOWS_KEPT", timedelta(seconds=-1))
    monkeypatch.setattr(retention, "BATCH", 2)
    assert (await retention.once())["workflows"] >= 1
    assert await DBOS.get_workflow_status_async(name) is None
    assert (await firm.get(f"/requests/{asked['requestId']}"))["status"] == "succeeded"


async def test_concurrent_retention_runs_are_safe(api: Any) -> None:
    rows = [
        IdempotencyRow(principal="u", method="POST", path="/", key=secret(), digest="", created_at=now() - 2 * DAY)
        for _ in range(50)
    ]
    old = await write(*rows)
    await asyncio.gather(*(retention.once() for _ in range(3)))
    assert not any(await kept(IdempotencyRow, old))
