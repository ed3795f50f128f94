"""Accepting an operation: its request and its workflow, in the caller's transaction."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import workflows
from backend.approvals.second_person import check_can_be_agreed
from backend.auth.makers import maker_of
from backend.auth.principal import Context
from backend.auth.scopes import ACTIONS, Scope
from backend.chains import service as chains
from backend.changes import tell
from backend.daily_limits import counting
from backend.daily_limits.counting import Amount
from backend.db import now
from backend.errors import Conflict
from backend.requests import service
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.schemas import ApprovalStatus, RequestStatus
from backend.requests.service import Step

LIFETIME = timedelta(days=7)
"""How long a request waits for a second person."""
WAITS = "It waits for a second person to approve it."
MOVES, CAUSE, INCLUDES = "moves", "waits_because", "includes"
"""Names in a request's arguments: the amount that counts against a daily limit, why the request waits, and the kinds of
action that it does as well."""


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
) -> RequestRow:
    """Write a request of the entered organization and enqueue its workflow (`kind` is the workflow's name).

    Requests of the same `order` run one after the other. The request waits as `awaiting_approval`, and nothing is
    enqueued before it is approved, where the organization asks for a second person for this kind or one that it
    `includes`, where the amount that it `moves` exceeds the asset's daily limit, or with `always_asks`. 409 where
    nobody could approve it.
    """
    assert scope in ACTIONS, "the guards of retry, approve and deny know the scopes of what they may be about"
    waits, cause = always_asks or await _asks(context, kind, *includes), None
    if moves and not waits:
        cause = await counting.excess(context.session, kind, moves)
    if waits or cause:
        await check_can_be_agreed(context.session, context.organization_id, context.user_id, scope, cause)
    row = await service.write(
        context.session,
        organization_id=context.organization_id,
        kind=kind,
        title=title,
        subject_type=subject[0],
        subject_id=subject[1],
        scope=scope,
        steps=steps,
        created_by=context.user_id,
        arguments={"order": str(order), **(arguments or {}), **_noted(moves, includes)},
    )
    if waits or cause:
        await _hold(context, row, cause)
    else:
        if moves:
            await counting.note(context.session, row.organization_id, kind, moves, row.id)
        await workflows.enqueue(context.session, kind, row.organization_id, row.id, row.attempt, str(order))
    return row


def told(request: RequestRow, message: str) -> str:
    """What an acceptance says: `message`, or that it waits, and for which daily limit."""
    if request.status is not RequestStatus.AWAITING_APPROVAL:
        return message
    cause = request.arguments.get(CAUSE)
    return f"{cause} {WAITS}" if cause else WAITS


def _noted(moves: Amount | None, includes: Sequence[str]) -> dict[str, Any]:
    """What decides whether a request needs a second person, for when it is retried."""
    amount = {MOVES: {"asset_id": str(moves.asset_id), "units": str(moves.units)}} if moves else {}
    return amount | ({INCLUDES: list(includes)} if includes else {})


def _moves(row: RequestRow) -> Amount | None:
    stored = row.arguments.get(MOVES)
    return Amount(UUID(stored["asset_id"]), int(stored["units"])) if stored else None


async def _asks(context: Context, *kinds: str) -> bool:
    """Whether the organization asks for a second person for any of these kinds of action."""
    text = sa.text("select cast(:kinds as text[]) && approvals from organizations where id = :id")
    return bool(await context.session.scalar(text, {"kinds": list(kinds), "id": context.organization_id}))


async def _is_approved(context: Context, row: RequestRow) -> bool:
    query = sa.select(col(ApprovalRow.status)).where(col(ApprovalRow.request_id) == row.id)
    return bool(await context.session.scalar(query) == ApprovalStatus.APPROVED)


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
        expires_at=now() + LIFETIME,
    )
    context.session.add(approval)
    facts = {"action": row.kind, "title": row.title, "request_id": str(row.id)}
    await tell(context.session, row.organization_id, "approval.created", ("approval", approval.id), None, facts)


async def _check_alone(context: Context, row: RequestRow) -> None:
    """409 where a failed request that nobody agreed to needs a second person now. Its amount counts from now on."""
    if await _asks(context, row.kind, *row.arguments.get(INCLUDES, ())):
        raise Conflict("This action needs a second person since it was asked for. Ask for it anew.")
    moves = _moves(row)
    if moves is None:
        return
    if cause := await counting.excess(context.session, row.kind, moves, row.id):
        raise Conflict(f"{cause} Send the request again; a second person has to approve it.")
    await counting.note(context.session, row.organization_id, row.kind, moves, row.id)


async def retry(context: Context, row: RequestRow) -> RequestRow:
    """Run a failed request once more, under the same intents' keys: what had been done is not done again. 409 where the
    action needs a second person by now, or its amount exceeds the daily limit, and nobody has agreed to this request;
    409 where what it is about has changed since it was asked for; 400 where it goes to a chain of the other network."""
    await workflows.check_retry(context.session, row)
    if not await _is_approved(context, row):
        await _check_alone(context, row)
    await chains.check_network(context, *await service.chains_of(context.session, row.id))
    before = {"status": row.status, "attempt": row.attempt}
    await service.reopen(context.session, row)
    after = {"status": row.status, "attempt": row.attempt}
    await tell(context.session, row.organization_id, "request.retried", ("request", row.id), before, after)
    await workflows.enqueue(context.session, row.kind, row.organization_id, row.id, row.attempt, row.arguments["order"])
    return row
