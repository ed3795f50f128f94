"""Skipped events that could not be written: the alarm stays until a repair has written them."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend.assets import indexed_events
from backend.chain import alarms
from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Log
from backend.chain.bindings import token
from backend.chain.indexer import index_pass, indexer
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.runtime import runtime
from backend.markets.schemas import MarketStatus
from backend.models import MarketRow
from backend.reconciliation import service
from tests.chain.indexer.test_foreign_contracts import ORDER
from tests.reconciliation.conftest import Scene
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT


@pytest_asyncio.fixture(autouse=True)
async def clear_alarms(scene: Scene) -> AsyncIterator[None]:
    """Leave no alarm behind for other tests."""
    yield
    runtime.part(index_pass.Progress).apart.clear()
    async with db.worker() as session:
        await session.execute(sa.delete(ChainAlarmRow).where(col(ChainAlarmRow.chain_eid) == SEPOLIA))


@pytest.fixture
def token_at(scene: Scene) -> str:
    return str(scene.asset["deployments"][0]["token_address"])


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch, token_at: str) -> pytest.MonkeyPatch:
    """A fault in Signum, until it is undone: no event of the token can be written."""
    row = indexed_events._row

    def faulty(eid: int, log: Log, owner: Any) -> Any:
        if log.address == token_at:
            raise ValueError("a fault")
        return row(eid, log, owner)

    monkeypatch.setattr(indexed_events, "_row", faulty)
    return monkeypatch


async def unread(scene: Scene) -> list[str]:
    """Return the details of the chain's alarms about contracts that are not read, as the firm sees them."""
    on_chain = (await scene.firm.chain(SEPOLIA))["alarms"]
    return [alarm["detail"] for alarm in on_chain if alarm["kind"] == AlarmKind.UNREADABLE]


async def history(scene: Scene) -> list[int]:
    """Return the KYC levels that the asset has required, newest first."""
    on_chain = await scene.firm.get(f"/assets/{scene.asset['id']}/rules-history")
    return [entry["rules"]["min_kyc_level"] for entry in on_chain["rule_sets"]]


@pytest.mark.long
async def test_alarm_about_skipped_events_is_closed_after_a_repair_writes_them(
    scene: Scene, fault: pytest.MonkeyPatch, token_at: str
) -> None:
    outcome = await scene.firm.owner_call(token.transfer(token_at, scene.trader["address"], UNIT))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    [alarm] = await unread(scene)
    assert token_at in alarm
    report = await scene.run(repairs=True)
    assert {found.kind for found in report.differences} == {"balance"}, "the fault is still there"
    assert await unread(scene) == [alarm]
    fault.undo()
    assert await scene.differences() != {}
    assert await unread(scene) == [alarm], "nothing is repaired yet"
    report = await scene.run(repairs=True)
    assert report.differences == []
    assert await unread(scene) == []


async def test_skipped_events_without_differences_are_written_by_a_repair(
    scene: Scene, fault: pytest.MonkeyPatch
) -> None:
    before = await history(scene)
    change = await scene.firm.patch(f"/assets/{scene.asset['id']}", {"required_kyc_level": 2})
    await scene.firm.succeed(change["requestId"])
    await indexer.catch_up(SEPOLIA, await (await connect(SEPOLIA)).height())
    fault.undo()
    [alarm] = await unread(scene)
    assert await scene.differences() == {}
    assert (await history(scene), await unread(scene)) == (before, [alarm])
    await scene.run(repairs=True)
    assert (await history(scene), await unread(scene)) == ([2, *before], [])


async def test_alarm_about_a_foreign_contract_stays_while_the_tables_name_it(scene: Scene) -> None:
    made = await scene.firm.owner_call(Call(None, ORDER))
    foreign = MarketRow(
        organization_id=scene.firm.id,
        asset_id=scene.asset["id"],
        chain_eid=SEPOLIA,
        status=MarketStatus.FAILED,
        market_address=made.created,
        market_factory_address=made.created,
        block_number=made.block_number,
    )
    async with db.worker() as session:
        session.add(foreign)
    outcome = await scene.firm.owner_call(Call(made.created, "0x"))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    [alarm] = await unread(scene)
    assert (await scene.run(repairs=True)).differences == []
    assert await unread(scene) == [alarm]
    async with db.worker() as session:
        await session.execute(sa.delete(MarketRow).where(col(MarketRow.id) == foreign.id))
    await scene.run(repairs=True)
    assert await unread(scene) == []


async def test_alarm_raised_again_during_a_repair_stays(
    scene: Scene, token_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_again = service.read_again

    async def sound() -> None:
        async with db.worker() as session:
            await alarms.sound_once(session, SEPOLIA, AlarmKind.UNREADABLE, "Events are skipped.", token_at)

    async def with_further_skipped(eid: int, addresses: Iterable[str]) -> set[str]:
        written = await read_again(eid, addresses)
        await sound()
        return written

    await sound()
    with monkeypatch.context() as patch:
        patch.setattr(service, "read_again", with_further_skipped)
        await scene.run(repairs=True)
    assert await unread(scene) == ["Events are skipped."]
    await scene.run(repairs=True)
    assert await unread(scene) == []
