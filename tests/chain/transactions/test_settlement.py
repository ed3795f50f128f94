"""Transactions that change after their end: superseded, reorganized, mined twice, and compared again on demand."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.alarms import list_open
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.models import AlarmKind, TransactionRow, TransactionStatus
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import corrections, settlement
from backend.chain.transactions.corrections import lineage
from backend.core import db
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import counted, row_of


@pytest.fixture
def immediate_settlement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    monkeypatch.setattr(settlement, "SEARCH", 0.0)
    monkeypatch.setattr(settlement, "RECHECK", timedelta(0))


async def change(of: str, **values: Any) -> None:
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.key) == of).values(**values))


GIVEN_UP = {
    "status": TransactionStatus.FAILED,
    "block_number": None,
    "block_hash": None,
    "receipt": None,
}
LONG_AGO = datetime.fromtimestamp(0, UTC)


async def test_intent_lineage_lists_every_signed_transaction(stage: Stage, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    for _ in range(2):
        with pytest.raises(Reverted):
            await stage.do(HOME_EID, stage.treasury, token.burn(at, 101), key="lineage")
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="lineage")
    await change("lineage", status=TransactionStatus.FAILED, key="lineage#failed0")
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="lineage:other")
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="lineage")
    async with db.worker() as session:
        assert [row.key for row in await lineage(session, "lineage")] == ["lineage", "lineage#failed0"]


async def test_intent_mined_twice_raises_an_alarm(
    stage: Stage, open_rules: TokenRules, immediate_settlement: None
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    first = await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="mined twice")
    await change("mined twice", key="mined twice#failed0", updated_at=LONG_AGO, **GIVEN_UP)
    second = await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="mined twice")
    await settlement.settle(await connect(HOME_EID))
    assert (await row_of("mined twice#failed0")).status is TransactionStatus.CONFIRMED
    async with db.worker() as session:
        alarms = [alarm for alarm in await list_open(session, HOME_EID) if alarm.subject == "mined twice"]
        await session.execute(sa.delete(type(alarms[0])))
    assert [alarm.kind for alarm in alarms] == [AlarmKind.EXECUTED_TWICE]
    assert first.tx_hash in alarms[0].detail
    assert second.tx_hash in alarms[0].detail


async def test_two_transactions_of_an_intent_confirmed_together_raise_an_alarm(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    """One commits its confirmation while the other one looks for it."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="same time")
    await change("same time", key="same time#failed0", status=TransactionStatus.FAILED)
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="same time")
    await change("same time", status=TransactionStatus.FAILED)

    async def confirm(key: str, until: asyncio.Event | None = None) -> None:
        async with db.worker() as session:
            row = (await session.execute(sa.select(TransactionRow).where(col(TransactionRow.key) == key))).scalar_one()
            row.status = TransactionStatus.CONFIRMED
            await session.flush()
            await corrections.check_twice(session, row)
            if until is not None:
                await until.wait()

    commits = asyncio.Event()
    first = asyncio.create_task(confirm("same time", commits))
    second = asyncio.create_task(confirm("same time#failed0", commits))
    waits = "select exists (select from pg_locks where locktype = 'advisory' and not granted)"
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as owner, asyncio.timeout(20):
        while (await (await owner.execute(waits)).fetchone()) != (True,):  # noqa: ASYNC110 - a lock
            await asyncio.sleep(0.01)
    commits.set()
    await asyncio.gather(first, second)
    async with db.worker() as session:
        (alarm,) = [alarm for alarm in await list_open(session, HOME_EID) if alarm.subject == "same time"]
        await session.execute(sa.delete(type(alarm)))
    assert alarm.kind == AlarmKind.EXECUTED_TWICE


async def test_intent_mined_before_its_second_transaction_raises_an_alarm(
    stage: Stage, open_rules: TokenRules, immediate_settlement: None
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    first = await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="found first")
    await change("found first", key="found first#failed0", updated_at=LONG_AGO, **GIVEN_UP)
    await settlement.settle(await connect(HOME_EID))
    assert (await row_of("found first#failed0")).status is TransactionStatus.CONFIRMED
    second = await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="found first")
    async with db.worker() as session:
        (alarm,) = [alarm for alarm in await list_open(session, HOME_EID) if alarm.subject == "found first"]
        await session.execute(sa.delete(type(alarm)))
    assert alarm.kind == AlarmKind.EXECUTED_TWICE
    assert first.tx_hash in alarm.detail
    assert second.tx_hash in alarm.detail


async def test_superseded_transaction_that_is_reorganized_is_cancelled(
    stage: Stage, open_rules: TokenRules, immediate_settlement: None
) -> None:
    """It was refused and its intent was signed again. After a reorganization it could pass, so it is replaced."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    chain, signer = await connect(HOME_EID), stage.treasury
    await stage.do(HOME_EID, signer, token.burn(at, 1), key="cancelled")
    await change("cancelled", status=TransactionStatus.FAILED, key="cancelled#failed0", problem={"detail": "Refused."})
    height, before = await chain.height(), await counted(signer)
    await chain.request("evm_setAutomine", False)
    await chain.request("anvil_reorg", 1, [])
    await settlement.follow_reorg(chain, height - 1)
    row = await row_of("cancelled#failed0")
    assert (row.to_address, row.data, len(row.earlier)) == (signer, "0x", 1)
    await chain.request("evm_setAutomine", True)
    await chain.request("evm_mine")
    await settlement.settle_open(chain)
    assert (await row_of("cancelled#failed0")).tx_hash == row.tx_hash
    assert await counted(signer) == before
    assert await token.total_supply(HOME_EID, at) == 100


async def test_transaction_marked_failed_is_compared_immediately_on_request(
    stage: Stage, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 1), key="due")
    await change("due", **GIVEN_UP)
    monkeypatch.setattr(settlement, "SEARCH", 0.0)
    await settlement.settle(await connect(HOME_EID))
    row = await row_of("due")
    assert row.status is TransactionStatus.FAILED, "it was searched for a moment ago"
    await corrections.check(HOME_EID, [row.id])
    await settlement.settle(await connect(HOME_EID))
    assert (await row_of("due")).status is TransactionStatus.CONFIRMED
