"""The heights of a public chain in the registry."""

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import finality, health
from backend.chain.rpc import connect
from backend.models import ChainRow
from tests.chain.conftest import HOME_EID, Stage
from tests.nodes.pool import NodePool


async def heights() -> tuple[int | None, int | None, int | None]:
    """Newest, safe and final, as the registry has them."""
    columns = (col(ChainRow.height), col(ChainRow.safe_height), col(ChainRow.final_height))
    async with db.worker() as session:
        row = (await session.execute(sa.select(*columns).where(col(ChainRow.xchain_eid) == HOME_EID))).one()
    return row[0], row[1], row[2]


async def test_safe_and_final_heights_are_those_of_the_chains_tags(
    stage: Stage, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "SURVEY", 0.0)  # the indexer of the running server looks too
    monkeypatch.setattr(health, "_noted", {})
    monkeypatch.setattr(finality, "_known", {})
    pool.become(safe=6, final=12)
    await pool.mine(13)
    height = await (await connect(HOME_EID)).height()
    await health.survey(HOME_EID)
    async with db.worker() as session:
        await health.note(session, HOME_EID, height, 0)
    assert await heights() == (height, height - 6, height - 12)


async def test_every_block_of_an_embedded_chain_is_final(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_noted", {})
    height = await (await connect(HOME_EID)).height()
    async with db.worker() as session:
        await health.note(session, HOME_EID, height, 0)
    assert await heights() == (height, height, height)
