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
from backend.organizations.summary import COUNTS
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


COPIES = sa.inspect(OrganizationRow).local_table.columns.keys()


@pytest.mark.parametrize("direct", [9_998, 10_000])
async def test_summary_counts_up_to_10000_organizations_on_every_level(world: World, direct: int) -> None:
    acme = await world.organization()
    new = {"id": "gen_random_uuid()", "parent_id": ":parent"}
    copy = f"""
      insert into organizations ({", ".join(COPIES)})
      select {", ".join(new.get(name, name) for name in COPIES)}
      from organizations cross join generate_series(1, :number) where id = :acme returning id
    """
    async with db.worker() as session:
        await db.scope(session, [acme])
        below = await session.scalars(sa.text(copy), {"parent": acme, "number": direct, "acme": acme})
        child = below.all()[0]
        for deeper, expected in ((1, min(direct + 1, 10_000)), (5, 10_000)):
            await session.execute(sa.text(copy), {"parent": child, "number": deeper, "acme": acme})
            found = await session.scalar(COUNTS, {"org": acme})
            assert (found["sub_organizations"], found["sub_organizations_all"]) == (direct, expected)
        await session.rollback()
