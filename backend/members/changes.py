"""Change a member's role or end a membership: immediately, or after a second person approves.

An organization chooses whether these need approval. If it requires a second person for any action, promoting others to
a role that can approve, or taking such a role from them, always needs approval. Otherwise one admin could remove
everyone who could disagree, or appoint the approver.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import locks
from backend.core.changes import publish_change
from backend.core.db import Write
from backend.core.errors import NotFound
from backend.core.locks import Purpose
from backend.members import appointments, rules, service
from backend.members.appointments import AGREEING, Appointment
from backend.members.schemas import Member, MemberAccepted, MemberFieldChange, MemberImpact, MemberPlan
from backend.requests import second_person
from backend.requests.accept import accept, acceptance_message
from backend.requests.schemas import Action
from backend.requests.service import Step
from backend.users.models import MemberRow
from backend.users.schemas import MemberStatus, Role


async def change_role(context: Context, member_id: UUID, role: Role) -> Member | MemberAccepted:
    """Change a member's role, or request it."""
    row = await _checked(context, member_id, role)
    if scope := await _scope_of_change(context, row, role):
        return await _ask(context, row, Action.MEMBER_CHANGE_ROLE, scope, {"role": role})
    await set_role(context.session, row, role, await appointments.of(context))
    return await service.one(context, member_id)


async def role_plan(context: Context, member_id: UUID, role: Role) -> MemberPlan:
    """Return what a change of role would do."""
    row = await _checked(context, member_id, role)
    changes = [] if row.role is role else [MemberFieldChange(field="role", before=row.role, after=role)]
    steps = await _steps(context, row, role, waits=await _scope_of_change(context, row, role) is not None)
    return MemberPlan(steps=steps, impact=MemberImpact(changes=changes))


async def remove(context: Context, member_id: UUID) -> MemberAccepted | None:
    """End a membership, or request it."""
    row = await _checked(context, member_id, None)
    if scope := await _scope_of_removal(context, row):
        return await _ask(context, row, Action.MEMBER_REMOVE, scope, {})
    await service.end(context.session, row)
    return None


async def removal_plan(context: Context, member_id: UUID) -> MemberPlan:
    """Return what a removal would do."""
    row = await _checked(context, member_id, None)
    change = MemberFieldChange(field="role", before=row.role, after=None)
    steps = await _steps(context, row, None, waits=await _scope_of_removal(context, row) is not None)
    return MemberPlan(steps=steps, impact=MemberImpact(changes=[change]))


async def set_role(session: Write, row: MemberRow, role: Role, by: Appointment) -> None:
    """Change the role; do nothing if it is unchanged."""
    before = service.record(row)
    is_pending = row.status is MemberStatus.PENDING
    if rules.gains(row.role, role) or (is_pending and rules.widens(row.role, role)):
        by.begin(row)
    row.role = role
    await session.flush()
    subject, after = ("member", row.id), service.record(row)
    await publish_change(session, row.organization_id, "member.updated", subject, before, after)


async def locked(session: Write, organization_id: UUID, member_id: UUID) -> MemberRow:
    """Return a member, locked for a change. Changes of one organization's members are serialized, so that two admins
    who remove each other at the same time leave one. 404 if the member does not exist."""
    await locks.wait(session, Purpose.MEMBERS, organization_id)
    query = sa.select(MemberRow).where(
        col(MemberRow.id) == member_id, col(MemberRow.organization_id) == organization_id
    )
    row: MemberRow | None = await session.scalar(query)
    if row is None:
        raise NotFound("There is no member with this ID in this organization.")
    return row


async def check_admin_stays(session: Write, row: MemberRow) -> None:
    """Raise 409 if the organization's last own admin would go."""
    if row.status is MemberStatus.ACTIVE:
        others = (
            sa.select(sa.func.count())
            .select_from(MemberRow)
            .where(
                col(MemberRow.organization_id) == row.organization_id,
                col(MemberRow.role) == Role.ADMIN,
                col(MemberRow.status) == MemberStatus.ACTIVE,
                col(MemberRow.id) != row.id,
            )
        )
        rules.check_admin_stays(row.role, await session.scalar(others) or 0)


async def _checked(context: Context, member_id: UUID, role: Role | None) -> MemberRow:
    """Return the member if they may get another role, or (None) be removed."""
    row = await locked(context.session, context.organization_id, member_id)
    if row.role is not role:
        appointments.check_taking(context, row.role)
        if role is not None:
            appointments.check_grant(context, role)
        await check_admin_stays(context.session, row)
    return row


async def _scope_of_change(context: Context, row: MemberRow, role: Role) -> Scope | None:
    """Return the scope that the second person needs to approve a change of role; None if no approval is needed. Only
    gaining or losing the right to approve needs one."""
    is_about_approvers = rules.gains(row.role, role) or rules.gains(role, row.role)
    if is_about_approvers and Action.MEMBER_CHANGE_ROLE in await _approvals(context):
        return await _second(context) or Scope.MEMBERS_WRITE
    if rules.gains(row.role, role) and row.user_id != context.user_id:
        return await appointments.scope_needed(context, row.role, role)
    return await _scope_of_taking(context, row, role)


async def _scope_of_removal(context: Context, row: MemberRow) -> Scope | None:
    if Action.MEMBER_REMOVE in await _approvals(context):
        return await _second(context) or Scope.MEMBERS_WRITE
    return await _scope_of_taking(context, row, None)


async def _scope_of_taking(context: Context, row: MemberRow, role: Role | None) -> Scope | None:
    """Return the scope needed to take the right to approve from another person. A person who has not accepted does not
    have the right yet; if no one else could approve, it is taken immediately."""
    is_other = row.status is MemberStatus.ACTIVE and row.user_id != context.user_id
    if not is_other or not rules.gains(role, row.role):
        return None
    is_required = await second_person.requiring(context.session, context.organization_id)
    return await _second(context) if is_required else None


async def _second(context: Context) -> Scope | None:
    return await second_person.scope_to_agree(
        context.session, context.organization_id, context.user_id, Scope.MEMBERS_WRITE
    )


async def _steps(context: Context, row: MemberRow, role: Role | None, *, waits: bool) -> list[str]:
    """Return the steps of a plan."""
    return [*([AGREEING] if waits else []), await _title(context, row, role)]


async def _approvals(context: Context) -> list[str]:
    text = sa.text("select approvals from organizations where id = :id")
    return list(await context.session.scalar(text, {"id": context.organization_id}) or [])


async def _ask(
    context: Context, row: MemberRow, action: Action, scope: Scope, arguments: dict[str, Any]
) -> MemberAccepted:
    title = await _title(context, row, arguments.get("role"))
    request = await accept(
        context,
        action,
        title,
        subject=("member", row.id),
        scope=scope,
        steps=[Step("member_changed", title)],
        order=f"members:{context.organization_id}",
        arguments=arguments,
        always_asks=True,
    )
    message = acceptance_message(request, title)
    return MemberAccepted(memberId=row.id, status=request.status, request_id=str(request.id), message=message)


async def _title(context: Context, row: MemberRow, role: Role | None) -> str:
    user = (await service.one(context, row.id)).user
    name = user.display_name or user.email or next(iter(user.wallet_addresses), "a member")
    return f"Remove {name}" if role is None else f"Make {name} {rules.as_words(role)}"
