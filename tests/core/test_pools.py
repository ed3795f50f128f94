"""Connections under load, from the event loops of requests and workflows."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from backend.core import db

TASKS = 40
"""More than a pool has, so that some wait for others."""


async def _one() -> int:
    async with db.worker() as session:
        await session.execute(sa.text("select pg_sleep(0.01)"))
        return 1


async def _crowd() -> int:
    return sum(await asyncio.gather(*(_one() for _ in range(TASKS))))


async def test_event_loops_wait_for_connections_independently(api: Any) -> None:
    other = asyncio.to_thread(asyncio.run, _crowd())
    assert await asyncio.gather(_crowd(), other) == [TASKS, TASKS]


async def test_failed_statement_shows_no_values(api: Any) -> None:
    text = sa.text("select 1 / 0 where cast(:value as text) <> ''")
    for enter in (db.transaction, db.step, db.reading, db.worker):
        with pytest.raises(sa.exc.DBAPIError) as failed:
            async with enter() as session:
                await session.execute(text, {"value": "a person's secret"})
        assert "a person's secret" not in str(failed.value)
