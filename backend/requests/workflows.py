"""Durable workflows: work that outlives a request is enqueued in the transaction that writes its rows.

A workflow is a function of a `Run`. It may be killed anywhere and is then run again from its start, so everything it
does must be idempotent: chain transactions are, through their intent's key; rows are set, not added to. It ends in
exactly one of two ways: its request succeeds, or its request fails with the problem that explains why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

import structlog

from backend.chain.errors import MissingEvent
from backend.chain.rpc import json_rpc, node_urls
from backend.chain.transactions import lost_transactions
from backend.chain.transactions.execution import finish_open
from backend.core import db
from backend.core.changes import THE_SYSTEM, Who, acting, publish
from backend.core.errors import Conflict, Denied, NotFound, SignumError, Unavailable, problem
from backend.core.fair_places import Place
from backend.core.roots import root_of
from backend.core.settings import settings
from backend.daily_use import counts
from backend.engine import engine, ownership, versions
from backend.engine.queues import BULK, QUEUE, queue_of
from backend.requests import lanes, resolutions, restarts
from backend.requests import service as requests
from backend.requests.lanes import Lane
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.schemas import FINAL, RequestStatus
from backend.tracing import spans

log = structlog.get_logger()
PATIENCE = 30.0
"""Seconds that a workflow waits for an unresponsive chain, at each call."""
AGAIN = 1.0
"""Seconds until a run that was refused after a reorg starts again."""


class Elsewhere(Exception):
    """Raised to continue the rest of a run in another order: it waits for an external event, and later runs of its own
    order must not wait with it.

    None returns to its own order.
    """

    def __init__(self, order: str | None) -> None:
        super().__init__(order)
        self.order = order


# Declared at import.
_on_failure: dict[str, "OnFailure"] = {}
# Declared at import.
_on_approval: dict[str, "OnApproval"] = {}
# Declared at import.
_on_retry: dict[str, "OnRetry"] = {}
# Declared at import.
_lanes: dict[str, Lane] = {}
"""By the workflow's name."""


Body = Callable[[Run], Awaitable[None]]
OnFailure = Callable[[Run, SignumError], Awaitable[None]]
OnApproval = Callable[[db.Write, RequestRow], Awaitable[None]]
OnRetry = Callable[[db.Write, RequestRow], Awaitable[None]]


def workflow(
    name: str,
    on_failure: OnFailure | None = None,
    on_approval: OnApproval | None = None,
    on_retry: OnRetry | None = None,
    lane: Lane = Lane.ORDINARY,
    version: int = 1,
) -> Callable[[Body], Body]:
    """Register a workflow in a lane. Processes of earlier releases leave a new `version` to others (see
    `engine.versions`).

    `on_failure` sets its rows to their correct final state, also where the request was denied before it started;
    `on_approval` writes rows that require a second person's approval; `on_retry` raises where a failed request may not
    run again because its subject has changed.
    """

    _lanes[name] = lane
    if on_failure is not None:
        _on_failure[name] = on_failure
    if on_approval is not None:
        _on_approval[name] = on_approval
    if on_retry is not None:
        _on_retry[name] = on_retry

    def register(body: Body) -> Body:
        async def run(organization_id: str, request_id: str, hop: str = "0") -> None:
            with json_rpc.patience(PATIENCE), ownership.checked():
                await _run(body, on_failure, UUID(organization_id), UUID(request_id), int(hop), lane)

        versions.register(name, run, version)
        return body

    return register


async def _run(
    body: Body,
    on_failure: OnFailure | None,
    organization_id: UUID,
    request_id: UUID,
    hop: int = 0,
    lane: Lane = Lane.ORDINARY,
) -> None:
    async def once() -> None:
        async with lanes.place(lane, organization_id) as place:
            row, refusal = await _begin(place, organization_id, request_id)
            if row is None or requests.hop_of(row.arguments) != hop:
                return  # it has ended, or continued elsewhere
            run = Run(organization_id, request_id, row.subject_id, row.arguments, row.attempt)
            if refusal is not None:
                with acting(THE_SYSTEM):
                    return await _fail(run, refusal, on_failure)
            if run.is_away:
                place.give_back()  # it waits for hours
            with acting(Who.of(row.origin)), _traced(row):
                await _to_the_end(run, body, on_failure)

    await restarts.despite_faults(once, request_id)


async def _begin(place: Place, organization_id: UUID, request_id: UUID) -> tuple[RequestRow | None, SignumError | None]:
    """Mark a request as running, unless its maker may no longer make it; return also that refusal.

    A queue runs one workflow of an order at a time; across the queues of several workers, they wait here, without a
    place: the run that they wait for may need it.
    """
    while True:
        async with db.step(organization_id) as session:
            if not settings().worker_chains or await requests.is_first(session, request_id):
                return await requests.begin(session, request_id)
        place.give_back()
        await asyncio.sleep(0.2)
        await place.take()


def _traced(row: RequestRow) -> AbstractContextManager[Any]:
    """Continue the trace of the request that was accepted."""
    at = {"signum.request_id": str(row.id), "signum.attempt": row.attempt}
    parent = row.arguments.get(spans.TRACEPARENT)
    return spans.root(f"workflow {row.kind}", parent, "CONSUMER", **at)


async def _to_the_end(run: Run, body: Body, on_failure: OnFailure | None) -> None:
    try:
        await _despite_reorganizations(run, body)
    except (asyncio.CancelledError, *db.FAULTS):
        raise
    except Elsewhere as place:
        await _move(run, place.order)
    except SignumError as error:
        await _fail(run, error, on_failure)
    except Exception as error:
        log.exception("workflow.failed", request=str(run.request_id))
        await _fail(
            run, SignumError("An unexpected error occurred. It is in the log under this request's ID."), on_failure
        )
        del error
    else:
        if not await _concluded(run):
            await finish_open(run.request_id)
            await _concluded(run, leaves_open=True)


async def _concluded(run: Run, *, leaves_open: bool = False) -> bool:
    """Record that a run has done its work; False if a transaction that a run before a crash has sent is still open."""
    async with run.transaction() as session:
        now = await requests.settlement(session, run.request_id)
        if now.has_open and not leaves_open:
            return False
        if now.is_settled:
            await requests.succeed(session, run.request_id)
        else:
            await requests.await_finality(session, run.request_id)
        for write in run.at_success:
            await write(session)
        for outcome in run.outcome:
            await publish(session, run.organization_id, *outcome)
    return True


async def _despite_reorganizations(run: Run, body: Body) -> None:
    """Run a workflow. Run it again where it was refused while transactions that it may depend on are lost, or where an
    embedded chain died in the meantime: until it was restored, it had an older state."""
    ends = 0.0
    while True:
        run.outcome.clear()
        run.at_success.clear()
        nodes = node_urls.starts()
        try:
            await body(run)
            return
        except (Conflict, NotFound, Unavailable, MissingEvent) as refusal:
            ends = ends or time.monotonic() + lost_transactions.LASTS.total_seconds()
            if time.monotonic() > ends or not await _may_be_temporary(run, refusal, nodes):
                raise
            log.info("workflow.refused_after_reorg", request=str(run.request_id), detail=str(refusal))
        await asyncio.sleep(AGAIN)


async def _may_be_temporary(run: Run, refusal: Exception, nodes: tuple[str, ...]) -> bool:
    if nodes != node_urls.starts() or any(node_urls.is_restoring(eid) for eid in node_urls.embedded()):
        return True
    return isinstance(refusal, Conflict | NotFound) and await lost_transactions.may_concern(run.request_id)


async def _move(run: Run, order: str | None) -> None:
    """Enqueue the rest of a run in another order, in the transaction that records it."""
    async with run.transaction() as session:
        row = await requests.move(session, run.request_id, order)
        hop, place = requests.hop_of(row.arguments), requests.order_of(row.arguments)
        await enqueue(session, row.kind, row.organization_id, row.id, row.attempt, place, hop)


def workflow_id(request_id: UUID, attempt: int, hop: int) -> str:
    """Return the engine's id of a request's run."""
    return f"{request_id}:{attempt}" + (f":{hop}" if hop else "")


async def _fail(run: Run, error: SignumError, on_failure: OnFailure | None) -> None:
    """End a request: as denied where it never started, otherwise as failed."""
    if on_failure is not None:
        await on_failure(run, error)
    status = RequestStatus.DENIED if isinstance(error, Denied) else RequestStatus.FAILED
    after, reason = {"status": status, "problem": error.detail}, problem(error, settings().base_url)
    if status is RequestStatus.FAILED:
        reason |= await resolutions.found(run.organization_id, run.request_id, error)
    async with run.transaction() as session:
        if status is RequestStatus.DENIED:
            await counts.forget(session, run.request_id)
            await requests.deny(session, run.request_id, reason)
        else:
            await requests.fail(session, run.request_id, reason, can_retry=error.status != 400)
        await publish(session, run.organization_id, f"request.{status}", ("request", run.request_id), None, after)


async def abandon(organization_id: UUID, request_id: UUID, attempt: int, error: SignumError) -> bool:
    """End a request whose workflow ended without recording it; False where it has ended, or was retried, since.

    A fault of `on_failure` is logged and does not prevent the request's end.
    """
    async with db.step(organization_id) as session:
        row = await session.get(RequestRow, request_id)
    if row is None or row.status in FINAL or row.attempt != attempt:
        return False
    run = Run(organization_id, request_id, row.subject_id, row.arguments, row.attempt)
    with acting(Who.of(row.origin)):
        try:
            await _fail(run, error, _on_failure.get(row.kind))
        except Exception:
            log.exception("request.correction_failed", request=str(request_id))
            await _fail(run, error, None)
    return True


async def release(session: db.Write, row: RequestRow) -> None:
    """Release an approved request: its withheld rows are written, and the workflow is enqueued."""
    if (write := _on_approval.get(row.kind)) is not None:
        await write(session, row)
    row.status = RequestStatus.ACCEPTED
    await enqueue(session, row.kind, row.organization_id, row.id, row.attempt, row.arguments["order"])


async def check_retry(session: db.Write, row: RequestRow) -> None:
    """Raise the refusal of the request's workflow, where the request may not run again."""
    if (check := _on_retry.get(row.kind)) is not None:
        await check(session, row)


async def withdraw(session: db.Write, row: RequestRow, error: Denied) -> None:
    """End a denied request and its rows in the caller's transaction."""
    run = Run(row.organization_id, row.id, row.subject_id, row.arguments, row.attempt, within=session)
    if (clean_up := _on_failure.get(row.kind)) is not None:
        await clean_up(run, error)
    await requests.deny(session, row.id, problem(error, settings().base_url))


async def enqueue(
    session: db.Write, name: str, organization_id: UUID, request_id: UUID, attempt: int, order: str, hop: int = 0
) -> None:
    """Enqueue a request's workflow in the caller's transaction: after a rollback it is not enqueued.

    `order` names what must run one after another, such as an asset's id; bulk work of a root does so in any case.
    """
    run_id, queue = workflow_id(request_id, attempt, hop), await queue_for(session, name, request_id)
    of = str(await root_of(session, organization_id)) if queue == BULK else order
    await engine.submit(session, name, run_id, str(organization_id), str(request_id), str(hop), queue=queue, of=of)


async def queue_for(session: db.Write, name: str, request_id: UUID) -> str:
    """Return the queue for bulk work, or of a request's first chain, where that chain has its own workers."""
    if _lanes.get(name) is Lane.BULK:
        return BULK
    if not settings().worker_chains:
        return QUEUE
    eid = await requests.first_chain(session, request_id)
    return queue_of(eid) if eid in settings().worker_chains else QUEUE
