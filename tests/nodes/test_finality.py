"""Transactions become safe and final only if their block is still the chain's."""

from dataclasses import replace
from typing import Any

import pytest

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.finality import Finality
from backend.chain.models import TransactionRow
from backend.chain.rpc import terms
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import settlement
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import row_of
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long

SAFE, FINAL = 60, 120
BLOCKS_ELSEWHERE = {"eth_blockNumber": 0, "eth_getBlockByNumber": 1}
"""Heights come from one machine, and blocks from another; a batch with a block goes to the second."""


@pytest.fixture
def by_height(public: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain's terms count blocks."""
    counted = replace(terms.DEFAULTS[HOME_EID], safe=SAFE, final=FINAL)
    monkeypatch.setattr(terms, "DEFAULTS", dict.fromkeys(terms.DEFAULTS, counted))


async def burnt_and_lost(stage: Stage, pool: NodePool, rules: TokenRules, **options: Any) -> TransactionRow:
    """A burn that is included, and lost in a reorg while the pool has these options; its row after a settlement with
    enough further blocks that its height is final."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, rules, supply=100)
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key=f"lost {options}")
    row = await row_of(f"lost {options}")
    assert row.finality is Finality.INCLUDED
    pool.become(automine=False, mines_every=None, **options)
    await pool.replace(row.block_number or 0, returned=0.0)
    pool.machines[0]._switches_in = 0
    await pool.mine(FINAL + 1)
    await settlement.settle(await connect(HOME_EID))
    return await row_of(row.key)


async def test_machine_without_the_block_does_not_finalize_a_transaction(
    stage: Stage, by_height: None, pool: NodePool, open_rules: TokenRules
) -> None:
    row = await burnt_and_lost(stage, pool, open_rules, syncing_at=3, routes=BLOCKS_ELSEWHERE)
    assert row.finality in (Finality.INCLUDED, None)
    pool.become(routes={}, syncing_at=None)
    await settlement.settle(await connect(HOME_EID))
    assert (await row_of(row.key)).finality is None


async def test_machine_on_a_replaced_branch_does_not_finalize_a_transaction(
    stage: Stage, by_height: None, pool: NodePool, open_rules: TokenRules
) -> None:
    row = await burnt_and_lost(stage, pool, open_rules, lags=(0, 0), switches_within=10**9, routes=BLOCKS_ELSEWHERE)
    assert row.finality in (Finality.INCLUDED, None)
