"""Packets of two bridges that a reorganization includes in another order: each then has the other's id."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.bridges import delivery
from backend.bridges.models import BridgeRow
from backend.chain.models import TransactionRow
from backend.core import db
from tests.bridges.delivery import bridged, deliver, ended, hops, row_of, until, until_sent, until_undelivered
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance

pytestmark = pytest.mark.long


async def identity(bridge_id: str) -> tuple[str | None, str | None]:
    row = await row_of(bridge_id)
    return row.guid, row.source_tx_hash


async def test_packet_whose_id_changes_while_pending_is_followed(world: World, public: None) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    bridges = []
    for _ in range(2):
        accepted = await bridged(firm, asset, BASE, UNIT)
        await until_sent(accepted["bridgeId"])
        bridges.append(accepted)
    rows = [await row_of(accepted["bridgeId"]) for accepted in bridges]
    await exchange(rows)
    try:
        await _follow_and_settle(firm, bridges, rows)
    finally:
        await exchange(rows)  # other tests have the chain take all of it again


async def exchange(rows: list[BridgeRow], *, hashes: bool = True) -> None:
    """Exchange the effects of the transactions of two bridges, as a reorganization does that includes them in another
    order. With `hashes`, exchange their hashes too, as if both were signed again."""
    found = sa.select(TransactionRow).where(col(TransactionRow.tx_hash).in_([row.source_tx_hash for row in rows]))
    async with db.worker() as session:
        one, other = (await session.scalars(found)).all()
        one.receipt, other.receipt = other.receipt, one.receipt
        if hashes:
            one.tx_hash, other.tx_hash = other.tx_hash, one.tx_hash


async def _follow_and_settle(firm: Issuance, bridges: list[Any], rows: list[BridgeRow]) -> None:
    expected = [(row.guid, row.source_tx_hash) for row in reversed(rows)]

    async def are_followed() -> bool:
        return [await identity(accepted["bridgeId"]) for accepted in bridges] == expected

    await until(are_followed)
    for accepted in bridges:
        await deliver(accepted["bridgeId"])
        assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"


@pytest.mark.parametrize("notices", ["first", "second"])
async def test_packet_arrival_is_undone_when_a_reorg_gives_it_to_another_bridge(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch, notices: str
) -> None:
    """The first bridge's packet arrives, then becomes the second's. `notices` says which bridge sees it first."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, bridges = await firm.asset(), list[Any]()
    for _ in range(2):
        accepted = await bridged(firm, asset, BASE, UNIT)
        await until_undelivered(accepted["requestId"])
        bridges.append(accepted)
    rows = [await row_of(accepted["bridgeId"]) for accepted in bridges]
    prepare, sent_again, is_held = delivery._prepare, delivery._sent_again, True

    async def held(*of: Any) -> Any:
        while is_held:  # noqa: ASYNC110 - the test changes it
            await asyncio.sleep(0.02)
        return await prepare(*of)

    async def unnoticed(run: Any, bridge: BridgeRow) -> BridgeRow:
        return bridge if bridge.id == rows[1].id else await sent_again(run, bridge)

    monkeypatch.setattr(delivery, "_prepare", held)
    monkeypatch.setattr(delivery, "_sent_again", unnoticed if notices == "first" else sent_again)

    async def has_arrived() -> bool:
        return (await row_of(bridges[0]["bridgeId"])).arrived_at is not None

    async def is_exchanged() -> bool:
        return (await identity(bridges[1]["bridgeId"]))[0] == rows[0].guid

    async def has_gone_on() -> bool:
        answer = await firm.get(f"/requests/{bridges[0]['requestId']}")
        return answer["status"] != "running" or await hops(answer["id"]) > 2

    await deliver(bridges[0]["bridgeId"])
    await until(has_arrived)
    await exchange(rows, hashes=False)
    try:
        if notices == "second":
            await until(is_exchanged)
        is_held = False
        await until(has_gone_on)
        first = await firm.get(f"/bridges/{bridges[0]['bridgeId']}")
        assert (first["status"], first["guid"]) == ("submitting", rows[1].guid), "its own packet has not arrived"
        monkeypatch.setattr(delivery, "_sent_again", sent_again)
        await deliver(bridges[0]["bridgeId"])
        for accepted in bridges:
            assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    finally:
        is_held = False
        await exchange(rows, hashes=False)  # other tests have the chain take all of it again
