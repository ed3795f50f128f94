"""Requests: writing, progress, end and retry.

`accept` needs the workflow engine, which needs this module to note progress: it reaches the engine's `enqueue` through
`backend.requests.accept`, so that the dependency has one direction.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc.terms import reaches, terms_of
from backend.chain.transactions.broadcast import OPEN
from backend.chain.transactions.corrections import SUPERSEDED
from backend.core import locks
from backend.core.changes import who
from backend.core.db import Read, Write
from backend.core.errors import Conflict
from backend.core.locks import Purpose
from backend.core.recorded_time import recorded_now
from backend.requests import resolved_values, revoked_makers
from backend.requests.models import ApprovalRow, RequestRow, RequestStepRow
from backend.requests.schemas import ApprovalStatus, RequestStatus, StepStatus
from backend.users.models import UserRow

HOP, AWAY = "hop", "away"
"""Names in a request's arguments: how often its run moved to another order, and its current order."""
GROUP = "group"
"""Name in a request's arguments: the engine's ID of its group's run (`backend.requests.groups`)."""


@dataclass(frozen=True)
class Settlement:
    """Whether transactions of a request are open, and whether all of them have the finality that a success requires."""

    has_open: bool
    is_settled: bool


@dataclass(frozen=True)
class Step:
    """A planned step."""

    name: str
    title: str
    chain_eid: int | None = None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A request to write, with its steps."""

    organization_id: UUID
    kind: str
    title: str
    subject_type: str
    subject_id: UUID
    scope: str
    steps: Sequence[Step]
    created_by: UUID | None
    arguments: dict[str, Any] = field(default_factory=dict)


async def write(session: Write, wanted: Wanted) -> RequestRow:
    """Write a request and its steps."""
    return (await write_all(session, [wanted]))[0]


async def write_all(session: Write, wanted: Sequence[Wanted]) -> Sequence[RequestRow]:
    """Write requests and their steps."""
    rows = [
        RequestRow(**{name: value for name, value in vars(one).items() if name != "steps"}, origin=who().noted())
        for one in wanted
    ]
    session.add_all(rows)
    await session.flush()
    session.add_all(
        RequestStepRow(
            organization_id=row.organization_id,
            request_id=row.id,
            position=position,
            name=step.name,
            title=step.title,
            chain_eid=step.chain_eid,
        )
        for row, one in zip(rows, wanted, strict=True)
        for position, step in enumerate(one.steps)
    )
    await session.flush()
    return rows


def hop_of(arguments: Mapping[str, Any]) -> int:
    """Return how often a request's run has moved to another order."""
    return int(arguments.get(HOP, 0))


def order_of(arguments: Mapping[str, Any]) -> str:
    """Return the order in which a request currently runs."""
    return str(arguments.get(AWAY) or arguments.get("order", ""))


async def move(session: Write, request_id: UUID, order: str | None) -> RequestRow:
    """Note that a request's run moves to another order, or back to its own (None)."""
    row: RequestRow = await session.get_one(RequestRow, request_id, with_for_update=True)
    kept = {name: value for name, value in row.arguments.items() if name != AWAY}
    row.arguments = kept | {HOP: hop_of(row.arguments) + 1} | ({AWAY: order} if order else {})
    return row


async def is_first(session: Write, request_id: UUID) -> bool:
    """Return whether no other request of the same order is running.

    The order is locked until the transaction's end, so the next caller sees its effect.
    """
    row: RequestRow | None = await session.get(RequestRow, request_id)
    if row is None:
        return True
    order = order_of(row.arguments)
    await locks.wait(session, Purpose.REQUEST_ORDER, order)
    others = sa.select(col(RequestRow.id)).where(
        col(RequestRow.organization_id) == row.organization_id,
        col(RequestRow.id) != request_id,
        col(RequestRow.status) == RequestStatus.RUNNING,
        sa.not_(col(RequestRow.awaits_finality)),
        sa.func.coalesce(col(RequestRow.arguments)[AWAY].astext, col(RequestRow.arguments)["order"].astext) == order,
    )
    return await session.scalar(others.limit(1)) is None


async def first_chain(session: Write, request_id: UUID) -> int | None:
    """Return the chain of the first step that has one."""
    steps = (
        sa.select(col(RequestStepRow.chain_eid))
        .where(col(RequestStepRow.request_id) == request_id, col(RequestStepRow.chain_eid).is_not(None))
        .order_by(col(RequestStepRow.position))
    )
    eid: int | None = await session.scalar(steps.limit(1))
    return eid


async def chains_of(session: Write, request_id: UUID) -> Sequence[int]:
    """Return the chains of a request's steps."""
    steps = sa.select(col(RequestStepRow.chain_eid)).distinct().where(col(RequestStepRow.request_id) == request_id)
    return [eid for eid in await session.scalars(steps) if eid is not None]


async def has_sent(session: Write, request_id: UUID, what: str | None = None) -> bool:
    """Return whether a transaction of a request has reached a chain, or may still reach it. `what` is the first part of
    its key; any by default."""
    query = sa.select(col(TransactionRow.id)).where(
        col(TransactionRow.request_id) == request_id,
        col(TransactionRow.status) != TransactionStatus.FAILED,
        col(TransactionRow.key).startswith(f"{request_id}:{what}:") if what else sa.true(),
    )
    return await session.scalar(query.limit(1)) is not None


async def begin(session: Write, request_id: UUID) -> tuple[RequestRow | None, Conflict | None]:
    """Mark a request as running; None where it has already ended (a repeated run). Return also why it may not start,
    where its maker may no longer make it, or it is not what was approved: it stays accepted."""
    query = sa.select(RequestRow, col(ApprovalRow.executes)).where(col(RequestRow.id) == request_id)
    query = query.outerjoin(ApprovalRow, col(ApprovalRow.request_id) == col(RequestRow.id))
    locked = query.with_for_update(of=RequestRow).execution_options(populate_existing=True)
    row, approved = (await session.execute(locked)).one_or_none() or (None, None)
    if row is None or row.awaits_finality or row.status not in (RequestStatus.ACCEPTED, RequestStatus.RUNNING):
        return None, None
    refusal = None
    if row.status is RequestStatus.ACCEPTED:
        refusal = await revoked_makers.refusal(session, row) or await resolved_values.refusal(session, row, approved)
    if refusal is None:
        row.status = RequestStatus.RUNNING
    return row, refusal


async def settlement(session: Write, request_id: UUID) -> Settlement:
    """Return how far the transactions of a request are."""
    return (await settlements(session, [request_id]))[request_id]


async def settlements(session: Write, request_ids: Collection[UUID]) -> Mapping[UUID, Settlement]:
    """Return how far the transactions of each request are."""
    names = ("request_id", "chain_eid", "finality", "key", "status")
    query = sa.select(*(col(getattr(TransactionRow, name)) for name in names))
    found = defaultdict[UUID, list[Any]](list)
    for row in await session.execute(query.where(col(TransactionRow.request_id).in_(request_ids))):
        found[row.request_id].append(row)
    return {request_id: _settlement(found[request_id]) for request_id in request_ids}


def _settlement(rows: Sequence[Any]) -> Settlement:
    settled = (SUPERSEDED in row.key or reaches(row.finality, terms_of(row.chain_eid).succeeds_at) for row in rows)
    return Settlement(any(row.status in OPEN for row in rows), all(settled))


async def failed_transaction(session: Write, request_id: UUID) -> dict[str, Any] | None:
    """Return the problem of a transaction that failed after a reorganization and was not signed again, if any."""
    query = sa.select(col(TransactionRow.problem), col(TransactionRow.chain_eid)).where(
        col(TransactionRow.request_id) == request_id,
        col(TransactionRow.status) == TransactionStatus.FAILED,
        col(TransactionRow.reopened_at).is_not(None),
        sa.not_(col(TransactionRow.key).contains(SUPERSEDED)),
    )
    found = (await session.execute(query.limit(1))).first()
    if found is None:
        return None
    return (found.problem or {"detail": "The transaction failed."}) | {"eid": found.chain_eid}


async def await_finality(session: Write, *request_ids: UUID) -> None:
    """Mark the work of requests as done; they succeed once their transactions reach the required finality."""
    await session.execute(
        sa.update(RequestRow)
        .where(col(RequestRow.id).in_(request_ids))
        .values(updated_at=recorded_now(), awaits_finality=True)
    )


async def succeed(session: Write, *request_ids: UUID) -> None:
    """End requests as succeeded."""
    await _end(session, *request_ids, status=RequestStatus.SUCCEEDED, problem=None, can_retry=False)


async def deny(session: Write, request_id: UUID, problem: dict[str, Any]) -> None:
    """End a request as denied; it never started."""
    await _end(session, request_id, status=RequestStatus.DENIED, problem=problem, can_retry=False)


async def fail(session: Write, request_id: UUID, problem: dict[str, Any], can_retry: bool) -> None:
    """End a request as failed, with its problem. Steps that never started stay waiting."""
    await session.execute(
        sa.update(RequestStepRow)
        .where(col(RequestStepRow.request_id) == request_id, col(RequestStepRow.status) == StepStatus.RUNNING)
        .values(status=StepStatus.FAILED, finished_at=recorded_now(), detail=problem.get("detail"))
    )
    await _end(session, request_id, status=RequestStatus.FAILED, problem=problem, can_retry=can_retry)


async def _end(session: Write, *request_ids: UUID, **values: Any) -> None:
    await session.execute(
        sa.update(RequestRow)
        .where(col(RequestRow.id).in_(request_ids))
        .values(updated_at=recorded_now(), awaits_finality=False, **values)
    )


async def begin_step(session: Write, request_id: UUID, name: str) -> None:
    """Start a step. One that succeeded in an earlier run is unchanged."""
    await _step(
        session,
        request_id,
        name,
        only=(StepStatus.WAITING, StepStatus.RUNNING, StepStatus.FAILED),
        status=StepStatus.RUNNING,
        started_at=sa.func.coalesce(col(RequestStepRow.started_at), recorded_now()),
        finished_at=None,
    )


async def note_step(session: Write, request_id: UUID, name: str, tx_hash: str | None, detail: str | None) -> None:
    """Show progress while a step runs."""
    await _step(session, request_id, name, only=(StepStatus.RUNNING,), tx_hash=tx_hash, detail=detail)


async def end_step(session: Write, request_id: UUID, name: str, tx_hash: str | None, detail: str | None) -> None:
    """End a step as succeeded."""
    await _step(
        session,
        request_id,
        name,
        only=(StepStatus.RUNNING,),
        status=StepStatus.SUCCEEDED,
        finished_at=recorded_now(),
        tx_hash=tx_hash,
        detail=detail,
    )


async def fail_step(session: Write, request_id: UUID, name: str, detail: str) -> None:
    """End a step as failed."""
    await _step(
        session,
        request_id,
        name,
        only=(StepStatus.RUNNING,),
        status=StepStatus.FAILED,
        finished_at=recorded_now(),
        detail=detail,
    )


async def _step(session: Write, request_id: UUID, name: str, only: Sequence[StepStatus], **values: Any) -> None:
    await session.execute(
        sa.update(RequestStepRow)
        .where(
            col(RequestStepRow.request_id) == request_id,
            col(RequestStepRow.name) == name,
            col(RequestStepRow.status).in_(only),
        )
        .values(updated_at=recorded_now(), **values)
        .execution_options(synchronize_session=False)  # no session that writes a step has read it
    )


async def reopen(session: Write, row: RequestRow) -> None:
    """Make a failed request ready to run again: its failed steps return to waiting."""
    row.status, row.problem, row.can_retry, row.attempt = RequestStatus.ACCEPTED, None, False, row.attempt + 1
    row.awaits_finality, row.origin = False, who().noted()
    row.arguments = {name: value for name, value in row.arguments.items() if name not in (HOP, AWAY)}
    await session.execute(
        sa.update(RequestStepRow)
        .where(col(RequestStepRow.request_id) == row.id, col(RequestStepRow.status) == StepStatus.FAILED)
        .values(status=StepStatus.WAITING, started_at=None, finished_at=None, detail=None)
    )
    await session.flush()


async def approver_name(session: Read | Write, request_id: UUID) -> str | None:
    """Return the name of the second person who approved a request; None for one that needed no one."""
    name = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email))
    query = sa.select(name).join(ApprovalRow, col(ApprovalRow.decided_by) == col(UserRow.id))
    approved = (col(ApprovalRow.request_id) == request_id, col(ApprovalRow.status) == ApprovalStatus.APPROVED)
    return await session.scalar(query.where(*approved))


async def kind_of(session: Read | Write, request_id: UUID) -> str:
    """Return the kind of a request that exists."""
    return str(await session.scalar(sa.select(col(RequestRow.kind)).where(col(RequestRow.id) == request_id)))
