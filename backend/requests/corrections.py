"""Corrections of requests when the outcome of their transactions changes.

A request that failed although its transaction was mined runs again and finds it. One that succeeded with a transaction
that a reorg removed is running until the transaction is included again. One that waits for finality succeeds when its
last transaction is final, or fails with the transaction. The system writes each correction to the audit log.
"""

from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.errors import Undone
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.transactions.corrections import Change
from backend.core import db
from backend.core.changes import THE_SYSTEM, acting, publish
from backend.engine import engine
from backend.requests import service, workflows
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus

log = structlog.get_logger()


async def follow(session: db.Write, row: TransactionRow, change: Change) -> None:
    """Correct the request of a transaction whose outcome changed, in the transaction that changes it."""
    if row.request_id is None:
        return
    request: RequestRow | None = await session.get(RequestRow, row.request_id, with_for_update=True)
    if request is None:
        return
    with acting(THE_SYSTEM):
        if change is Change.FOUND:
            await _note(session, request, row, "The transaction was marked failed but has been mined.")
        if change is Change.LOST:
            await _reopen(session, request, row)
        elif change is Change.ALTERED:
            await _run_altered(session, request, row)
        elif request.status is RequestStatus.FAILED and row.status is TransactionStatus.CONFIRMED:
            await _run_again(session, request, row, change)


async def _reopen(session: db.Write, request: RequestRow, row: TransactionRow) -> None:
    if request.status is not RequestStatus.SUCCEEDED:
        return
    request.status, request.awaits_finality = RequestStatus.RUNNING, True
    await _note(
        session, request, row, "A chain reorganization removed the transaction from its block. It was sent again."
    )


async def _run_altered(session: db.Write, request: RequestRow, row: TransactionRow) -> None:
    """Read identifiers and addresses from the new receipt, as a run after a crash does."""
    if not request.awaits_finality:
        return  # it failed, or is running and reads the receipt itself
    await _enqueue(
        session, request, row, "The transaction was included again with a different result, which is being read."
    )


async def _run_again(session: db.Write, request: RequestRow, row: TransactionRow, change: Change) -> None:
    """Run the request again only if it failed for lack of this transaction's outcome.

    With a transaction that was included before, it failed for another reason.
    """
    if change is Change.SETTLED and row.reopened_at is not None:
        return
    await _enqueue(session, request, row, "The transaction is mined; the request continues.")


async def _enqueue(session: db.Write, request: RequestRow, row: TransactionRow, reason: str) -> None:
    if not engine.is_running():
        return
    await service.reopen(session, request)
    await _note(session, request, row, reason)
    order = request.arguments["order"]
    await workflows.enqueue(session, request.kind, request.organization_id, request.id, request.attempt, order)


async def _note(session: db.Write, request: RequestRow, row: TransactionRow, reason: str) -> None:
    facts = {"status": request.status, "tx_hash": row.tx_hash, "chain_eid": row.chain_eid, "reason": reason}
    await publish(session, request.organization_id, "request.corrected", ("request", request.id), None, facts)
    log.warning("request.corrected", request=str(request.id), tx_hash=row.tx_hash, reason=reason)


async def settle_awaiting(eid: int) -> None:
    """End the requests that wait for the finality of transactions on a chain, where none remains to wait for."""
    ours = sa.select(col(TransactionRow.id)).where(
        col(TransactionRow.request_id) == col(RequestRow.id), col(TransactionRow.chain_eid) == eid
    )
    waiting = sa.select(col(RequestRow.id), col(RequestRow.organization_id)).where(
        col(RequestRow.awaits_finality), ours.exists()
    )
    async with db.worker() as session:
        rows = (await session.execute(waiting)).all()
    for request_id, organization_id in rows:
        await _settle(organization_id, request_id)


async def _settle(organization_id: UUID, request_id: UUID) -> None:
    with acting(THE_SYSTEM):
        async with db.step(organization_id) as session:
            request = await session.get_one(RequestRow, request_id, with_for_update=True)
            if not request.awaits_finality:
                return
            failed = await service.failed_transaction(session, request_id)
            if failed is None and (await service.settlement(session, request_id)).is_settled:
                await service.succeed(session, request_id)
                return
            attempt = request.attempt
        if failed is not None:
            await workflows.abandon(organization_id, request_id, attempt, Undone.restored(failed))
