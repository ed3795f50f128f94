"""Events that could not be written and were left out: the alarm stays until a repair has written them."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets import indexing
from backend.chain import alarms, index_pass, indexer, token
from backend.chain.calls import Call
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.chain.outcome import Log
from backend.markets.schemas import MarketStatus
from backend.models import MarketRow
from backend.reconciliation import service
from tests.chain.test_indexer_foreign import ORDER
from tests.firm import SEPOLIA
from tests.issuance import UNIT
from tests.reconciliation.conftest import Scene


@pytest_asyncio.fixture(autouse=True)
async def quiet(scene: Scene) -> AsyncIterator[None]:
    """Leave no alarm behind for other tests."""
    yield
    index_pass._apart.clear()
    async with db.worker() as session:
        await session.execute(sa.delete(ChainAlarmRow).where(col(ChainAlarmRow.chain_eid) == SEPOLIA))


@pytest.fixture
def token_at(scene: Scene) -> str:
    return str(scene.asset["deployments"][0]["token_address"])


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch, token_at: str) -> pytest.MonkeyPatch:
    """A fault of our own, until it is undone: no event of the token can be written."""
    row = indexing._row

    def faulty(eid: int, log: Log, owner: Any) -> Any:
        if log.address == token_at:
            raise ValueError("a fault")
        return row(eid, log, owner)

    monkeypatch.setattr(indexing, "_row", faulty)
    return monkeypatch


async def unread(scene: Scene) -> list[str]:
    """The details of the chain's alarms about contracts that are not read, as the firm sees them."""
    told = (await scene.firm.chain(SEPOLIA))["alarms"]
    return [alarm["detail"] for alarm in told if alarm["kind"] == AlarmKind.UNREADABLE]


async def history(scene: Scene) -> list[int]:
    """The KYC levels that the asset has required, newest first."""
    told = await scene.firm.get(f"/assets/{scene.asset['id']}/rules-history")
    return [entry["rules"]["min_kyc_level"] for entry in told["rule_sets"]]


async def test_alarm_about_left_out_events_is_closed_once_a_repair_has_written_them(
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


async def test_left_out_events_that_no_comparison_misses_are_written_by_a_repair(
    scene: Scene, fault: pytest.MonkeyPatch
) -> None:
    before = await history(scene)
    change = await scene.firm.patch(f"/assets/{scene.asset['id']}", {"required_kyc_level": 2})
    await scene.firm.succeed(change["requestId"])
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


async def test_alarm_that_sounds_again_during_a_repair_stays(
    scene: Scene, token_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_again = service.read_again

    async def sound() -> None:
        async with db.worker() as session:
            await alarms.sound_once(session, SEPOLIA, AlarmKind.UNREADABLE, "Events are left out.", token_at)

    async def while_more_are_left_out(eid: int, addresses: Iterable[str]) -> set[str]:
        written = await read_again(eid, addresses)
        await sound()
        return written

    await sound()
    with monkeypatch.context() as patch:
        patch.setattr(service, "read_again", while_more_are_left_out)
        await scene.run(repairs=True)
    assert await unread(scene) == ["Events are left out."]
    await scene.run(repairs=True)
    assert await unread(scene) == []
