"""Who can be a second person: somebody else, who had the role before, was not appointed by the requester, and was not
placed by the same person as the requester."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array

from backend.auth.scopes import ROLE_SCOPES, Scope
from backend.db import Write
from backend.errors import PrerequisitesNotMet
from backend.members.schemas import Role

STAND_INS: Mapping[Role, Scope] = {Role.COMPLIANCE_OFFICER: Scope.ASSETS_WRITE, Role.MEMBER: Scope.TRANSFERS_WRITE}
"""Where the requester is the only admin, others agree: their role, and a scope that it has."""
REASONS = {
    "wallet": "You sign in with a wallet of the person who asked. A different person has to decide.",
    "newer": "Your role here is newer than this request. Somebody who had theirs before it was made has to decide.",
    "appointed": "You were added or promoted by the person who asked. Somebody they did not appoint has to decide.",
    "placed": "One person alone gave both of you your roles here, or one of you gave the other theirs. Somebody whom "
    "that person did not place has to decide. A role that is taken and given again with a second person counts anew.",
    "waiting": "Your role here is too new to approve. A new approver waits as long as the organization has set under "
    "Settings (approver_wait_hours).",
    "role": "Your role does not include this action.",
}


async def requiring(session: Write, organization_id: UUID) -> list[UUID]:
    """The organizations that require a second person for any action: this one and those below it, the nearest first."""
    text = sa.text("select * from signum_requiring_approval(:org)")
    return list((await session.scalars(text, {"org": organization_id})).all())


async def scope_to_agree(session: Write, organization_id: UUID, asker: UUID | None, wanted: Scope) -> Scope | None:
    """The scope a second person needs to agree with `asker`; None where nobody else could agree.

    It is `wanted` where there is another admin. Where the asker is the only admin, people who are independent
    of the asker agree with the rights that they have.
    """
    others = await _others(session, organization_id, asker)
    if any(other.role == Role.ADMIN for other in others):
        return wanted
    independent = {other.role for other in others if other.is_independent}
    return next((scope for role, scope in STAND_INS.items() if role in independent), None)


async def _others(session: Write, organization_id: UUID, asker: UUID | None) -> Sequence[Any]:
    """`role` and `is_independent` of everybody else whose role reaches an organization."""
    text = sa.text("select * from signum_other_roles(:asker, :org)").bindparams(sa.bindparam("asker", type_=sa.Uuid()))
    return (await session.execute(text, {"asker": asker, "org": organization_id})).all()


def check_somebody_is_there(organization_id: UUID, scope: Scope | None) -> Scope:
    """The scope; 409 that names the way out where nobody else could agree to an appointment."""
    if scope is None:
        what = "Set approvals to [] and remove daily limits, appoint the person, then set both again."
        raise _nobody("PATCH", f"/v1/orgs/{organization_id}", what)
    return scope


async def check_can_be_agreed(
    session: Write, organization_id: UUID, asker: UUID | None, scope: Scope, cause: str | None = None
) -> None:
    """409 where a request would wait in vain: nobody could approve it, and nobody who joins later could. `cause` is the
    daily limit that it exceeds."""
    others = await _others(session, organization_id, asker)
    if not any(scope in ROLE_SCOPES[Role(o.role)] and o.is_independent for o in others):
        out = "raise or remove the daily limit" if cause else "set approvals to []"
        what = f"Another admin adds an approver first. Where there is no other admin, {out} instead."
        raise _nobody("POST", f"/v1/orgs/{organization_id}/members", what, cause)


def _nobody(method: str, path: str, what: str, cause: str | None = None) -> PrerequisitesNotMet:
    fact = "Everyone else here who could approve this was appointed by you or by who appointed you, or there is nobody."
    resolution = {"method": method, "path": path, "description": what}
    entry = {"state": "second_person", "satisfied": False, "detail": fact, "resolution": resolution}
    begins = f"{cause} " if cause else ""
    return PrerequisitesNotMet([entry], f"{begins}A second person has to agree to this. {fact} {what}")


def refusal(person: Any, asker: Any, organization: Any, scope: Any, asked_at: Any) -> sa.ColumnElement[str]:
    """Why a person may not decide, as a key of `REASONS`; an empty text where they may."""
    roles = sa.case(
        {str(s): array([str(r) for r in ROLE_SCOPES if s in ROLE_SCOPES[r]], type_=sa.Text()) for s in Scope},
        value=scope,
    )
    uuid = sa.Uuid()
    return sa.func.signum_second_person(sa.literal(person, uuid), asker, organization, roles, asked_at, type_=sa.Text())
