"""Transfers of a group: sent from one wallet on one chain, read back, and recorded when the tables show them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import token
from backend.chain.indexer import indexer
from backend.core.changes import set_statuses
from backend.core.db import Write
from backend.requests import group_rows
from backend.requests.group_rows import Notes
from backend.requests.groups import Group, together
from backend.requests.runs import Run
from backend.transfers.models import TransferRow
from backend.transfers.schemas import Transfer, TransferStatus

Rows = Mapping[UUID, TransferRow]
"""Transfers by their requests."""


@together("transfer.send")
async def send(group: Group) -> None:
    """Send, read the movements back, and wait until the tables show them."""
    async with group.transaction() as session:
        rows = await _pending(session, group.runs)
        tokens = await _tokens(session, rows)
        rows = {one: row for one, row in rows.items() if row.asset_id in tokens}
        if not rows:
            return
        await group_rows.begin_step(session, "transfer_sent", rows.keys())
    first = next(iter(rows.values()))
    calls = {one: token.transfer(tokens[row.asset_id], row.to_address, row.amount or 0) for one, row in rows.items()}

    async def stored(session: Write, hashes: Mapping[UUID, str]) -> None:
        await _change(session, rows, {one: (TransferStatus.SUBMITTING, tx_hash) for one, tx_hash in hashes.items()})

    eid, signer = first.chain_eid, first.from_address
    parts = ["transfer", eid]
    sent = await group.send("transfer_sent", calls, parts, eid=eid, signer=signer, label="transfer", on_stored=stored)
    moved = {one: outcome for one, outcome in sent.items() if is_moved(outcome, rows[one], tokens[rows[one].asset_id])}
    if not moved:
        return
    block, since = max(o.block_number for o in moved.values()), min(o.read_at for o in moved.values())
    await indexer.catch_up(eid, block, since)
    async with group.transaction() as session:
        await _record(session, rows, moved)


def is_moved(outcome: Outcome, row: TransferRow, at: str) -> bool:
    """Return whether a receipt contains a transfer's movement by its token."""
    wanted = (at, row.from_address, row.to_address, row.amount)
    return any((e["_address"], e["from"], e["to"], e["value"]) == wanted for e in outcome.events("Transfer"))


async def _pending(session: Write, runs: Sequence[Run]) -> Rows:
    """Return the transfers that nothing has sent, locked."""
    ids = [run.subject_id for run in runs]
    query = sa.select(TransferRow).where(
        col(TransferRow.id).in_(ids), col(TransferRow.status) == TransferStatus.PENDING
    )
    locked = await session.scalars(query.order_by(col(TransferRow.id)).with_for_update())
    found = {row.id: row for row in locked}
    return {run.request_id: found[run.subject_id] for run in runs if run.subject_id in found}


async def _tokens(session: Write, rows: Rows) -> Mapping[UUID, str]:
    """Return the addresses of the tokens, by asset."""
    places = {(row.asset_id, row.chain_eid) for row in rows.values()}
    found = {asset_id: await records.token_on(session, asset_id, eid) for asset_id, eid in places}
    return {asset_id: at for asset_id, at in found.items() if at}


async def _change(session: Write, rows: Rows, states: Mapping[UUID, tuple[TransferStatus, str]]) -> None:
    """Set status and hash of transfers, by request; a confirmed one keeps its own."""
    by_id = {rows[one].id: state for one, state in states.items()}
    query = sa.select(TransferRow).where(
        col(TransferRow.id).in_(by_id), col(TransferRow.status) != TransferStatus.CONFIRMED
    )
    locked = (await session.scalars(query.order_by(col(TransferRow.id)).with_for_update())).all()
    changes = [(row, dict(zip(("status", "tx_hash"), by_id[row.id], strict=True))) for row in locked]
    await set_statuses(session, "transfer", Transfer, changes)


async def _record(session: Write, rows: Rows, moved: Mapping[UUID, Outcome]) -> None:
    """End the steps and the requests, and confirm the transfers."""
    sent = {one: Notes(outcome.tx_hash, "") for one, outcome in moved.items()}
    read = {
        one: Notes(None, f"In block {outcome.block_number}, read back from the chain.")
        for one, outcome in moved.items()
    }
    await group_rows.note_step(session, "transfer_sent", sent, ends=True)
    await group_rows.note_step(session, "transfer_confirmed", read, ends=True)
    done = await group_rows.conclude(session, moved.keys())
    await _change(session, rows, {one: (TransferStatus.CONFIRMED, moved[one].tx_hash) for one in done})
