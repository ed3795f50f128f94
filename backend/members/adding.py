"""Becoming a member: at once for who is known here, otherwise when the person agrees.

Whoever adds somebody learns nothing of them by it. A wallet that nobody has and one of another tenant's person lead to
the same rows and the same answer: a placeholder of this membership's own, which tells neither that somebody was there
before nor that two wallets are one person's. Who it is comes out when they agree, and with their consent.
"""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell, tell_change, untold
from backend.db import Write, new_id
from backend.errors import BadRequest, Conflict
from backend.members import appointing, rules, service
from backend.members.appointing import AGREEING, Appointment
from backend.members.models import MemberRow, UserRow
from backend.members.schemas import (
    Member,
    MemberAccepted,
    MemberCreate,
    MemberFieldChange,
    MemberImpact,
    MemberPlan,
    MemberStatus,
    Role,
)
from backend.requests.accept import accept, told
from backend.requests.service import Step
from backend.workflows import Run

ALREADY = "This person is a member of the organization already."
WAITS = "This person was added already; the membership waits for them to agree. Remove it to add them again."
KNOWN = sa.text("select signum_known_person(:adder, :org, :whom, :wallet)").bindparams(
    sa.bindparam("adder", type_=sa.Uuid()), sa.bindparam("whom", type_=sa.Uuid())
)


@dataclass(frozen=True)
class Addition:
    """A person to be added: by whom, who agreed, and as far as whom the adder sees (`adder`)."""

    organization_id: UUID
    member_id: UUID
    body: MemberCreate
    adder: UUID | None
    by: Appointment

    @classmethod
    async def asked(cls, context: Context, body: MemberCreate) -> Self:
        """As it is asked for now."""
        # A key, and an application, reach their own organization only, and so does what they may see.
        adder = context.person.user_id if context.person and context.home is None else None
        return cls(context.organization_id, new_id(), body, adder, await appointing.of(context))

    @classmethod
    def agreed(cls, run: Run, by: Appointment) -> Self:
        """As it was asked for, and a second person has agreed."""
        adder = UUID(run.arguments["adder"]) if run.arguments["adder"] else None
        body = MemberCreate.model_validate(run.arguments["body"])
        return cls(run.organization_id, run.subject_id, body, adder, by)

    def arguments(self) -> dict[str, Any]:
        """What `agreed` reads, as JSON."""
        return {"adder": str(self.adder) if self.adder else None, "body": self.body.model_dump(mode="json")}


async def add(context: Context, body: MemberCreate) -> Member | MemberAccepted:
    """Make somebody of the organization's own tree a member, and ask everybody else whether they agree; or ask a second
    person first."""
    scope = await _checked(context, body)
    wanted = await Addition.asked(context, body)
    if scope is None:
        return await service.one(context, (await make(context.session, wanted)).id)
    title = await _tried(context, wanted)
    request = await accept(
        context,
        appointing.ADD,
        title,
        subject=("member", wanted.member_id),
        scope=scope,
        steps=[Step("member_added", title)],
        order=f"members:{context.organization_id}",
        arguments=wanted.arguments(),
        always_asks=True,
    )
    message = told(request, title)
    return MemberAccepted(memberId=wanted.member_id, status=request.status, request_id=str(request.id), message=message)


async def plan(context: Context, body: MemberCreate) -> MemberPlan:
    """What an addition would do."""
    scope = await _checked(context, body)
    title = await _tried(context, await Addition.asked(context, body))
    change = MemberFieldChange(field="role", before=None, after=body.role)
    return MemberPlan(steps=[*([AGREEING] if scope else []), title], impact=MemberImpact(changes=[change]))


async def _checked(context: Context, body: MemberCreate) -> Scope | None:
    """The scope of the second person who has to agree; None where nobody has to."""
    rules.check_identity(body)
    appointing.check_grant(context, body.role)
    if body.chain_eid is not None:
        await _check_chain(context.session, body.chain_eid)
    return await appointing.scope_needed(context, None, body.role)


async def _tried(context: Context, wanted: Addition) -> str:
    """Raise what the addition would be refused with, and leave nothing behind; what it is called."""
    with untold():
        async with context.session.begin_nested() as trial:
            row = await make(context.session, wanted)
            user = (await service.one(context, row.id)).user
            await trial.rollback()
    name = user.display_name or user.email or next(iter(user.wallet_addresses), str(user.id))
    return f"Add {name} as {rules.as_words(wanted.body.role)}"


async def make(session: Write, wanted: Addition) -> MemberRow:
    """The membership; the one that was made before, where a workflow does it once more."""
    if made := await session.get(MemberRow, wanted.member_id):
        return made
    known = await _known(session, wanted)
    if known is not None:
        return await join(session, wanted.organization_id, known, wanted.body.role, wanted.by, wanted.member_id)
    return await _ask(session, wanted)


async def _check_chain(session: Write, eid: int) -> None:
    known = sa.text("select exists (select from chains where xchain_eid = :eid)")
    if not await session.scalar(known, {"eid": eid}):
        raise BadRequest("No chain of the registry has this endpoint id.", pointer="/chain_eid")


async def _known(session: Write, wanted: Addition) -> UUID | None:
    """Who is meant, where the adder may see who that is already."""
    asked: dict[str, Any] = {
        "adder": wanted.adder,
        "org": wanted.organization_id,
        "whom": wanted.body.user_id,
        "wallet": wanted.body.wallet_address,
    }
    found: UUID | None = await session.scalar(KNOWN, asked)
    return found


async def join(
    session: Write, organization_id: UUID, person: UUID, role: Role, by: Appointment, member_id: UUID | None = None
) -> MemberRow:
    """The membership of a person who has agreed or need not be asked: made, or begun where it waited; 409 where there
    is an active one."""
    row = await _of(session, organization_id, person)
    if row is None:
        new = MemberRow(id=member_id or new_id(), organization_id=organization_id, user_id=person, role=role)
        new.added_by = by.by
        by.begin(new)
        return await _write(session, new)
    if row.status is MemberStatus.ACTIVE:
        if by.agreed_by and (row.role, appointing.given(row)) == (role, by):
            return row  # done before, by a run of the workflow that was interrupted
        raise Conflict(ALREADY)
    row.role, row.added_by = role, by.by
    by.begin(row)
    await begin(session, row, person)
    return row


async def begin(session: Write, row: MemberRow, person: UUID) -> None:
    """Let a membership that waited, or had ended, begin: the person's own from now on. 409 for who is a member."""
    made = appointing.given(row)
    await appointing.check_still_granted(session, row.organization_id, row.role, made)
    before, placeholder = service.record(row), row.user_id
    if placeholder != person:
        await _make_room(session, row, person)
    row.user_id, row.asked_user_id, row.status = person, None, MemberStatus.ACTIVE
    made.begin(row)
    await session.flush()
    await service.forget_placeholder(session, placeholder)
    await tell_change(session, row.organization_id, "member.updated", ("member", row.id), before, service.record(row))


async def _make_room(session: Write, row: MemberRow, person: UUID) -> None:
    """One membership of a person at a time: what they are asked by their id is answered by it too."""
    other = await _of(session, row.organization_id, person, col(MemberRow.id) != row.id)
    if other is not None and other.status is MemberStatus.ACTIVE:
        raise Conflict("You are a member of this organization already.")
    if other is not None:
        await service.end(session, other)


async def _of(session: Write, organization_id: UUID, person: UUID, *which: sa.ColumnElement[bool]) -> MemberRow | None:
    """The membership of a person, an active one first, and otherwise the one they were asked for by their id."""
    is_asked = sa.and_(col(MemberRow.asked_user_id) == person, service.IS_PENDING)
    query = sa.select(MemberRow).where(
        col(MemberRow.organization_id) == organization_id, sa.or_(col(MemberRow.user_id) == person, is_asked), *which
    )
    query = query.order_by(col(MemberRow.status), col(MemberRow.id)).limit(1)
    row: MemberRow | None = await session.scalar(query.with_for_update())
    return row


async def _ask(session: Write, wanted: Addition) -> MemberRow:
    """A membership that waits for its person. A user whom the adder does not see and an id that is nobody's lead to the
    same rows, and so does a wallet. 409 where they were asked already and could still agree."""
    body, here = wanted.body, wanted.organization_id
    whom = (
        col(MemberRow.asked_user_id) == body.user_id
        if body.user_id
        else col(MemberRow.wallet_address) == body.wallet_address
    )
    query = sa.select(MemberRow).where(col(MemberRow.organization_id) == here, service.IS_PENDING, whom)
    waiting: MemberRow | None = await session.scalar(query.with_for_update())
    if waiting is not None:
        if not appointing.is_over(waiting):
            raise Conflict(WAITS)
        await service.end(session, waiting)
    placeholder = UserRow(is_placeholder=True)
    session.add(placeholder)
    await session.flush()
    given = body.model_dump(include={"role", "email", "display_name", "wallet_address", "chain_eid"})
    row = MemberRow(
        id=wanted.member_id,
        organization_id=here,
        user_id=placeholder.id,
        asked_user_id=body.user_id,
        status=MemberStatus.PENDING,
        added_by=wanted.by.by,
        **given,
    )
    wanted.by.begin(row)
    return await _write(session, row)


async def _write(session: Write, row: MemberRow) -> MemberRow:
    session.add(row)
    try:
        await session.flush()
    except IntegrityError as error:
        raise Conflict(ALREADY) from error
    user = None if row.status is MemberStatus.PENDING else await session.get(UserRow, row.user_id)
    await tell(session, row.organization_id, "member.added", ("member", row.id), None, service.facts(row, user))
    return row
