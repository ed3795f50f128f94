"""The floor of a chain, as a process that has just started learns it."""

import asyncio
from dataclasses import replace

import pytest

from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.rpc import floors, json_rpc, nodes, pinned_reads
from backend.chain.rpc.terms import terms_of
from backend.chain.signing.wallet_provider import provider
from backend.core.runtime import runtime
from tests.chain.conftest import HOME_EID, Stage
from tests.nodes import truth
from tests.support.node_pool.pool import NodePool


@pytest.mark.long
async def test_concurrent_reads_after_a_start_share_the_stored_floor(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    built_on = floors.known(HOME_EID)
    monkeypatch.setattr(runtime.part(floors.Floors), "known", {})
    monkeypatch.setattr(runtime.part(floors.Floors), "refreshed", {})
    answer = await asyncio.gather(*(floors.of(HOME_EID) for _ in range(5)))
    assert min(answer) >= built_on > 0
    assert await token.total_supply(HOME_EID, at) == 100


async def test_floor_falls_in_every_process_when_one_of_them_rewinds_the_chain(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored floor is the height that the tables still have; an own block counts until they have it."""
    stored = iter((500, 500, 120, 120))

    async def answer(eid: int) -> int:
        return next(stored)

    monkeypatch.setattr(floors, "_stored", answer)
    monkeypatch.setattr(floors, "REFRESH", 0.0)
    floors.lower_to(HOME_EID, 0)
    assert await floors.of(HOME_EID) == 500
    floors.raise_to(HOME_EID, 510)
    assert floors.known(HOME_EID) == 510
    assert await floors.of(HOME_EID) == 500, "it was stored before, so the tables have lost it since"
    assert await floors.of(HOME_EID) == 120
    floors.lower_to(HOME_EID, 0)


async def test_floor_raised_while_the_tables_are_read_is_kept(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(eid: int) -> int:
        floors.raise_to(eid, 510)
        return 500

    monkeypatch.setattr(floors, "_stored", answer)
    floors.lower_to(HOME_EID, 0)
    assert await floors.of(HOME_EID) == 510
    floors.lower_to(HOME_EID, 0)


async def test_floor_read_started_before_a_rewind_is_ignored(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(eid: int) -> int:
        floors.lower_to(eid, 90)
        return 500

    monkeypatch.setattr(floors, "_stored", answer)
    floors.lower_to(HOME_EID, 0)
    floors.raise_to(HOME_EID, 500)
    assert await floors.of(HOME_EID) == 90
    floors.lower_to(HOME_EID, 0)


async def test_slow_floor_read_does_not_undo_a_later_one(
    stage: Stage, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = asyncio.Event()
    stored = iter((500, 510))

    async def answer(eid: int) -> int:
        height = next(stored)
        if height == 500:
            await may_answer.wait()
        return height

    monkeypatch.setattr(floors, "_stored", answer)
    floors.lower_to(HOME_EID, 0)
    slow = asyncio.create_task(floors.of(HOME_EID))
    await asyncio.sleep(0)
    floors.raise_to(HOME_EID, 510)
    assert await floors.of(HOME_EID) == 510
    may_answer.set()
    assert await slow == 510
    floors.lower_to(HOME_EID, 0)


@pytest.mark.long
async def test_node_with_a_short_history_is_not_classified_as_latest_state_only(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floor can be older than the history of a node: nothing was confirmed for a while, and a syncing machine is
    the first to report its height."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    built_on = floors.known(HOME_EID)
    await pool.mine(300)

    async def of(eid: int) -> int:
        return built_on

    monkeypatch.setattr(floors, "of", of)
    pool.become(lags=(0,), syncing_at=3, history=128, mines_every=None)
    for _ in range(20):
        runtime.reset(pinned_reads.Heights)
        assert await token.total_supply(HOME_EID, at) == 100
    assert not any(node.is_latest_only for node in nodes.of(HOME_EID))


async def test_newly_funded_wallet_can_pay(
    stage: Stage, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_indexed_yet(eid: int) -> int:
        return 0

    monkeypatch.setattr(floors, "of", nothing_indexed_yet)
    monkeypatch.setattr(pinned_reads, "terms_of", lambda eid: replace(terms_of(eid), block_time=60.0))
    monkeypatch.setattr(pinned_reads, "FRESH", 60.0)
    pool.become(mines_every=3)
    signer = (await provider().create()).address
    pinned_reads.saw(HOME_EID, await (await json_rpc.connect(HOME_EID)).height())
    await pool.mine()
    await pool.fund(signer)
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="funded:now")
    assert await truth.count(pool.node, signer) == 1
