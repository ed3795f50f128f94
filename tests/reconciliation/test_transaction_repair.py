"""Repairs of transactions: those that the chain mined after all, and the requests that failed with them."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.models import TransactionStatus
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import settlement
from backend.chain.transactions.broadcast import OPEN
from backend.core import db
from backend.models import RequestRow, RequestStepRow, TransactionRow
from backend.reconciliation import transactions
from backend.requests.schemas import RequestStatus, StepStatus
from tests.reconciliation.conftest import Scene
from tests.support.firm import SEPOLIA


@pytest.fixture
def immediate_settlement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that indexes searches for transactions immediately."""
    monkeypatch.setattr(settlement, "SEARCH", 0.0)


async def newest(scene: Scene) -> TransactionRow:
    """Return the firm's newest confirmed transaction that a step of a request shows."""
    query = (
        sa.select(TransactionRow)
        .join(RequestStepRow, col(RequestStepRow.tx_hash) == col(TransactionRow.tx_hash))
        .where(col(TransactionRow.organization_id) == scene.firm.id, col(TransactionRow.request_id).is_not(None))
        .where(col(TransactionRow.status) == TransactionStatus.CONFIRMED)
        .order_by(col(TransactionRow.block_number).desc())
    )
    async with db.worker() as session:
        return (await session.scalars(query.limit(1))).one()


@pytest.mark.long
async def test_transaction_marked_failed_that_is_mined_is_corrected(scene: Scene, immediate_settlement: None) -> None:
    row = await newest(scene)
    lost = {"status": TransactionStatus.FAILED, "block_number": None, "block_hash": None, "finality": None}
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**lost))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.table, found.chain) for found in report.repaired] == [("transaction", "failed", "mined")]
    assert report.differences == []
    async with db.worker() as session:
        now = await session.get_one(TransactionRow, row.id)
    assert (now.status, now.block_number) == (TransactionStatus.CONFIRMED, row.block_number)


@pytest.mark.long
async def test_transaction_in_a_block_outside_the_chain_is_corrected(scene: Scene, immediate_settlement: None) -> None:
    row = await newest(scene)
    wrong = {"block_hash": "0x" + "99" * 32}
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**wrong))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.what) for found in report.repaired] == [("transaction", "block")]


@pytest.mark.long
async def test_failed_request_with_a_mined_transaction_is_an_alarm(
    scene: Scene, immediate_settlement: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "CORRECTED_WITHIN", 5.0)
    await all_settled(scene, monkeypatch)
    row = await newest(scene)
    here, step = col(RequestRow.id) == row.request_id, col(RequestStepRow.tx_hash) == row.tx_hash
    problem = {"status": 503, "title": "Service Unavailable", "detail": "The chain did not answer."}
    await set_request(here, step, RequestStatus.FAILED, StepStatus.FAILED, problem)
    try:
        report = await scene.run(repairs=True)
        assert [(found.kind, found.what) for found in report.differences] == [("request", "status")], report
        details = [alarm["detail"] for alarm in (await scene.firm.chain(SEPOLIA))["alarms"]]
        assert any("requests failed although their transactions succeeded; retry them" in words for words in details)
        assert str(row.request_id) not in str(details)
    finally:
        await set_request(here, step, RequestStatus.SUCCEEDED, StepStatus.SUCCEEDED, None)
    assert await scene.differences() == {}


async def all_settled(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settle what earlier tests reopened, and the requests that wait for it: settled later, it would correct them."""
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    left = sa.or_(col(TransactionRow.status).in_(OPEN), col(TransactionRow.is_check_due))
    ours = col(TransactionRow.organization_id) == scene.firm.id, col(RequestRow.organization_id) == scene.firm.id
    open_ones = sa.select(
        sa.or_(sa.exists().where(left, ours[0]), sa.exists().where(col(RequestRow.awaits_finality), ours[1]))
    )
    rpc = await connect(SEPOLIA)
    while True:
        await settlement.settle(rpc)
        async with db.worker() as session:
            if not await session.scalar(open_ones):
                return


async def set_request(here: Any, step: Any, status: RequestStatus, step_status: StepStatus, problem: Any) -> None:
    async with db.worker() as session:
        await session.execute(sa.update(RequestRow).where(here).values(status=status, problem=problem))
        await session.execute(sa.update(RequestStepRow).where(step).values(status=step_status))
