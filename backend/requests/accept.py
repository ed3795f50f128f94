"""Acceptance of an operation: its request and its workflow, written in the caller's transaction."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.makers import maker_of
from backend.auth.principal import Context
from backend.auth.scopes import ACTIONS, Scope
from backend.chains import new_activity
from backend.chains import service as chains
from backend.core import db
from backend.core.changes import publish
from backend.core.errors import Conflict
from backend.core.recorded_time import recorded_now
from backend.daily_use import counts
from backend.daily_use.counts import Amount
from backend.engine import engine
from backend.engine.queues import QUEUE
from backend.requests import resolved_values, service, workflows
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.resolved_values import CAUSE
from backend.requests.schemas import ENDING, Action, ApprovalStatus, RequestStatus
from backend.requests.second_person import Below, check_can_be_agreed
from backend.requests.service import Step, Wanted
from backend.tracing import spans

LIFETIME = timedelta(days=7)
"""How long a request waits for a second person, and how long their approval lets it be retried."""
LAPSED = (
    f"A second person approved this request more than {LIFETIME.days} days ago, and it has not succeeded. The approval "
    "has lapsed. Send the request again; a second person has to approve it."
)
WAITS = "It waits for a second person's approval."
MOVES, INCLUDES, BELOW = "moves", "includes", "below"
"""Names in a request's arguments: the amount that counts towards a daily limit, further kinds of action that it
includes, and the policy of organizations below that binds it.
"""
PLAN = "approval.plan"
"""The workflow that records the plan of an action that waits (`backend.approvals.workflow`)."""
LIMIT_OUT, BELOW_OUT = "raise or remove the daily limit", "lift the requirement there"


async def accept(
    context: Context,
    kind: str,
    title: str,
    *,
    subject: tuple[str, UUID],
    scope: Scope,
    steps: Sequence[Step],
    order: UUID | str,
    arguments: dict[str, Any] | None = None,
    always_asks: bool = False,
    moves: Amount | None = None,
    includes: Sequence[str] = (),
    below: Below | None = None,
) -> RequestRow:
    """Write a request of the entered organization and enqueue its workflow (`kind` is the workflow's name).

    Requests of the same `order` run one after another. The request waits as `awaiting_approval`, and nothing is
    enqueued before its approval, where the organization requires a second person for this kind or one that it
    `includes`, where an organization `below` does, where the amount that it `moves` exceeds the asset's daily limit, or
    with `always_asks`. 409 where no one could approve it, or where it starts something on a chain that is not enabled.
    In a rehearsal it always waits.
    """
    assert scope in ACTIONS, "the guards of retry, approve and deny declare the scopes of all actions"
    await _check_enabled(context, kind, [step.chain_eid for step in steps if step.chain_eid is not None])
    waits, cause = always_asks or await requires_second_person(context, kind, *includes), None
    is_rehearsal, ways_out = db.is_rehearsal(context.session), list[str]()
    is_settled = waits or is_rehearsal
    if below and not is_settled and (cause := await below.cause(context.session, context.organization_id)):
        ways_out = [BELOW_OUT]
    elif moves and not is_settled and (cause := await counts.excess(context.session, kind, moves)):
        ways_out = [LIMIT_OUT]
    if (waits or cause) and not is_rehearsal:
        await check_can_be_agreed(context.session, context.organization_id, context.user_id, scope, cause, *ways_out)
    wanted = Wanted(
        organization_id=context.organization_id,
        kind=kind,
        title=title,
        subject_type=subject[0],
        subject_id=subject[1],
        scope=scope,
        steps=steps,
        created_by=context.user_id,
        arguments={"order": str(order), **(arguments or {}), **noted(moves, includes, below), **spans.carried()},
    )
    row = await service.write(context.session, wanted)
    if is_rehearsal:
        resolved_values.note(context.session, row)
    if waits or cause or is_rehearsal:
        await _hold(context, row, cause)
    else:
        if moves:
            await counts.note(context.session, row.organization_id, kind, moves, row.id)
        await workflows.enqueue(context.session, kind, row.organization_id, row.id, row.attempt, str(order))
    return row


def acceptance_message(request: RequestRow, message: str) -> str:
    """Return the message of an acceptance: `message`, or that it waits, and for which daily limit or policy below."""
    if request.status is not RequestStatus.AWAITING_APPROVAL:
        return message
    cause = request.arguments.get(CAUSE)
    return f"{cause} {WAITS}" if cause else WAITS


def noted(moves: Amount | None, includes: Sequence[str], below: Below | None) -> dict[str, Any]:
    """Return the arguments that decide whether a retry needs a second person."""
    amount = {MOVES: {"asset_id": str(moves.asset_id), "units": str(moves.units)}} if moves else {}
    return amount | ({INCLUDES: list(includes)} if includes else {}) | ({BELOW: below.stored()} if below else {})


def _moves(row: RequestRow) -> Amount | None:
    stored = row.arguments.get(MOVES)
    return Amount(UUID(stored["asset_id"]), int(stored["units"])) if stored else None


async def requires_second_person(context: Context, *kinds: str) -> bool:
    """Return whether the organization requires a second person for any of these kinds of action."""
    text = sa.text("select cast(:kinds as text[]) && approvals from organizations where id = :id")
    return bool(await context.session.scalar(text, {"kinds": list(kinds), "id": context.organization_id}))


async def _check_enabled(context: Context, kind: str, eids: Sequence[int]) -> None:
    """Raise 409 where a request that ends nothing would start on a chain that is not enabled."""
    if kind not in ENDING and eids:
        await new_activity.check(context, *eids)


async def _is_approved(context: Context, row: RequestRow) -> bool:
    """Return whether a second person has approved a request; 409 where the approval has lapsed.

    It does not lapse for a bridge whose packet was sent: the supply is burned, and only a retry follows the packet.
    """
    query = sa.select(col(ApprovalRow.decided_at)).where(
        col(ApprovalRow.request_id) == row.id, col(ApprovalRow.status) == ApprovalStatus.APPROVED
    )
    found = (await context.session.execute(query)).first()
    if found is None:
        return False
    is_current = found.decided_at is not None and found.decided_at > recorded_now() - LIFETIME
    if not is_current and not (row.kind == Action.BRIDGE and await service.has_sent(context.session, row.id, "packet")):
        raise Conflict(LAPSED)
    return True


async def _hold(context: Context, row: RequestRow, cause: str | None) -> None:
    row.status = RequestStatus.AWAITING_APPROVAL
    if cause:
        row.arguments = {**row.arguments, CAUSE: cause}
    assert context.call is not None
    maker = await maker_of(context)
    approval = ApprovalRow(
        organization_id=row.organization_id,
        request_id=row.id,
        call=context.call.stored(),
        asked_by=context.user_id,
        asked_with=maker.key_id,
        asked_grant=maker.grant_id,
        asked_application=maker.client_name,
        cause=cause,
        expires_at=recorded_now() + LIFETIME,
    )
    context.session.add(approval)
    facts = {"action": row.kind, "title": row.title, "request_id": str(row.id)}
    await publish(context.session, row.organization_id, "approval.created", ("approval", approval.id), None, facts)
    if not db.is_rehearsal(context.session):
        await _plan_later(context, approval)


async def _plan_later(context: Context, approval: ApprovalRow) -> None:
    """Enqueue a record of the action's plan, which shows the second person later what has changed since."""
    if engine.is_running():
        arguments, run_id = (str(approval.organization_id), str(approval.id)), f"{PLAN}:{approval.id}"
        await engine.submit(context.session, PLAN, run_id, *arguments, queue=QUEUE, of=run_id)


async def _check_alone(context: Context, row: RequestRow) -> None:
    """Raise 409 where a failed request without an approval now needs one; else count its amount from now on."""
    if await requires_second_person(context, row.kind, *row.arguments.get(INCLUDES, ())):
        raise Conflict("This action now needs a second person. Send the request again.")
    stored = row.arguments.get(BELOW)
    if stored and (cause := await Below.restored(stored).cause(context.session, row.organization_id)):
        raise Conflict(f"{cause} Send the request again.")
    moves = _moves(row)
    if moves is None:
        return
    if cause := await counts.excess(context.session, row.kind, moves, row.id):
        raise Conflict(f"{cause} Send the request again; a second person has to approve it.")
    await counts.note(context.session, row.organization_id, row.kind, moves, row.id)


async def retry(context: Context, row: RequestRow) -> RequestRow:
    """Run a failed request again, with the same intent keys, so that completed work is not repeated.

    409 where the action now needs a second person, or its amount exceeds the daily limit, and this request was not
    approved; 409 where its approval has lapsed; 409 where its subject has changed since the request; 409 where it has
    sent nothing and would start on a chain that is not enabled; 400 where it targets a chain of the other network.
    """
    await workflows.check_retry(context.session, row)
    if not await _is_approved(context, row):
        await _check_alone(context, row)
    eids = await service.chains_of(context.session, row.id)
    await chains.check_network(context, *eids)
    if not await service.has_sent(context.session, row.id):
        await _check_enabled(context, row.kind, eids)
    before = {"status": row.status, "attempt": row.attempt}
    await service.reopen(context.session, row)
    after = {"status": row.status, "attempt": row.attempt}
    await publish(context.session, row.organization_id, "request.retried", ("request", row.id), before, after)
    await workflows.enqueue(context.session, row.kind, row.organization_id, row.id, row.attempt, row.arguments["order"])
    return row
