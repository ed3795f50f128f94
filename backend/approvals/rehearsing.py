"""What an action that waits would do now: its own dry run, in the name of who asked, as if it were asked now."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from backend import db, workflows
from backend.approvals import applications
from backend.auth.credentials import key_of
from backend.auth.principal import NOWHERE, Context, Key, Person
from backend.auth.rehearsal import Call, rehearse
from backend.auth.scopes import Scope
from backend.changes import untold
from backend.errors import Conflict, Denied, Forbidden, SignumError
from backend.factors import verifying
from backend.requests.models import RequestRow


async def plan(context: Context, approval: Any) -> dict[str, Any]:
    """`{steps, impact}`; 409 that says why, where it cannot be done any more or who asked may not do it any more. In a
    transaction of its own that is rolled back."""
    with untold():
        return await _rehearsed(context, approval)


async def _rehearsed(context: Context, approval: Any) -> dict[str, Any]:
    async with db.rehearsing(context.organization_id) as session:
        asker = await _asker(session, approval)
        await _enter(asker, context.organization_id, approval)
        request = await session.get_one(RequestRow, approval.request_id)
        await workflows.withdraw(session, request, Denied("A rehearsal."))
        try:
            return await rehearse(asker, Call(**approval.call))
        except SignumError as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            raise Conflict(f"It cannot be done any more as it was asked for. {error.detail}") from error


async def _asker(session: db.Write, approval: Any) -> Context:
    key = await _key(session, approval.asked_with)
    person = None
    is_keys_own = key is not None and key.created_by == approval.asked_by and approval.asked_grant is None
    if approval.asked_by is not None and not is_keys_own:
        name = approval.asked_by_name or ""
        has_factor = await verifying.has_factor(session, approval.asked_by)
        person = Person(approval.asked_by, "", name, NOWHERE, None, approval.created_at, has_factor=has_factor)
    person = await applications.acting(session, approval, person)
    return Context(session=session, person=person, key=key, is_caller=False)


async def _key(session: db.Write, key_id: UUID | None) -> Key | None:
    if key_id is None:
        return None
    found = await key_of(session, key_id)
    if found is None:
        raise Conflict("The API key that asked for it was revoked or has expired since.")
    return found


async def _enter(asker: Context, organization_id: UUID, approval: Any) -> None:
    try:
        await asker.enter(organization_id, Scope(approval.scope))
    except Forbidden as error:
        name = approval.asked_by_name or "Who asked"
        raise Conflict(f"{name}, who asked for it, may not do it any more.") from error
