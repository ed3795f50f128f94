"""Packets of two bridges that a reorganization includes in another order: each then has the other's id."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.bridges import carrying
from backend.bridges.models import BridgeRow
from backend.chain.models import TransactionRow
from tests.bridges.carried import bridged, deliver, ended, hops, row_of, until, until_away, until_sent
from tests.conftest import World
from tests.firm import BASE, SEPOLIA
from tests.issuance import UNIT, Issuance


async def identity(bridge_id: str) -> tuple[str | None, str | None]:
    row = await row_of(bridge_id)
    return row.guid, row.source_tx_hash


async def test_packet_that_changes_its_id_while_it_is_waited_for_is_followed(world: World, public: None) -> None:
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
    """Exchange what the transactions of two bridges did, as a reorganization does that includes them in another
    order. `hashes`: theirs too, as where both were signed anew."""
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
async def test_arrival_of_a_packet_that_is_another_bridges_after_a_reorganization_is_taken_back(
    world: World, public: None, monkeypatch: pytest.MonkeyPatch, notices: str
) -> None:
    """The first bridge's packet arrives, and is then the second's: `notices` says which of the two sees it first."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, bridges = await firm.asset(), list[Any]()
    for _ in range(2):
        accepted = await bridged(firm, asset, BASE, UNIT)
        await until_away(accepted["requestId"])
        bridges.append(accepted)
    rows = [await row_of(accepted["bridgeId"]) for accepted in bridges]
    prepare, sent_again, is_held = carrying._prepare, carrying._sent_again, True

    async def held(*of: Any) -> Any:
        while is_held:  # noqa: ASYNC110 - the test changes it
            await asyncio.sleep(0.02)
        return await prepare(*of)

    async def unnoticed(run: Any, bridge: BridgeRow) -> BridgeRow:
        return bridge if bridge.id == rows[1].id else await sent_again(run, bridge)

    monkeypatch.setattr(carrying, "_prepare", held)
    monkeypatch.setattr(carrying, "_sent_again", unnoticed if notices == "first" else sent_again)

    async def has_arrived() -> bool:
        return (await row_of(bridges[0]["bridgeId"])).arrived_at is not None

    async def is_exchanged() -> bool:
        return (await identity(bridges[1]["bridgeId"]))[0] == rows[0].guid

    async def has_gone_on() -> bool:
        told = await firm.get(f"/requests/{bridges[0]['requestId']}")
        return told["status"] != "running" or await hops(told["id"]) > 2

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
        monkeypatch.setattr(carrying, "_sent_again", sent_again)
        await deliver(bridges[0]["bridgeId"])
        for accepted in bridges:
            assert (await ended(firm, accepted["requestId"]))["status"] == "succeeded"
    finally:
        is_held = False
        await exchange(rows, hashes=False)  # other tests have the chain take all of it again
