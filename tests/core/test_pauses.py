"""A request holds no database connection while it queries a chain, and loses nothing by that."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa

from backend.chain.rpc import connections, json_rpc
from backend.chain.rpc.connections import Call, Lane, Line, Response
from backend.core import db
from backend.core.connections import database, pools
from backend.models import OrganizationRow
from tests.conftest import World
from tests.support.faulty_node import Raw, in_front_of
from tests.support.issuance import SEPOLIA, Issuance, asset_body


@pytest.fixture(autouse=True)
def _slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls to the chain wait until the test releases them, and all of them reach it."""
    monkeypatch.setattr(connections, "TIMEOUT", aiohttp.ClientTimeout(120.0))
    monkeypatch.setattr(connections, "PLACES", dict.fromkeys(Lane, 200))


async def or_over(asked: Coroutine[Any, Any, Response], is_over: asyncio.Event) -> Response:
    """Return a node's response, unless the test ends the wait for it."""
    asking, over = asyncio.create_task(asked), asyncio.create_task(is_over.wait())
    await asyncio.wait({asking, over}, return_when=asyncio.FIRST_COMPLETED)
    over.cancel()
    if asking.done():
        return asking.result()
    asking.cancel()
    raise TimeoutError


async def test_pause_restores_the_scope_and_holds_no_connection(world: World) -> None:
    mine, other = await world.organization(), await world.organization()
    found = sa.select(OrganizationRow.id).where(OrganizationRow.id.in_([mine, other]))
    async with db.transaction(mine) as session:
        assert list(await session.scalars(found)) == [mine]
        pool: Any = database.engine("app").pool
        held = pool.checkedout()
        async with db.paused(session):
            assert pool.checkedout() < held
        assert list(await session.scalars(found)) == [mine]


async def test_pause_after_a_write_is_rejected_and_commits_nothing(world: World) -> None:
    with pytest.raises(RuntimeError, match="cannot be paused"):
        await write_and_pause()
    async with db.worker() as session:
        assert await session.scalar(sa.select(OrganizationRow.id).where(OrganizationRow.name == "Half written")) is None


async def write_and_pause() -> None:
    async with db.transaction() as session:
        session.add(OrganizationRow(name="Half written"))
        async with db.paused(session):
            raise AssertionError("not reached")


@pytest.mark.long
async def test_slow_chain_does_not_block_database_access_for_others(world: World) -> None:
    """More requests than connections wait for a chain; one that needs no chain is answered at the same time."""
    firm = await Issuance.ready(world, SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        reached, released = asyncio.Event(), asyncio.Event()
        node.waits("eth_gasPrice", reached, released, pools.sizes().most("app") + 5)
        bodies = [asset_body(SEPOLIA) for _ in range(pools.sizes().most("app") + 5)]
        waiting = [asyncio.create_task(firm.post("/assets", body)) for body in bodies]
        await asyncio.wait_for(reached.wait(), 60)
        assert (await asyncio.wait_for(firm.get("/assets"), 60))["assets"] == []
        released.set()
        accepted = await asyncio.gather(*waiting)
    assert len({a["assetId"] for a in accepted}) == len(bodies)
    for one in accepted:
        await firm.settle(one["requestId"])


@pytest.mark.long
async def test_hanging_chain_fails_only_its_own_requests(world: World) -> None:
    """One more request than the pool has connections waits for a response that never comes; other requests are served
    as usual, and each waiting one gets the reason."""
    firm = await Issuance.ready(world, SEPOLIA)
    number = pools.sizes().most("app") + 1
    is_over = asyncio.Event()

    def patient(line: Line, content: bytes, call: Call, send: Any = Line._send) -> Coroutine[Any, Any, Response]:
        return or_over(send(line, content, call), is_over)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "_send", patient)
        async with in_front_of(SEPOLIA) as node:
            reached, never = asyncio.Event(), asyncio.Event()
            node.waits("eth_gasPrice", reached, never, number)
            refused = (firm.refused("POST", "/assets", 503, json=asset_body(SEPOLIA)) for _ in range(number))
            waiting = [asyncio.create_task(one) for one in refused]
            await asyncio.wait_for(reached.wait(), 60)
            for _ in range(5):
                assert (await asyncio.wait_for(firm.get("/assets"), 60))["assets"] == []
            assert not any(one.done() for one in waiting)
            is_over.set()
            problems = await asyncio.gather(*waiting)
            never.set()
    assert {p.detail for p in problems} == {f"The node of the chain {SEPOLIA} does not answer in time."}
    assert (await firm.get("/assets"))["assets"] == []


@pytest.mark.long
async def test_idempotency_key_has_one_effect_after_its_lock_is_released(world: World) -> None:
    """Two requests with one key are paused at the same time: both get one answer, or a clear 409."""
    firm = await Issuance.ready(world, SEPOLIA)
    body, headers = asset_body(SEPOLIA), {"Idempotency-Key": "one and the same"}

    async def send() -> Any:
        try:
            return await firm.post("/assets", body, headers=headers)
        except Exception as error:
            return getattr(error, "status", error)

    async with in_front_of(SEPOLIA) as node:
        released, both = asyncio.Event(), []
        for number in (1, 2):
            reached = asyncio.Event()
            node.waits("eth_gasPrice", reached, released, number)
            both.append(asyncio.create_task(send()))
            await asyncio.wait_for(reached.wait(), 60)
        released.set()
        reply = await asyncio.gather(*both)
    made = {answer["assetId"] for answer in reply if isinstance(answer, dict)}
    assert len(made) == 1
    assert all(isinstance(answer, dict) or answer == 409 for answer in reply)
    assert len((await firm.get("/assets"))["assets"]) == 1
    again = await firm.post("/assets", body, headers=headers)
    assert again["assetId"] in made
    await firm.settle(again["requestId"])


async def test_chain_failure_during_a_pause_leaves_no_rows(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        node.answers("eth_gasPrice", Raw(500, b""))
        await firm.refused("POST", "/assets", 503, json=asset_body(SEPOLIA))
    assert (await firm.get("/assets"))["assets"] == []
    assert json_rpc._patience.get() == 0.0
