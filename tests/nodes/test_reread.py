"""A contract's logs are read again behind a node pool: logs that one machine does not have yet do not count as
missing."""

from typing import Any

import pytest
import sqlalchemy as sa

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.indexer import indexer, log_limits, reread
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import terms_of
from backend.core import db
from backend.core.runtime import runtime
from backend.models import DeploymentRow, TokenTransferRow
from tests.chain.conftest import HOME_EID, Stage
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long


def asset_of(at: str) -> Any:
    return sa.select(DeploymentRow.asset_id).where(DeploymentRow.token_address == at).scalar_subquery()


async def transfers(at: str) -> list[tuple[Any, ...]]:
    """A token's transfers as the table has them."""
    columns = (TokenTransferRow.to_address, TokenTransferRow.amount, TokenTransferRow.block_number)
    async with db.worker() as session:
        found = sa.select(*columns).where(TokenTransferRow.asset_id == asset_of(at))
        return [tuple(row) for row in await session.execute(found.order_by(TokenTransferRow.block_number))]


async def test_reread_rows_match_the_chain_behind_a_pool_with_a_small_log_range(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.become(mines_every=3)
    await pool.fund(stage.treasury)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    for amount in (1, 2, 3):
        await stage.do(HOME_EID, stage.treasury, token.burn(at, amount))
    confirmed = await (await connect(HOME_EID)).height() - terms_of(HOME_EID).confirmations
    await indexer.catch_up(HOME_EID, confirmed)
    before = await transfers(at)
    assert [amount for _, amount, _ in before] == [100, 1, 2, 3]
    async with db.worker() as session:
        of_asset = TokenTransferRow.asset_id == asset_of(at)
        await session.execute(sa.update(TokenTransferRow).where(of_asset).values(amount=7))
        await session.execute(
            sa.delete(TokenTransferRow).where(of_asset, TokenTransferRow.block_number == before[1][2])
        )
    monkeypatch.setattr(runtime.part(log_limits.LearnedLimits), "by_chain", {})
    pool.become(lags=(0, 2, 7), log_range=5, mines_every=3)
    assert await reread.reread(HOME_EID, at) >= len(before)
    assert await transfers(at) == before
