"""Members of the entered organization."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.changes import shown, tell, tell_change
from backend.db import Write
from backend.errors import BadRequest, Conflict, NotFound
from backend.keyset import Page
from backend.members import rules
from backend.members.models import MemberRow, UserRow, UserWalletRow
from backend.members.schemas import Member, MemberCreate, MemberList, MemberStatus, MemberUser, Role

ALREADY = "This person is a member of the organization already."


async def page(
    context: Context, page: Page, search: str | None, role: Role | None, status: MemberStatus | None
) -> MemberList:
    """A page of members; `search` finds a part of a name, an email or a wallet's address."""
    query = _query(context)
    if search:
        query = query.where(_matches(search.lower()))
    if role is not None:
        query = query.where(col(MemberRow.role) == role)
    if status is not None:
        query = query.where(col(MemberRow.status) == status)
    rows = (await context.session.execute(page.apply(query, col(MemberRow.created_at), col(MemberRow.id)))).all()
    shown, cursor = page.cut(rows)
    return MemberList(members=[_member(r) for r in shown], nextCursor=cursor)


async def one(context: Context, member_id: UUID) -> Member:
    """One member; 404 where the id is not one of this organization's."""
    row = (await context.session.execute(_query(context).where(col(MemberRow.id) == member_id))).first()
    if row is None:
        raise NotFound("There is no such member in this organization.")
    return _member(row)


def _query(context: Context) -> sa.Select[Any]:
    members = sa.inspect(MemberRow).local_table
    wallets = sa.select(sa.func.array_agg(sa.text("address order by created_at"))).select_from(UserWalletRow)
    return (
        sa.select(
            *(c for c in members.c if c.name not in ("email", "display_name")),
            _name().label("display_name"),
            _email().label("email"),
            wallets.where(col(UserWalletRow.user_id) == members.c.user_id).scalar_subquery().label("wallet_addresses"),
        )
        .join(UserRow, col(UserRow.id) == members.c.user_id)
        .where(members.c.organization_id == context.organization_id)
    )


def _name() -> sa.ColumnElement[str]:
    return sa.func.coalesce(col(UserRow.display_name), col(MemberRow.display_name))


def _email() -> sa.ColumnElement[str]:
    return sa.func.coalesce(col(UserRow.email), col(MemberRow.email))


def _matches(text: str) -> sa.ColumnElement[bool]:
    name = sa.func.lower(sa.func.concat_ws(" ", _name(), _email()))
    wallet = sa.exists().where(
        col(UserWalletRow.user_id) == col(UserRow.id),
        sa.func.strpos(sa.func.lower(col(UserWalletRow.address)), text) > 0,
    )
    return sa.or_(sa.func.strpos(name, text) > 0, wallet)


def _member(row: Any) -> Member:
    user = MemberUser(
        id=row.user_id, email=row.email, display_name=row.display_name, wallet_addresses=row.wallet_addresses or []
    )
    return Member(
        id=row.id,
        organization_id=row.organization_id,
        user_id=row.user_id,
        role=row.role,
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
        user=user,
    )


async def add(context: Context, body: MemberCreate) -> Member:
    """Make somebody a member: an existing user, or whoever has a wallet (a placeholder where nobody does)."""
    rules.check_identity(body)
    rules.check_grant(is_admin(context), body.role)
    user = await _user(context.session, body)
    email = body.email if user.email is None else None
    name = body.display_name if user.display_name is None else None
    row = await join(context.session, context.organization_id, user, body.role, email, name)
    return await one(context, row.id)


async def join(
    session: Write,
    organization_id: UUID,
    user: UserRow,
    role: Role,
    email: str | None = None,
    display_name: str | None = None,
) -> MemberRow:
    """A person's membership, made or taken up again; 409 where there is one. A placeholder's is pending."""
    query = sa.select(MemberRow).where(
        col(MemberRow.organization_id) == organization_id, col(MemberRow.user_id) == user.id
    )
    row: MemberRow | None = await session.scalar(query.with_for_update())
    if row is not None and row.status is not MemberStatus.INACTIVE:
        raise Conflict(ALREADY)
    row = row or MemberRow(organization_id=organization_id, user_id=user.id)
    row.role, row.email, row.display_name = role, email, display_name
    row.status = MemberStatus.PENDING if user.is_placeholder else MemberStatus.ACTIVE
    session.add(row)
    try:
        await session.flush()
    except IntegrityError as error:
        raise Conflict(ALREADY) from error
    await tell(session, organization_id, "member.added", ("member", row.id), None, _facts(row, user))
    return row


def _facts(row: MemberRow, user: UserRow) -> dict[str, Any]:
    person = {
        "id": str(user.id),
        "email": user.email or row.email,
        "display_name": user.display_name or row.display_name,
    }
    return shown(Member, row, user=person)


async def _user(session: Write, body: MemberCreate) -> UserRow:
    if body.chain_eid is not None:
        await _check_chain(session, body.chain_eid)
    if body.user_id is not None:
        known = await session.get(UserRow, body.user_id)
        if known is None:
            raise BadRequest("There is no such user.", pointer="/user_id")
        return known
    return await _owner(session, str(body.wallet_address), body)


async def _check_chain(session: Write, eid: int) -> None:
    known = sa.text("select exists (select from chains where xchain_eid = :eid)")
    if not await session.scalar(known, {"eid": eid}):
        raise BadRequest("No chain of the registry has this endpoint id.", pointer="/chain_eid")


async def _owner(session: Write, address: str, body: MemberCreate) -> UserRow:
    """Who has a wallet; a placeholder where nobody has. One at a time per address, so that no two are made."""
    await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:a, 0))"), {"a": f"wallet {address}"})
    query = sa.select(UserRow).join(UserWalletRow, col(UserWalletRow.user_id) == col(UserRow.id))
    known: UserRow | None = await session.scalar(query.where(col(UserWalletRow.address) == address))
    if known is not None:
        return known
    user = UserRow(is_placeholder=True)
    session.add(user)
    await session.flush()
    session.add(UserWalletRow(user_id=user.id, address=address, chain_eid=body.chain_eid))
    await session.flush()
    return user


async def change_role(context: Context, member_id: UUID, role: Role) -> Member:
    """Give a member another role."""
    row = await _locked(context, member_id)
    if row.role is not role:
        rules.check_grant(is_admin(context), role, row.role)
        await _check_admin_stays(context, row)
        before = shown(Member, row)
        row.role = role
        await context.session.flush()
        subject = ("member", row.id)
        await tell_change(context.session, row.organization_id, "member.updated", subject, before, shown(Member, row))
    return await one(context, member_id)


async def remove(context: Context, member_id: UUID) -> None:
    """End a membership."""
    row = await _locked(context, member_id)
    rules.check_grant(is_admin(context), row.role)
    await _check_admin_stays(context, row)
    before = _facts(row, await context.session.get_one(UserRow, row.user_id))
    await context.session.delete(row)
    await context.session.flush()
    await tell(context.session, row.organization_id, "member.removed", ("member", row.id), before)


async def _locked(context: Context, member_id: UUID) -> MemberRow:
    """A member to be changed. Changes of one organization's members wait for each other, so that two admins who remove
    each other at the same time leave one."""
    name = {"name": f"members {context.organization_id}"}
    await context.session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), name)
    query = sa.select(MemberRow).where(
        col(MemberRow.id) == member_id, col(MemberRow.organization_id) == context.organization_id
    )
    row: MemberRow | None = await context.session.scalar(query)
    if row is None:
        raise NotFound("There is no such member in this organization.")
    return row


async def _check_admin_stays(context: Context, row: MemberRow) -> None:
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
        rules.check_admin_stays(row.role, await context.session.scalar(others) or 0)


def is_admin(context: Context) -> bool:
    """Whether the caller is an admin here: the person, or, for a key alone, its creator as of now."""
    roles = context.roles if context.person else (context.key.creator_roles if context.key else ())
    return Role.ADMIN in roles
