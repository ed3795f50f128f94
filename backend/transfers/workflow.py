"""Workflow of an accepted transfer. When its request has succeeded, the cap table shows it."""

from typing import Any

from backend.assets import records
from backend.assets.transaction_step import write
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import token
from backend.chain.errors import Undone
from backend.chain.indexer import indexer
from backend.chain.models import TransactionStatus
from backend.chain.transactions.execution import find
from backend.core import db
from backend.core.changes import set_status
from backend.core.errors import Conflict, SignumError
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow
from backend.transfers import group_workflow
from backend.transfers.group_workflow import is_moved
from backend.transfers.models import TransferRow
from backend.transfers.schemas import Transfer, TransferStatus

__all__ = ["group_workflow", "send"]


async def send_failed(run: Run, error: SignumError) -> None:
    """Mark the transfer as failed, with the reason. If only a later step failed, the transfer stays confirmed."""
    if await _was_mined(run):
        await _set(run, status=TransferStatus.CONFIRMED, failure=None)
    else:
        undone = isinstance(error, Undone)
        await _set(run, undone=undone, status=TransferStatus.FAILED, failure=error.detail)


async def _was_mined(run: Run) -> bool:
    async with run.transaction() as session:
        row: TransferRow = await session.get_one(TransferRow, run.subject_id)
    stored = await find(run.key("transfer", row.chain_eid))
    return stored is not None and stored.status is TransactionStatus.CONFIRMED


@workflow("transfer.send", on_failure=send_failed)
async def send(run: Run) -> None:
    """Sign, send and wait; read the movement back; wait until the tables show it."""
    row, at = await _begin(run)
    async with run.step("transfer_sent", is_begun=True) as step:
        outcome = await _send(run, step, row, at)
    async with run.step("transfer_confirmed") as step:
        _read_back(outcome, row, at)
        await indexer.catch_up(row.chain_eid, outcome.block_number, outcome.read_at)
        step.detail = f"In block {outcome.block_number}, read back from the chain."
    run.at_success.append(lambda session: _change(session, run, status=TransferStatus.CONFIRMED, failure=None))


async def _begin(run: Run) -> tuple[TransferRow, str]:
    """Begin the first step; return the transfer and its token's address. A failed one that is retried starts again."""
    async with run.transaction() as session:
        row: TransferRow = await session.get_one(TransferRow, run.subject_id, with_for_update=True)
        if row.status is TransferStatus.FAILED:
            await set_status(session, "transfer", Transfer, row, status=TransferStatus.PENDING, failure=None)
        if at := await records.token_on(session, row.asset_id, row.chain_eid):
            await run.begin_step(session, "transfer_sent")
            return row, at
    raise Conflict("The asset no longer has an active token on this chain.")


async def _send(run: Run, step: StepNotes, row: TransferRow, at: str) -> Outcome:
    async def stored(session: db.Write, tx_hash: str) -> None:
        await _change(session, run, status=TransferStatus.SUBMITTING, tx_hash=tx_hash)

    call = token.transfer(at, row.to_address, row.amount or 0)
    return await write(
        run, step, call, "transfer", eid=row.chain_eid, signer=row.from_address, label="transfer", on_stored=stored
    )


def _read_back(outcome: Outcome, row: TransferRow, at: str) -> None:
    """Check that the receipt contains this movement by this token."""
    if not is_moved(outcome, row, at):
        raise Conflict(f"The transaction {outcome.tx_hash} was mined, but it moved something else.")


async def _set(run: Run, *, undone: bool = False, **values: Any) -> None:
    """Record the status; a confirmed transfer stays confirmed unless a reorg has undone it."""
    async with run.transaction() as session:
        await _change(session, run, undone=undone, **values)


async def _change(session: db.Write, run: Run, *, undone: bool = False, **values: Any) -> None:
    row: TransferRow = await session.get_one(TransferRow, run.subject_id, with_for_update=True)
    if undone or row.status is not TransferStatus.CONFIRMED:
        await set_status(session, "transfer", Transfer, row, **values)
