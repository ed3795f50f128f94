"""Giving a member another role, and ending a membership: at once, or when a second person has agreed.

An organization chooses whether these wait. Where it requires a second person for any action, nobody alone promotes
others to a role that can approve, or takes such a role from them: otherwise one admin would remove everybody who could
disagree, or appoint who agrees.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import second_person
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell_change
from backend.db import Write
from backend.errors import NotFound
from backend.members import appointing, rules, service
from backend.members.appointing import AGREEING, Appointment
from backend.members.models import MemberRow
from backend.members.schemas import (
    Member,
    MemberAccepted,
    MemberFieldChange,
    MemberImpact,
    MemberPlan,
    MemberStatus,
    Role,
)
from backend.requests.accept import accept, told
from backend.requests.schemas import Action
from backend.requests.service import Step


async def change_role(context: Context, member_id: UUID, role: Role) -> Member | MemberAccepted:
    """Give a member another role, or ask for it."""
    row = await _checked(context, member_id, role)
    if scope := await _scope_of_change(context, row, role):
        return await _ask(context, row, Action.MEMBER_CHANGE_ROLE, scope, {"role": role})
    await set_role(context.session, row, role, await appointing.of(context))
    return await service.one(context, member_id)


async def role_plan(context: Context, member_id: UUID, role: Role) -> MemberPlan:
    """What a change of role would do."""
    row = await _checked(context, member_id, role)
    changes = [] if row.role is role else [MemberFieldChange(field="role", before=row.role, after=role)]
    steps = await _steps(context, row, role, waits=await _scope_of_change(context, row, role) is not None)
    return MemberPlan(steps=steps, impact=MemberImpact(changes=changes))


async def remove(context: Context, member_id: UUID) -> MemberAccepted | None:
    """End a membership, or ask for it."""
    row = await _checked(context, member_id, None)
    if scope := await _scope_of_removal(context, row):
        return await _ask(context, row, Action.MEMBER_REMOVE, scope, {})
    await service.end(context.session, row)
    return None


async def removal_plan(context: Context, member_id: UUID) -> MemberPlan:
    """What a removal would do."""
    row = await _checked(context, member_id, None)
    change = MemberFieldChange(field="role", before=row.role, after=None)
    steps = await _steps(context, row, None, waits=await _scope_of_removal(context, row) is not None)
    return MemberPlan(steps=steps, impact=MemberImpact(changes=[change]))


async def set_role(session: Write, row: MemberRow, role: Role, by: Appointment) -> None:
    """Write another role; nothing where it is that one."""
    before = service.record(row)
    is_pending = row.status is MemberStatus.PENDING
    if rules.gains(row.role, role) or (is_pending and rules.widens(row.role, role)):
        by.begin(row)
    row.role = role
    await session.flush()
    await tell_change(session, row.organization_id, "member.updated", ("member", row.id), before, service.record(row))


async def locked(session: Write, organization_id: UUID, member_id: UUID) -> MemberRow:
    """A member to be changed. Changes of one organization's members wait for each other, so that two admins who remove
    each other at the same time leave one. 404 where there is none."""
    name = {"name": f"members {organization_id}"}
    await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), name)
    query = sa.select(MemberRow).where(
        col(MemberRow.id) == member_id, col(MemberRow.organization_id) == organization_id
    )
    row: MemberRow | None = await session.scalar(query)
    if row is None:
        raise NotFound("There is no such member in this organization.")
    return row


async def check_admin_stays(session: Write, row: MemberRow) -> None:
    """409 where an organization's own last admin would go."""
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
    """The member, where they may get another role, or (None) go."""
    row = await locked(context.session, context.organization_id, member_id)
    if row.role is not role:
        appointing.check_taking(context, row.role)
        if role is not None:
            appointing.check_grant(context, role)
        await check_admin_stays(context.session, row)
    return row


async def _scope_of_change(context: Context, row: MemberRow, role: Role) -> Scope | None:
    """The scope of the second person whom another role waits for; None where it needs nobody. Only what gives or takes
    the right to approve needs one."""
    is_about_approvers = rules.gains(row.role, role) or rules.gains(role, row.role)
    if is_about_approvers and Action.MEMBER_CHANGE_ROLE in await _approvals(context):
        return await _second(context) or Scope.MEMBERS_WRITE
    if rules.gains(row.role, role) and row.user_id != context.user_id:
        return await appointing.scope_needed(context, row.role, role)
    return await _scope_of_taking(context, row, role)


async def _scope_of_removal(context: Context, row: MemberRow) -> Scope | None:
    if Action.MEMBER_REMOVE in await _approvals(context):
        return await _second(context) or Scope.MEMBERS_WRITE
    return await _scope_of_taking(context, row, None)


async def _scope_of_taking(context: Context, row: MemberRow, role: Role | None) -> Scope | None:
    """The same for taking the right to approve from another: nobody who has not agreed to be a member has it yet, and
    where nobody else could agree it is done at once."""
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
    """What a plan says."""
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
    message = told(request, title)
    return MemberAccepted(memberId=row.id, status=request.status, request_id=str(request.id), message=message)


async def _title(context: Context, row: MemberRow, role: Role | None) -> str:
    user = (await service.one(context, row.id)).user
    name = user.display_name or user.email or next(iter(user.wallet_addresses), "a member")
    return f"Remove {name}" if role is None else f"Make {name} {rules.as_words(role)}"
