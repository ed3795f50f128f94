"""The floor of a chain, as a process that has just started learns it."""

import asyncio

import pytest

from backend.chain import floors, nodes, pinning, token
from backend.chain.rule_sets import TokenRules
from tests.chain.conftest import HOME_EID, Stage
from tests.nodes.pool import NodePool


async def test_reads_at_the_same_time_after_a_start_share_the_stored_floor(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    built_on = floors.known(HOME_EID)
    monkeypatch.setattr(floors, "_floors", {})
    monkeypatch.setattr(floors, "_refreshed", {})
    told = await asyncio.gather(*(floors.of(HOME_EID) for _ in range(5)))
    assert min(told) >= built_on > 0
    assert await token.total_supply(HOME_EID, at) == 100


async def test_floor_falls_in_every_process_when_one_of_them_rewinds_the_chain(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored floor is what the tables still hold; an own block counts until they hold it."""
    stored = iter((500, 500, 120, 120))

    async def told(eid: int) -> int:
        return next(stored)

    monkeypatch.setattr(floors, "_stored", told)
    monkeypatch.setattr(floors, "REFRESH", 0.0)
    floors.lower_to(HOME_EID, 0)
    assert await floors.of(HOME_EID) == 500
    floors.raise_to(HOME_EID, 510)
    assert floors.known(HOME_EID) == 510
    assert await floors.of(HOME_EID) == 500, "it was stored before, so that the tables have lost it since"
    assert await floors.of(HOME_EID) == 120
    floors.lower_to(HOME_EID, 0)


async def test_block_that_is_built_on_while_the_tables_are_read_is_kept(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def told(eid: int) -> int:
        floors.raise_to(eid, 510)
        return 500

    monkeypatch.setattr(floors, "_stored", told)
    floors.lower_to(HOME_EID, 0)
    assert await floors.of(HOME_EID) == 510
    floors.lower_to(HOME_EID, 0)


async def test_node_with_a_short_history_is_not_taken_for_one_with_the_latest_state_only(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floor may be older than the history of a node: nothing was confirmed for a while, and a syncing machine is
    the first to tell its height."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    built_on = floors.known(HOME_EID)
    await pool.mine(300)

    async def of(eid: int) -> int:
        return built_on

    monkeypatch.setattr(floors, "of", of)
    pool.become(lags=(0,), syncing_at=3, history=128, mines_every=None)
    for _ in range(20):
        pinning._heights.clear()
        assert await token.total_supply(HOME_EID, at) == 100
    assert not any(node.is_latest_only for node in nodes.of(HOME_EID))
