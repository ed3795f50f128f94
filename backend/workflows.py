"""The durable engine: what outlives a request is a workflow, enqueued in the transaction that writes its rows.

A workflow is a function of a `Run`. It may be killed anywhere and is then run again from its start, so everything it
does must be idempotent: chain transactions are, by their intent's key; rows are set, not added to. It ends in
exactly one of two ways: its request succeeded, or its request failed with the problem that says why.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from dbos import DBOS, DBOSClient, DBOSConfig
from sqlalchemy.ext.asyncio import AsyncSession

from backend import bell, db, logins
from backend.chain import lost_transactions, rpc
from backend.chain.transactions import finish_open
from backend.changes import Who, acting, tell
from backend.errors import Conflict, Denied, NotFound, SignumError, problem
from backend.queues import QUEUE, queue_of
from backend.requests import service as requests
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL, RequestStatus
from backend.settings import settings
from backend.workflow_rows import ROWS, refuse_pickles

log = structlog.get_logger()
PATIENCE = 30.0
"""Seconds a workflow waits for a chain that does not answer, at each call."""
AGAIN = 1.0
"""Seconds until a run that a reorganization has refused begins again."""
ENDED = 0.02
"""Seconds after a run's end until the engine has written it down, and the next of its order can begin."""
VERSION = "1"
"""Fixed, so that an upgrade of the code recovers what the version before it left."""


class _Engine:
    client: DBOSClient | None = None


class Elsewhere(Exception):
    """What is left of a run goes on in another order: it waits for somebody else, and what follows in its own order
    must not wait with it. None goes back to its own order."""

    def __init__(self, order: str | None) -> None:
        super().__init__(order)
        self.order = order


_on_failure: dict[str, "OnFailure"] = {}
_on_approval: dict[str, "OnApproval"] = {}
_on_retry: dict[str, "OnRetry"] = {}
"""By the workflow's name."""


@dataclass(frozen=True)
class Run:
    """One run of a workflow: whose request it is and what it is about."""

    organization_id: UUID
    request_id: UUID
    subject_id: UUID
    arguments: dict[str, Any]
    attempt: int
    outcome: list[tuple[Any, ...]] = field(default_factory=list)
    within: db.Write | None = None
    """The transaction that all of it happens in, where it is one: a request that is denied before it began."""

    def tells(self, action: str, subject: tuple[str, UUID | str], after: dict[str, Any]) -> None:
        """Tell of what has no row of its own to change: with the request's success, and so once however often this
        is run."""
        self.outcome.append((action, subject, None, after))

    @property
    def is_away(self) -> bool:
        """Whether it runs in another order than its own now (see `Elsewhere`)."""
        return requests.AWAY in self.arguments

    def key(self, *parts: object) -> str:
        """The key of an intent: the same one in every run of this request."""
        return ":".join([str(self.request_id), *map(str, parts)])

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[db.Write]:
        """A transaction that sees the request's organization."""
        if self.within is not None:
            yield self.within
            return
        async with db.step(self.organization_id) as session:
            yield session

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator["StepNotes"]:
        """Show a step as running, then as succeeded with what its notes say; as failed where it raises."""
        notes = StepNotes(self, name)
        async with self.transaction() as session:
            await requests.begin_step(session, self.request_id, name)
        try:
            yield notes
        except SignumError as error:
            async with self.transaction() as session:
                await requests.fail_step(session, self.request_id, name, error.detail)
            raise
        async with self.transaction() as session:
            await requests.end_step(session, self.request_id, name, notes.tx_hash, notes.detail)


@dataclass
class StepNotes:
    """What a step leaves in the request's timeline."""

    run: Run
    name: str
    tx_hash: str | None = None
    detail: str | None = None

    async def say(self, detail: str, tx_hash: str | None = None) -> None:
        """Show something while the step still runs."""
        self.detail, self.tx_hash = detail, tx_hash or self.tx_hash
        async with self.run.transaction() as session:
            await requests.note_step(session, self.run.request_id, self.name, self.tx_hash, detail)


Body = Callable[[Run], Awaitable[None]]
OnFailure = Callable[[Run, SignumError], Awaitable[None]]
OnApproval = Callable[[db.Write, RequestRow], Awaitable[None]]
OnRetry = Callable[[db.Write, RequestRow], Awaitable[None]]


def workflow(
    name: str,
    on_failure: OnFailure | None = None,
    on_approval: OnApproval | None = None,
    on_retry: OnRetry | None = None,
) -> Callable[[Body], Body]:
    """Register a workflow. `on_failure` puts its rows into their right final state, also where it was denied before it
    began; `on_approval` writes what may not be written before a second person has agreed; `on_retry` raises where a
    failed request may not run again, because what it was asked for has changed."""

    if on_failure is not None:
        _on_failure[name] = on_failure
    if on_approval is not None:
        _on_approval[name] = on_approval
    if on_retry is not None:
        _on_retry[name] = on_retry

    def register(body: Body) -> Body:
        @DBOS.workflow(name=name)
        async def run(organization_id: str, request_id: str, hop: str = "0") -> None:
            try:
                with rpc.patience(PATIENCE):
                    await _run(body, on_failure, UUID(organization_id), UUID(request_id), int(hop))
            finally:
                asyncio.get_running_loop().call_later(ENDED, bell.ring)

        return body

    return register


async def _run(body: Body, on_failure: OnFailure | None, organization_id: UUID, request_id: UUID, hop: int = 0) -> None:
    row = await _begin(organization_id, request_id)
    if row is None or requests.hop_of(row.arguments) != hop:
        return  # it has ended, or went on elsewhere
    run = Run(organization_id, request_id, row.subject_id, row.arguments, row.attempt)
    with acting(Who.of(row.origin)):
        await _to_the_end(run, body, on_failure)


async def _begin(organization_id: UUID, request_id: UUID) -> RequestRow | None:
    """A queue has one run of an order at a time; between the queues of several workers, they wait for each other."""
    while True:
        async with db.step(organization_id) as session:
            if not settings().worker_chains or await requests.is_first(session, request_id):
                return await requests.begin(session, request_id)
        await asyncio.sleep(0.2)


async def _to_the_end(run: Run, body: Body, on_failure: OnFailure | None) -> None:
    try:
        await _despite_reorganizations(run, body)
    except asyncio.CancelledError:
        raise
    except Elsewhere as place:
        await _move(run, place.order)
    except SignumError as error:
        await _fail(run, error, on_failure)
    except Exception as error:
        log.exception("workflow failed", request=str(run.request_id))
        await _fail(run, SignumError("An unexpected fault; it is in the log under this request's id."), on_failure)
        del error
    else:
        await finish_open(run.request_id)
        async with run.transaction() as session:
            if await requests.is_settled(session, run.request_id):
                await requests.succeed(session, run.request_id)
            else:
                await requests.await_finality(session, run.request_id)
            for outcome in run.outcome:
                await tell(session, run.organization_id, *outcome)


async def _despite_reorganizations(run: Run, body: Body) -> None:
    """Run it, and again from its start where it was refused while transactions are lost that it may have built on."""
    ends = 0.0
    while True:
        try:
            await body(run)
            return
        except (Conflict, NotFound) as refusal:
            ends = ends or time.monotonic() + lost_transactions.LASTS.total_seconds()
            if time.monotonic() > ends or not await lost_transactions.may_concern(run.request_id):
                raise
            log.info("workflow.refused_after_reorg", request=str(run.request_id), detail=refusal.detail)
        await asyncio.sleep(AGAIN)


async def _move(run: Run, order: str | None) -> None:
    """Enqueue what is left of a run in another order, in one transaction with the note of it."""
    async with run.transaction() as session:
        row = await requests.move(session, run.request_id, order)
        hop, place = requests.hop_of(row.arguments), requests.order_of(row.arguments)
        await enqueue(session, row.kind, row.organization_id, row.id, row.attempt, place, hop)


def workflow_id(request_id: UUID, attempt: int, hop: int) -> str:
    """The engine's id of a request's run."""
    return f"{request_id}:{attempt}" + (f":{hop}" if hop else "")


async def _fail(run: Run, error: SignumError, on_failure: OnFailure | None) -> None:
    if on_failure is not None:
        await on_failure(run, error)
    told = {"status": RequestStatus.FAILED, "problem": error.detail}
    async with run.transaction() as session:
        await requests.fail(session, run.request_id, problem(error, settings().base_url), can_retry=error.status != 400)
        await tell(session, run.organization_id, "request.failed", ("request", run.request_id), None, told)


async def abandon(organization_id: UUID, request_id: UUID, attempt: int, error: SignumError) -> bool:
    """End a request whose workflow has ended without saying so; False where it has ended, or was tried again, since.

    A fault of `on_failure` is logged and does not keep the request from its end.
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
            log.exception("a failed request's rows could not be put right", request=str(request_id))
            await _fail(run, error, None)
    return True


async def release(session: db.Write, row: RequestRow) -> None:
    """A second person has agreed: what was held back is written, and the workflow is enqueued."""
    if (write := _on_approval.get(row.kind)) is not None:
        await write(session, row)
    row.status = RequestStatus.ACCEPTED
    await enqueue(session, row.kind, row.organization_id, row.id, row.attempt, row.arguments["order"])


async def check_retry(session: db.Write, row: RequestRow) -> None:
    """Raise the refusal of the request's workflow, where the request may not run again."""
    if (check := _on_retry.get(row.kind)) is not None:
        await check(session, row)


async def withdraw(session: db.Write, row: RequestRow, error: Denied) -> None:
    """Nobody else agreed: rows and request come to their end in the caller's transaction."""
    run = Run(row.organization_id, row.id, row.subject_id, row.arguments, row.attempt, within=session)
    if (put_right := _on_failure.get(row.kind)) is not None:
        await put_right(run, error)
    await requests.deny(session, row.id, problem(error, settings().base_url))


def start(url: str, executor: str, queues: Sequence[str]) -> None:
    """Launch the engine in the running loop, to run what is in some queues. `url` is the owner's; the engine works as
    signum_app. `executor` names this process (see `backend.executors`)."""
    app_url = logins.role_url(url, logins.WEB)
    config: DBOSConfig = {
        "name": "signum",
        "system_database_url": app_url,
        "run_migrations": False,
        "application_version": VERSION,
        "executor_id": executor,
        "log_level": "WARNING",
        "sys_db_pool_size": 5,
        "db_engine_kwargs": {"hide_parameters": True},
        "serializer": ROWS,
        "notification_coalesce_sec": 1.0,  # of streams and events, which we have none of: it looks 100 times a second
    }
    refuse_pickles()
    DBOS(config=config)
    DBOS.listen_queues(queues)
    bell.hang(frozenset(queues))
    DBOS.launch()
    _Engine.client = DBOSClient(system_database_url=app_url, serializer=ROWS)


def stop(drain: int = 0) -> None:
    """Begin nothing new, wait some seconds for what runs, and stop; what is left is taken up by others, or the next
    start."""
    DBOS.destroy(workflow_completion_timeout_sec=drain)
    if _Engine.client is not None:
        _Engine.client.destroy()
    _Engine.client = None


async def enqueue(
    session: db.Write, name: str, organization_id: UUID, request_id: UUID, attempt: int, order: str, hop: int = 0
) -> None:
    """Enqueue a request's workflow in the caller's transaction: rolled back means never enqueued.

    `order` names what must happen one after the other, such as an asset's id.
    """
    run_id, queue = workflow_id(request_id, attempt, hop), await _queue(session, request_id)
    await submit(session, name, run_id, str(organization_id), str(request_id), str(hop), queue=queue, of=order)


async def submit(
    session: AsyncSession,
    name: str,
    run_id: str,
    *arguments: str,
    queue: str,
    of: str,
    delay: timedelta = timedelta(0),
) -> None:
    """Enqueue any workflow in the caller's transaction, to begin after a delay. The same `run_id` again does nothing;
    `of` is the partition of the queue."""
    client = _Engine.client
    if client is None:
        raise RuntimeError("the workflow engine is not running")
    options: Any = {
        "workflow_name": name,
        "queue_name": queue,
        "workflow_id": run_id,
        "queue_partition_key": of,
        "app_version": VERSION,
    }
    if delay > timedelta(0):
        options["delay_seconds"] = delay.total_seconds()
    connection = await session.connection()
    await connection.run_sync(lambda c: client.enqueue_in_transaction(c, options, *arguments))
    bell.ring_after_commit(session)


def is_running() -> bool:
    """Whether anything can be enqueued; not in commands that only write rows."""
    return _Engine.client is not None


async def _queue(session: db.Write, request_id: UUID) -> str:
    """The queue of the first chain that a request goes to, where that chain has workers of its own."""
    if not settings().worker_chains:
        return QUEUE
    eid = await requests.first_chain(session, request_id)
    return queue_of(eid) if eid in settings().worker_chains else QUEUE
