"""The heights of a public chain in the chain list."""

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.rpc import finality, health
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.runtime import runtime
from backend.models import ChainRow
from tests.chain.conftest import HOME_EID, Stage
from tests.support.node_pool.pool import NodePool


async def heights(session: db.Write) -> tuple[int | None, int | None, int | None]:
    """Newest, safe and final, as the chain list has them.

    In the transaction that has noted them: the indexer of the running server notes an older height afterwards.
    """
    columns = (col(ChainRow.height), col(ChainRow.safe_height), col(ChainRow.final_height))
    row = (await session.execute(sa.select(*columns).where(col(ChainRow.xchain_eid) == HOME_EID))).one()
    return row[0], row[1], row[2]


async def test_safe_and_final_heights_follow_the_chain_tags(
    stage: Stage, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "SURVEY", 0.0)  # the indexer of the running server polls too
    monkeypatch.setattr(runtime.part(health.HealthNotes), "noted", {})
    monkeypatch.setattr(runtime.part(finality.KnownHeads), "by_chain", {})
    pool.become(safe=6, final=12)
    await pool.mine(13)
    height = await (await connect(HOME_EID)).height()
    await health.survey(HOME_EID)
    async with db.worker() as session:
        await health.note(session, HOME_EID, height, 0)
        assert await heights(session) == (height, height - 6, height - 12)


async def test_embedded_chain_blocks_are_all_final(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.part(health.HealthNotes), "noted", {})
    height = await (await connect(HOME_EID)).height()
    async with db.worker() as session:
        await health.note(session, HOME_EID, height, 0)
        assert await heights(session) == (height, height, height)
