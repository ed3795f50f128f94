"""Rehearsal of a pending action: its dry run on behalf of the requester, against the current state, and
its call itself, which resolves what it would execute now."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from backend.approvals import applications
from backend.auth import versions
from backend.auth.calls import Call
from backend.auth.credential_owners import Key, Person
from backend.auth.credentials import key_of
from backend.auth.principal import NOWHERE, Context
from backend.auth.rehearsal import rehearse, try_
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import unpublished
from backend.core.errors import Conflict, Denied, Forbidden, PrerequisitesNotMet, SignumError
from backend.factors import verification
from backend.requests import resolved_values, workflows
from backend.requests.models import RequestRow
from backend.requests.resolved_values import Resolved


async def plan(context: Context, approval: Any) -> tuple[dict[str, Any], Resolved]:
    """Return `{steps, impact}`, and what the waiting request executes, which is what the plan describes.

    409 with the reason where it is no longer possible, where the requester may no longer do it, and where the same call
    would execute something else now: the plan would then describe that.

    Runs in a separate transaction that is rolled back.
    """
    with unpublished():
        return await _rehearsed(context, approval)


async def preview(organization_id: UUID, approval: Any) -> dict[str, Any]:
    """Return the plan of a waiting action alone, without trying the action itself; raises why it is not possible."""
    with unpublished():
        async with db.rehearsing(organization_id) as session:
            asker = await _asker(session, approval)
            await _enter(asker, organization_id, approval)
            request = await _locked(session, approval)
            await workflows.withdraw(session, request, Denied("A rehearsal."))
            return await rehearse(asker, Call.restored(approval.call))


async def _rehearsed(context: Context, approval: Any) -> tuple[dict[str, Any], Resolved]:
    async with db.rehearsing(context.organization_id) as session:
        asker = await _asker(session, approval)
        await _enter(asker, context.organization_id, approval)
        request = await _locked(session, approval)
        new, same = [await resolved_values.of(session, request, creates=creates) for creates in (True, False)]
        await workflows.withdraw(session, request, Denied("A rehearsal."))
        try:
            call = Call.restored(approval.call)
            await versions.compare_again(session, call.version)
            plan = await rehearse(asker, call)
            await try_(asker, call)
        except SignumError as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            raise _impossible(error) from error
        now = await resolved_values.tried(session, request.subject_id)
        requested = new if now and now.creates else same
        resolved_values.check_same(approval.id, context.organization_id, requested, now)
        return plan, requested


async def _locked(session: db.Write, approval: Any) -> RequestRow:
    """Lock the request before its records, in the order of denials: the two would otherwise wait for each other."""
    return await session.get_one(RequestRow, approval.request_id, with_for_update=True)


def _impossible(error: SignumError) -> Conflict:
    """Return the refusal of an approval; it keeps the prerequisites, which the approver can satisfy."""
    detail = f"This action is no longer possible as requested. {error.detail}"
    return (
        PrerequisitesNotMet(error.prerequisites, detail) if isinstance(error, PrerequisitesNotMet) else Conflict(detail)
    )


async def _asker(session: db.Write, approval: Any) -> Context:
    key = await _key(session, approval.asked_with)
    person = None
    is_keys_own = key is not None and key.created_by == approval.asked_by and approval.asked_grant is None
    if approval.asked_by is not None and not is_keys_own:
        name = approval.asked_by_name or ""
        has_factor = await verification.has_factor(session, approval.asked_by)
        person = Person(approval.asked_by, "", name, NOWHERE, None, approval.created_at, has_factor=has_factor)
    person = await applications.acting(session, approval, person)
    return Context(session=session, person=person, key=key, is_caller=False)


async def _key(session: db.Write, key_id: UUID | None) -> Key | None:
    if key_id is None:
        return None
    found = await key_of(session, key_id)
    if found is None:
        raise Conflict(
            "The API key that made this request was revoked or has expired since. Deny it; the requester can repeat it."
        )
    return found


async def _enter(asker: Context, organization_id: UUID, approval: Any) -> None:
    try:
        await asker.enter(organization_id, Scope(approval.scope))
    except Forbidden as error:
        name = approval.asked_by_name or "The requester"
        raise Conflict(f"{name} requested this action and no longer has permission for it. Deny it.") from error
