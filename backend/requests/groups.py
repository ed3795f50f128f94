"""Groups: requests of one kind and chain that were accepted together, and whose work one run does for all of them.

A group only saves work. It takes requests that have not started. Each one that it does not finish, because of a
refusal, a fault or a crash, continues in a run of its own, as if there were no group: that run finds what the group has
sent by the keys of its intents.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from backend.auth.principal import Context
from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.rpc import json_rpc
from backend.chain.transactions import several
from backend.chains import new_activity
from backend.core import db
from backend.core.changes import Who, acting
from backend.core.errors import SignumError
from backend.daily_use.counts import Amount
from backend.engine import engine, ownership, versions
from backend.requests import group_rows, lanes, restarts, workflows
from backend.requests.accept import noted, requires_second_person
from backend.requests.group_rows import Notes
from backend.requests.lanes import Lane
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.second_person import Below
from backend.requests.service import GROUP, Step, Wanted, write_all
from backend.tracing import spans

log = structlog.get_logger()
MOST, AT_A_TIME = 50, 2
"""Requests of one group, and groups of a wallet on a chain that run at a time: one is prepared while the other waits
for the chain. Their product bounds the wallet's transactions without a receipt."""

OnStored = Callable[[db.Write, Mapping[UUID, str]], Awaitable[None]]
"""Receives the hashes by request."""


@dataclass(frozen=True)
class Asked:
    """A request to accept. `order` is that of its own run, and `signer` sends its transactions on `eid`."""

    title: str
    subject: tuple[str, UUID]
    order: UUID | str
    steps: Sequence[Step]
    eid: int
    signer: str
    moves: Amount | None = None


@dataclass(frozen=True)
class Group:
    """The requests of a group that have begun."""

    organization_id: UUID
    runs: Sequence[Run]

    def transaction(self) -> AbstractAsyncContextManager[db.Write]:
        """Open a transaction that sees the requests' organization."""
        return db.step(self.organization_id)

    async def send(
        self,
        step: str,
        calls: Mapping[UUID, Call],
        parts: Sequence[object],
        *,
        eid: int,
        signer: str,
        label: str,
        on_stored: OnStored | None = None,
    ) -> Mapping[UUID, Outcome]:
        """Send a call of each request, and return the outcomes of those that are confirmed, by request.

        `parts` are those of the intents' keys, as in `Run.key`. The hashes are shown at the step; `on_stored` writes
        them to other rows, in the same transaction.
        """
        keys = {run.key(*parts): run.request_id for run in self.runs if run.request_id in calls}
        intents = [
            calls[one].intent(
                key, eid=eid, signer=signer, organization_id=self.organization_id, label=label, request_id=one
            )
            for key, one in keys.items()
        ]

        async def show(hashes: Mapping[str, str]) -> None:
            by_request = {keys[key]: tx_hash for key, tx_hash in hashes.items()}
            notes = {one: Notes(tx_hash, "Waiting for the chain") for one, tx_hash in by_request.items()}
            async with self.transaction() as session:
                await group_rows.note_step(session, step, notes)
                if on_stored is not None:
                    await on_stored(session, by_request)

        outcomes = await several.execute(intents, show)
        return {keys[key]: outcome for key, outcome in outcomes.items()}


Body = Callable[[Group], Awaitable[None]]


def together(kind: str) -> Callable[[Body], Body]:
    """Register the work for groups of a kind. What raises in it does not fail a request."""

    def register(body: Body) -> Body:
        async def run(organization_id: str, request_ids: str) -> None:
            ids = [UUID(one) for one in request_ids.split(",")]
            with json_rpc.patience(workflows.PATIENCE), ownership.checked():
                await _run(body, UUID(organization_id), ids)

        versions.register(_name(kind), run)
        return body

    return register


async def can_accept(context: Context, kind: str, below: Below | None = None) -> bool:
    """Return whether requests of a kind can be accepted together: not in a rehearsal, nor where a second person
    approves each of them."""
    if db.is_rehearsal(context.session) or await requires_second_person(context, kind):
        return False
    return below is None or await below.cause(context.session, context.organization_id) is None


async def accept(
    context: Context, kind: str, asked: Sequence[Asked], *, scope: str, below: Below | None = None
) -> Sequence[RequestRow]:
    """Write requests as `backend.requests.accept.accept` does, and enqueue the groups that they are.

    Amounts that they move must not have a daily limit: those are counted one by one.
    """
    await new_activity.check(context, *{one.eid for one in asked})
    names = _names(asked)
    rows = await write_all(
        context.session,
        [
            Wanted(
                organization_id=context.organization_id,
                kind=kind,
                title=one.title,
                subject_type=one.subject[0],
                subject_id=one.subject[1],
                scope=scope,
                steps=one.steps,
                created_by=context.user_id,
                arguments={"order": str(one.order), GROUP: name, **noted(one.moves, (), below), **spans.carried()},
            )
            for one, name in zip(asked, names, strict=True)
        ],
    )
    members = defaultdict[str, list[tuple[RequestRow, Asked]]](list)
    for name, row, one in zip(names, rows, asked, strict=True):
        members[name].append((row, one))
    for number, (name, found) in enumerate(members.items()):
        first = found[0][1]
        order = f"{first.signer}:{first.eid}/{number % AT_A_TIME}"
        await _enqueue(context.session, name, [row for row, _ in found], order)
    return rows


def _names(asked: Sequence[Asked]) -> Sequence[str]:
    """Return the group of each request, by its chain and signer."""
    places = defaultdict[tuple[int, str], list[int]](list)
    for place, one in enumerate(asked):
        places[one.eid, one.signer].append(place)
    names = [""] * len(asked)
    for found in places.values():
        for start in range(0, len(found), MOST):
            name = f"group:{db.new_id()}"
            for place in found[start : start + MOST]:
                names[place] = name
    return names


async def _enqueue(session: db.Write, name: str, rows: Sequence[RequestRow], order: str) -> None:
    """Enqueue a group. Those of an order run one after another."""
    first = rows[0]
    queue = await workflows.queue_for(session, first.kind, first.id)
    ids = ",".join(str(row.id) for row in rows)
    of = f"{first.kind}:{order}"
    await engine.submit(session, _name(first.kind), name, str(first.organization_id), ids, queue=queue, of=of)


def _name(kind: str) -> str:
    return f"{kind}.together"


async def _run(body: Body, organization_id: UUID, ids: Sequence[UUID]) -> None:
    async def once() -> None:
        async with lanes.place(Lane.ORDINARY, organization_id):
            async with db.step(organization_id) as session:
                rows = await group_rows.begin(session, ids)
            if rows:
                await _work(body, organization_id, rows)
            async with db.step(organization_id) as session:
                await _continue_alone(session, ids)

    await restarts.despite_faults(once, ids[0])


async def _work(body: Body, organization_id: UUID, rows: Sequence[RequestRow]) -> None:
    runs = [Run(organization_id, row.id, row.subject_id, row.arguments, row.attempt) for row in rows]
    first = rows[0]
    parent = first.arguments.get(spans.TRACEPARENT)
    with acting(Who.of(first.origin)), spans.root(f"workflow {first.kind}", parent, "CONSUMER"):
        try:
            await body(Group(organization_id, runs))
        except (asyncio.CancelledError, *db.FAULTS):
            raise
        except SignumError as error:
            log.info("group.refused", kind=first.kind, requests=len(rows), detail=error.detail)
        except Exception:
            log.exception("group.failed", kind=first.kind, requests=len(rows))


async def _continue_alone(session: db.Write, ids: Sequence[UUID]) -> None:
    """Enqueue the own runs of the requests that have not ended. A second time has no effect."""
    for row in await group_rows.unfinished(session, ids):
        order: Any = row.arguments["order"]
        await workflows.enqueue(session, row.kind, row.organization_id, row.id, row.attempt, order)
