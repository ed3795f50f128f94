"""Statements about the requests of a group, and their steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.core.db import Write
from backend.core.recorded_time import recorded_now
from backend.requests import revoked_makers
from backend.requests import service as requests
from backend.requests.models import RequestRow, RequestStepRow
from backend.requests.schemas import RequestStatus, StepStatus

_NOTED = sa.text(
    "update request_steps s set updated_at = :at, tx_hash = v.tx_hash, detail = v.detail, status = :status,"
    " started_at = coalesce(s.started_at, :at), finished_at = cast(:finished as timestamptz)"
    " from unnest(cast(:ids as uuid[]), cast(:hashes as text[]), cast(:details as text[])) v(id, tx_hash, detail)"
    " where s.request_id = v.id and s.name = :name and s.status <> 'succeeded'"
)


@dataclass(frozen=True)
class Notes:
    """Notes of a request's step."""

    tx_hash: str | None
    detail: str


async def begin(session: Write, ids: Collection[UUID]) -> Sequence[RequestRow]:
    """Mark requests as running that were never started, and return them: none where their maker may no longer make
    them, so that each is refused by its own run."""
    query = sa.select(RequestRow).where(
        col(RequestRow.id).in_(ids), col(RequestRow.status) == RequestStatus.ACCEPTED, col(RequestRow.attempt) == 1
    )
    rows = (await session.scalars(query.order_by(col(RequestRow.id)).with_for_update())).all()
    if not rows or await revoked_makers.refusal(session, rows[0]):
        return []
    mine = [row for row in rows if row.origin == rows[0].origin]
    for row in mine:
        row.status = RequestStatus.RUNNING
    return mine


async def unfinished(session: Write, ids: Collection[UUID]) -> Sequence[RequestRow]:
    """Return the requests that have not ended, except those that a person has retried since."""
    query = sa.select(RequestRow).where(
        col(RequestRow.id).in_(ids),
        col(RequestRow.status).in_([RequestStatus.ACCEPTED, RequestStatus.RUNNING]),
        sa.not_(col(RequestRow.awaits_finality)),
        col(RequestRow.attempt) == 1,
    )
    return (await session.scalars(query.order_by(col(RequestRow.id)))).all()


async def note_step(session: Write, name: str, notes: Mapping[UUID, Notes], *, ends: bool = False) -> None:
    """Show a step of each request as running, or as succeeded, with its notes."""
    at = recorded_now()
    status = StepStatus.SUCCEEDED if ends else StepStatus.RUNNING
    values = {
        "at": at,
        "name": name,
        "status": status,
        "finished": at if ends else None,
        "ids": list(notes),
        "hashes": [one.tx_hash for one in notes.values()],
        "details": [one.detail for one in notes.values()],
    }
    await session.execute(_NOTED, values)


async def begin_step(session: Write, name: str, ids: Collection[UUID]) -> None:
    """Show a step of each request as running."""
    at = recorded_now()
    update = sa.update(RequestStepRow).where(col(RequestStepRow.request_id).in_(ids), col(RequestStepRow.name) == name)
    update = update.values(updated_at=at, started_at=at, status=StepStatus.RUNNING)
    await session.execute(update.execution_options(synchronize_session=False))


async def conclude(session: Write, ids: Collection[UUID]) -> set[UUID]:
    """Record that requests have done their work, and return them: all but those with an open transaction. A request
    whose transactions lack the finality that its success requires succeeds later."""
    found = await requests.settlements(session, ids)
    done = [one for one in ids if not found[one].has_open]
    settled = [one for one in done if found[one].is_settled]
    if settled:
        await requests.succeed(session, *settled)
    if waiting := [one for one in done if one not in settled]:
        await requests.await_finality(session, *waiting)
    return set(done)
