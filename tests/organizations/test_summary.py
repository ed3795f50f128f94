"""The summary is one statement, so it is one moment: simultaneous changes are counted together."""

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlmodel import col

from backend.assets.schemas import AssetStatus
from backend.core import db
from backend.core.connections import database
from backend.models import AssetRow, OrganizationRow
from tests.conftest import World
from tests.support.firm import Firm

ROWS = 40


@pytest.mark.long
async def test_summary_is_consistent_under_concurrent_changes(world: World) -> None:
    firm = await Firm.found(world)
    async with db.worker() as session:
        session.add_all(AssetRow(organization_id=firm.id, name="A", symbol=f"S{i}") for i in range(ROWS))
    ours = col(AssetRow.organization_id) == firm.id
    stopping = asyncio.Event()

    async def change() -> None:
        """Move all assets to another status and one organization below, and back, each in one transaction."""
        status = AssetStatus.FAILED
        while not stopping.is_set():
            async with db.worker() as session:
                await session.execute(sa.update(AssetRow).where(ours).values(status=status))
                if status is AssetStatus.FAILED:
                    session.add(OrganizationRow(name="Below", parent_id=firm.id))
                else:
                    below = col(OrganizationRow.parent_id) == firm.id
                    await session.execute(sa.delete(OrganizationRow).where(below))
            status = AssetStatus.DRAFT if status is AssetStatus.FAILED else AssetStatus.FAILED

    work = asyncio.create_task(change())
    seen = set()
    for _ in range(60):
        answer = await firm.get("/summary")
        assets = answer["assets"]
        assert assets["total"] == ROWS
        assert list(assets["by_status"].values()) == [ROWS]
        status = next(iter(assets["by_status"]))
        seen.add(status)
        assert answer["sub_organizations"] == (1 if status == "failed" else 0), answer
    stopping.set()
    await work
    assert seen == {"draft", "failed"}


async def test_summary_uses_one_statement(world: World) -> None:
    firm = await Firm.found(world)
    statements: list[str] = []
    engine = database.engine("app").sync_engine

    def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        await firm.get("/summary")
    finally:
        event.remove(engine, "before_cursor_execute", note)
    counting = [s for s in statements if "count(*)" in s]
    assert len(counting) == 1, statements
