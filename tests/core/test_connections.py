"""Connections that the server ends, and settings that a transaction begins with."""

from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from backend.core import db
from backend.core.connections import engines

END_OTHERS = sa.text(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = user and pid <> :own"
)
PID = sa.text("select pg_backend_pid()")


async def test_connections_that_the_server_ended_are_replaced_before_use(api: Any) -> None:
    async with db.worker() as session, db.worker() as other:
        ended = {await session.scalar(PID), await other.scalar(PID)}
    async with db.worker() as session:
        own = await session.scalar(PID)
        await session.execute(END_OTHERS, {"own": own})
    for _ in range(20):
        async with db.worker() as session, db.worker() as other:
            assert {await session.scalar(PID), await other.scalar(PID)} - {own} - ended


async def _fail() -> None:
    async with db.transaction() as session:
        await session.execute(sa.text("select set_config('app.user_id', 'x', false)"))
        raise ZeroDivisionError


async def test_failed_transaction_leaves_nothing(api: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        await _fail()
    async with db.transaction() as session:
        assert not await session.scalar(sa.text("select current_setting('app.user_id', true)"))


async def test_settings_end_with_their_transaction(api: Any) -> None:
    seen, one = sa.text("select current_setting('app.organization_ids', true)"), uuid4()
    for enter in (db.transaction, db.step, db.reading, db.rehearsing):
        async with enter(one) as session:
            assert await session.scalar(seen) == str(one)
        for _ in range(30):  # more than a pool has
            async with enter() as session:
                assert not await session.scalar(seen)


async def test_value_of_a_setting_is_never_code(api: Any) -> None:
    async with db.transaction() as session:
        await engines.begin(session, proven="x'); drop table users; --")
        assert await session.scalar(sa.text("select current_setting('app.proven')")) == "x'); drop table users; --"


async def test_reading_refuses_to_write(api: Any) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="read-only"):
        async with db.reading(uuid4()) as session:
            await session.execute(sa.text("create table kept (id int)"))
