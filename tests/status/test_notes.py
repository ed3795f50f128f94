"""The notes of `/v1/ready` about alarms."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.chain import alarms
from backend.chain.models import AlarmKind
from backend.chain.rpc import connections, nodes
from backend.chain.rpc.connections import Refusals
from backend.chain.rpc.nodes import NodeFault, NodeList
from backend.core import db
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.models import ChainAlarmRow
from backend.status import notes
from backend.status.notes import AlarmNotes
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA

DIFFERENCE, REORG, TWICE = AlarmKind.DIFFERENCE, AlarmKind.DEEP_REORG, AlarmKind.EXECUTED_TWICE


@pytest_asyncio.fixture(autouse=True)
async def no_alarms(api: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """No alarms, and none cached."""
    runtime.reset(AlarmNotes, Refusals, NodeList)
    monkeypatch.setattr(readiness(), "notes", [])
    yield
    async with db.worker() as session:
        await session.execute(sa.delete(ChainAlarmRow))
    runtime.reset(Refusals, NodeList)


async def sound(eid: int, kind: AlarmKind, subject: str) -> None:
    async with db.worker() as session:
        await alarms.sound(session, eid, kind, "0xSecret of a tenant.", subject)


async def answer(world: World) -> list[str]:
    ready = await world.client.call("GET", "/ready")
    assert ready["ready"] is True
    return list(ready["notes"])


async def test_open_alarms_are_counted_by_chain_without_details(world: World) -> None:
    for subject in ("one", "two"):
        await sound(SEPOLIA, DIFFERENCE, subject)
    await sound(BASE, DIFFERENCE, "three")
    await sound(BASE, REORG, "")
    await sound(SEPOLIA, TWICE, "four")
    assert sorted(await answer(world)) == [
        "Base Sepolia Devnet: 1 difference between tables and chain; see the Chains page.",
        "Base Sepolia Devnet: indexing has stopped after a deep reorganization; see the Chains page.",
        "Sepolia Devnet: 1 operation was executed twice; see the Chains page.",
        "Sepolia Devnet: 2 differences between tables and chain; see the Chains page.",
    ]


async def test_alarms_are_read_at_most_every_five_seconds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await answer(world) == []
    await sound(SEPOLIA, DIFFERENCE, "one")
    assert await answer(world) == []
    runtime.part(AlarmNotes).read_at -= notes.FRESH
    assert len(await answer(world)) == 1


async def test_readiness_returns_the_last_notes_while_the_database_is_down(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sound(SEPOLIA, DIFFERENCE, "one")
    known = await answer(world)

    async def lost() -> list[tuple[str, AlarmKind]]:
        raise sa.exc.OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(notes, "_open", lost)
    runtime.part(AlarmNotes).read_at = -notes.FRESH
    assert await answer(world) == known


async def test_alarms_are_not_read_before_the_database_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked() -> list[tuple[str, AlarmKind]]:
        raise AssertionError("there are no tables yet")

    monkeypatch.setattr(notes, "_open", asked)
    monkeypatch.setattr(readiness(), "waiting", ["migrations"])
    assert await notes.notes() == []


async def test_refused_calls_and_unusable_nodes_are_counted_by_chain(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: dict[int, int] = {BASE: 152, SEPOLIA: 1}
    monkeypatch.setattr(connections, "refused", lambda eid: refused.get(eid, 0))
    for _ in range(notes.FAILURES):
        for node in nodes.of(SEPOLIA):
            node.failed(NodeFault("does not answer in time"))
    monkeypatch.setattr(nodes.Node, "answered", lambda _: None)  # the indexer's calls still pass
    assert await answer(world) == [
        "Sepolia Devnet: no node can be used; see the Chains page.",
        "Sepolia Devnet: 1 call of its nodes was refused in the last minute, because too many wait.",
        "Base Sepolia Devnet: 152 calls of its nodes were refused in the last minute, because too many wait.",
    ]
