"""Giving a member another role, and ending a membership: at once, or when a second person has agreed.

An organization chooses whether these wait. Where it asks for a second person for anything at all, adminship is never
given to or taken from somebody else by one admin alone: otherwise they would remove everybody who could disagree, or
appoint who agrees.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import shown, tell_change
from backend.db import Write
from backend.errors import Conflict, NotFound
from backend.members import rules, service
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
from backend.organizations import hierarchy
from backend.requests.accept import accept, told
from backend.requests.schemas import Action
from backend.requests.service import Step

APPOINTING = (
    "It takes a second person to make somebody an admin here. Add them with another role first; the change of their "
    "role by PATCH then waits for another admin."
)

AGREEING = "Another admin agrees to it"
"""The first step of what waits for a second person."""


async def change_role(context: Context, member_id: UUID, role: Role) -> Member | MemberAccepted:
    """Give a member another role, or ask for it."""
    row = await _checked(context, member_id, role)
    if await _change_waits(context, row, role):
        return await _ask(context, row, Action.MEMBER_CHANGE_ROLE, {"role": role})
    await set_role(context.session, row, role)
    return await service.one(context, member_id)


async def role_plan(context: Context, member_id: UUID, role: Role) -> MemberPlan:
    """What a change of role would do."""
    row = await _checked(context, member_id, role)
    changes = [] if row.role is role else [MemberFieldChange(field="role", before=row.role, after=role)]
    steps = await _steps(context, row, role, waits=await _change_waits(context, row, role))
    return MemberPlan(steps=steps, impact=MemberImpact(changes=changes))


async def remove(context: Context, member_id: UUID) -> MemberAccepted | None:
    """End a membership, or ask for it."""
    row = await _checked(context, member_id, None)
    if await _asks(context, row, Action.MEMBER_REMOVE):
        return await _ask(context, row, Action.MEMBER_REMOVE, {})
    await service.end(context.session, row)
    return None


async def removal_plan(context: Context, member_id: UUID) -> MemberPlan:
    """What a removal would do."""
    row = await _checked(context, member_id, None)
    change = MemberFieldChange(field="role", before=row.role, after=None)
    steps = await _steps(context, row, None, waits=await _asks(context, row, Action.MEMBER_REMOVE))
    return MemberPlan(steps=steps, impact=MemberImpact(changes=[change]))


async def check_appointment(context: Context, role: Role) -> None:
    """409 where one admin alone would bring in another one, and somebody is there who could disagree."""
    if role is Role.ADMIN and await _approvals(context) and await _is_second_there(context):
        raise Conflict(APPOINTING)


async def set_role(session: Write, row: MemberRow, role: Role) -> None:
    """Write another role; nothing where it is that one."""
    before = shown(Member, row)
    row.role = role
    await session.flush()
    await tell_change(session, row.organization_id, "member.updated", ("member", row.id), before, shown(Member, row))


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
        rules.check_grant(service.is_admin(context), row.role, *([role] if role else []))
        await check_admin_stays(context.session, row)
    return row


async def _asks(context: Context, row: MemberRow, action: Action) -> bool:
    """Whether it waits: the organization asks for it, or adminship is given to or taken from another where anything
    needs two. It is given to who has not agreed to be a member yet as to anybody; from them nothing is taken."""
    chosen = await _approvals(context)
    if action in chosen:
        return True
    gives = row.role is not Role.ADMIN and action is Action.MEMBER_CHANGE_ROLE
    takes = row.role is Role.ADMIN and row.status is MemberStatus.ACTIVE
    is_own = row.user_id == context.user_id
    return bool(chosen) and (gives or takes) and not is_own and await _is_second_there(context)


async def _change_waits(context: Context, row: MemberRow, role: Role) -> bool:
    """Whether another role waits for a second person: only what makes or unmakes an admin does."""
    is_about_admins = row.role is not role and Role.ADMIN in (row.role, role)
    return is_about_admins and await _asks(context, row, Action.MEMBER_CHANGE_ROLE)


async def _steps(context: Context, row: MemberRow, role: Role | None, *, waits: bool) -> list[str]:
    """What a plan says."""
    return [*([AGREEING] if waits else []), await _title(context, row, role)]


async def _approvals(context: Context) -> list[str]:
    text = sa.text("select approvals from organizations where id = :id")
    return list(await context.session.scalar(text, {"id": context.organization_id}) or [])


async def _is_second_there(context: Context) -> bool:
    return await hierarchy.has_other_admin(context.session, context.organization_id, context.user_id)


async def _ask(context: Context, row: MemberRow, action: Action, arguments: dict[str, Any]) -> MemberAccepted:
    title = await _title(context, row, arguments.get("role"))
    request = await accept(
        context,
        action,
        title,
        subject=("member", row.id),
        scope=Scope.MEMBERS_WRITE,
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
