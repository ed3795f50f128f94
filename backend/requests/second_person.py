"""Rules for the second person: another person who had their role before the request, was not appointed by the
requester, and was not appointed by the same person as the requester.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession

from backend.auth.scopes import ROLE_SCOPES, Scope
from backend.core.db import Write
from backend.core.errors import PrerequisitesNotMet
from backend.core.problems.resolutions import call, example, known
from backend.requests.schemas import Action
from backend.users.schemas import Role

_BELOW = sa.text("select signum_policy_below(:org, :action, :owner)").bindparams(
    *(sa.bindparam(name, type_=sa.Uuid()) for name in ("org", "owner"))
)
STAND_INS: Mapping[Role, Scope] = {Role.COMPLIANCE_OFFICER: Scope.ASSETS_WRITE, Role.MEMBER: Scope.TRANSFERS_WRITE}
"""Without an independent admin, other roles can approve: their role, and a scope that it has."""
REASONS = {
    "wallet": "You sign in with a wallet of the requester. A different person must decide.",
    "newer": "Your role here is newer than this request. A person whose role is older must decide.",
    "appointed": "The requester added or promoted you. A person whom they did not appoint must decide.",
    "placed": "The same person alone appointed both of you here, or one of you gave the other their role. A person "
    "appointed by someone else must decide. A role that is removed and given again with a second person's "
    "approval counts as new.",
    "waiting": "Your role here is too new to approve. New approvers wait for the time that the organization has set "
    "under Settings (approver_wait_hours).",
    "role": "Your role does not include this action.",
}


async def requiring(session: Write, organization_id: UUID) -> list[UUID]:
    """Return the organizations that require a second person for any action: this one and those below it, the nearest
    first.
    """
    text = sa.text("select * from signum_requiring_approval(:org)")
    return list((await session.scalars(text, {"org": organization_id})).all())


@dataclass(frozen=True)
class Below:
    """A policy of organizations below that binds a request too: of one organization (`owner`), or without it of each
    that has a token which accepts attestations from above.
    """

    action: Action
    owner: UUID | None = None

    def stored(self) -> dict[str, str | None]:
        """Return JSON from which `restored` makes it again."""
        return {"action": self.action, "owner": str(self.owner) if self.owner else None}

    @classmethod
    def restored(cls, stored: Mapping[str, str | None]) -> "Below":
        """Return a stored policy."""
        return cls(Action(str(stored["action"])), UUID(stored["owner"]) if stored["owner"] else None)

    async def cause(self, session: AsyncSession, organization_id: UUID) -> str | None:
        """Return why a request of this organization waits; None where no organization below requires it."""
        values = {"org": organization_id, "action": self.action, "owner": self.owner}
        name = await session.scalar(_BELOW, values)
        words = self.action.replace(".", " ").replace("_", " ")
        return f"{name}, an organization below this one, requires a second person for “{words}”." if name else None


async def scope_to_agree(session: Write, organization_id: UUID, asker: UUID | None, wanted: Scope) -> Scope | None:
    """Return the scope with which a second person can approve a request of `asker`; None where no one else could.

    It is `wanted` where there is another admin who is independent of the asker. Without one, people who are independent
    can approve with the rights that they have. Without anyone independent, it is `wanted` if there is another admin:
    the request is then refused, because no one could approve it.
    """
    others = await _others(session, organization_id, asker)
    independent = {other.role for other in others if other.is_independent}
    if Role.ADMIN in independent:
        return wanted
    stand_in = next((scope for role, scope in STAND_INS.items() if role in independent), None)
    return stand_in or (wanted if any(other.role == Role.ADMIN for other in others) else None)


async def _others(session: Write, organization_id: UUID, asker: UUID | None) -> Sequence[Any]:
    """Return `role` and `is_independent` of all other people whose role applies to an organization."""
    text = sa.text("select * from signum_other_roles(:asker, :org)").bindparams(sa.bindparam("asker", type_=sa.Uuid()))
    return (await session.execute(text, {"asker": asker, "org": organization_id})).all()


def check_approver_exists(organization_id: UUID, scope: Scope | None) -> Scope:
    """Return the scope; 409 with the resolution where no one else could approve an appointment."""
    if scope is None:
        what = "Set approvals to [] and remove daily limits, appoint the person, then set both again."
        raise _no_approver(call("PATCH", f"/orgs/{organization_id}", what, approvals=known([])))
    return scope


async def check_can_be_agreed(
    session: Write,
    organization_id: UUID,
    asker: UUID | None,
    scope: Scope,
    cause: str | None = None,
    way_out: str = "set approvals to []",
) -> None:
    """Raise 409 where a request would wait in vain: no one could approve it, and no one who joins later could.

    `cause` is why it waits, and `way_out` what removes the cause.
    """
    others = await _others(session, organization_id, asker)
    if not any(scope in ROLE_SCOPES[Role(o.role)] and o.is_independent for o in others):
        what = f"Have another admin add an approver first. If there is no other admin, {way_out} instead."
        person = {"email": example("approver@example.com"), "role": example("admin")}
        raise _no_approver(call("POST", f"/orgs/{organization_id}/members", what, **person), cause)


def _no_approver(resolution: dict[str, Any], cause: str | None = None) -> PrerequisitesNotMet:
    fact = "No one else here can approve this independently of you and of the person who appointed you."
    entry = {"state": "second_person", "satisfied": False, "detail": fact, "resolution": resolution}
    begins = f"{cause} " if cause else ""
    words = f"{begins}A second person must approve this. {fact} {resolution['description']}"
    return PrerequisitesNotMet([entry], words)


def refusal(person: Any, asker: Any, organization: Any, scope: Any, asked_at: Any) -> sa.ColumnElement[str]:
    """Return why a person may not decide, as a key of `REASONS`; an empty text where they may."""
    roles = sa.case(
        {str(s): array([str(r) for r in ROLE_SCOPES if s in ROLE_SCOPES[r]], type_=sa.Text()) for s in Scope},
        value=scope,
    )
    uuid = sa.Uuid()
    return sa.func.signum_second_person(sa.literal(person, uuid), asker, organization, roles, asked_at, type_=sa.Text())
