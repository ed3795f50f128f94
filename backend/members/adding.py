"""Becoming a member: at once for who is known here, otherwise when the person agrees.

Whoever adds somebody learns nothing of them by it. A wallet that nobody has and one of another tenant's person lead to
the same rows and the same answer: a placeholder of this membership's own, which tells neither that somebody was there
before nor that two wallets are one person's. Who it is comes out when they agree, and with their consent.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.changes import shown, tell, tell_change
from backend.db import Write
from backend.errors import BadRequest, Conflict
from backend.members import changing, rules, service
from backend.members.models import MemberRow, UserRow
from backend.members.schemas import Member, MemberCreate, MemberStatus, Role

ALREADY = "This person is a member of the organization already."
WAITS = "This wallet was added already; the membership waits for its owner to agree."
KNOWN = sa.text("select signum_known_person(:adder, :org, :whom, :wallet)").bindparams(
    sa.bindparam("adder", type_=sa.Uuid()), sa.bindparam("whom", type_=sa.Uuid())
)


async def add(context: Context, body: MemberCreate) -> Member:
    """Make somebody of the organization's own tree a member, and ask everybody else whether they agree."""
    rules.check_identity(body)
    rules.check_grant(service.is_admin(context), body.role)
    await changing.check_appointment(context, body.role)
    if body.chain_eid is not None:
        await _check_chain(context.session, body.chain_eid)
    known = await _known(context, body)
    if known is not None:
        row = await join(context.session, context.organization_id, known, body.role)
    else:
        row = await _ask(context, body)
    return await service.one(context, row.id)


async def _check_chain(session: Write, eid: int) -> None:
    known = sa.text("select exists (select from chains where xchain_eid = :eid)")
    if not await session.scalar(known, {"eid": eid}):
        raise BadRequest("No chain of the registry has this endpoint id.", pointer="/chain_eid")


async def _known(context: Context, body: MemberCreate) -> UUID | None:
    """Who is meant, where the caller may see who that is already."""
    # A key, and an application, reach their own organization only, and so does what they may see.
    adder = context.person.user_id if context.person and context.home is None else None
    asked: dict[str, Any] = {
        "adder": adder,
        "org": context.organization_id,
        "whom": body.user_id,
        "wallet": body.wallet_address,
    }
    found: UUID | None = await context.session.scalar(KNOWN, asked)
    return found


async def join(session: Write, organization_id: UUID, person: UUID, role: Role) -> MemberRow:
    """The membership of a person who has agreed or need not be asked: made, or begun where it waited; 409 where there
    is an active one."""
    row = await _of(session, organization_id, person)
    if row is None:
        return await _write(session, MemberRow(organization_id=organization_id, user_id=person, role=role))
    if row.status is MemberStatus.ACTIVE:
        raise Conflict(ALREADY)
    row.role = role
    await begin(session, row, person)
    return row


async def begin(session: Write, row: MemberRow, person: UUID) -> None:
    """Let a membership that waited, or had ended, begin: the person's own from now on. 409 for who is a member."""
    before, placeholder = shown(Member, row), row.user_id
    if placeholder != person:
        await _make_room(session, row.organization_id, person)
    row.user_id, row.status = person, MemberStatus.ACTIVE
    await session.flush()
    await service.forget_placeholder(session, placeholder)
    await tell_change(session, row.organization_id, "member.updated", ("member", row.id), before, shown(Member, row))


async def _make_room(session: Write, organization_id: UUID, person: UUID) -> None:
    """One membership of a person at a time: what they are asked by their id is answered by it too."""
    other = await _of(session, organization_id, person)
    if other is not None and other.status is MemberStatus.ACTIVE:
        raise Conflict("You are a member of this organization already.")
    if other is not None:
        await service.end(session, other)


async def _of(session: Write, organization_id: UUID, person: UUID) -> MemberRow | None:
    query = sa.select(MemberRow).where(
        col(MemberRow.organization_id) == organization_id, col(MemberRow.user_id) == person
    )
    row: MemberRow | None = await session.scalar(query.with_for_update())
    return row


async def _ask(context: Context, body: MemberCreate) -> MemberRow:
    """A membership that waits for its person. 409 where they were asked already."""
    if body.user_id is None:
        return await _write(context.session, _pending(context, body, await _placeholder(context, body)))
    if not await context.session.scalar(sa.text("select signum_is_person(:user)"), {"user": body.user_id}):
        raise BadRequest("There is no such user.", pointer="/user_id")
    if (row := await _of(context.session, context.organization_id, body.user_id)) is None:
        return await _write(context.session, _pending(context, body, body.user_id))
    if row.status is not MemberStatus.INACTIVE:
        raise Conflict(ALREADY)
    await service.end(context.session, row)
    return await _write(context.session, _pending(context, body, body.user_id))


async def _placeholder(context: Context, body: MemberCreate) -> UUID:
    waiting = sa.exists().where(
        col(MemberRow.organization_id) == context.organization_id,
        col(MemberRow.wallet_address) == body.wallet_address,
        col(MemberRow.status) == MemberStatus.PENDING,
    )
    if await context.session.scalar(sa.select(waiting)):
        raise Conflict(WAITS)
    user = UserRow(is_placeholder=True)
    context.session.add(user)
    await context.session.flush()
    return user.id


def _pending(context: Context, body: MemberCreate, person: UUID) -> MemberRow:
    return MemberRow(
        organization_id=context.organization_id,
        user_id=person,
        role=body.role,
        status=MemberStatus.PENDING,
        email=body.email,
        display_name=body.display_name,
        wallet_address=body.wallet_address,
        chain_eid=body.chain_eid,
    )


async def _write(session: Write, row: MemberRow) -> MemberRow:
    session.add(row)
    try:
        await session.flush()
    except IntegrityError as error:
        raise Conflict(ALREADY) from error
    user = None if row.status is MemberStatus.PENDING else await session.get(UserRow, row.user_id)
    await tell(session, row.organization_id, "member.added", ("member", row.id), None, service.facts(row, user))
    return row
