"""Add members: people known here immediately, all others when they agree.

The caller learns nothing about the person. An unknown wallet and the wallet of another tenant's person create the same
rows and the same answer: a placeholder specific to this membership. It reveals neither that the person exists nor that
two wallets belong to one person. The identity is shown only when the person agrees.
"""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chains import service as chains
from backend.compliance.schemas import Resolution
from backend.core.changes import publish, publish_change, unpublished
from backend.core.db import Write, new_id
from backend.core.errors import Conflict
from backend.core.fields import Acceptance
from backend.core.settings import settings
from backend.members import appointments, rules, service
from backend.members.appointments import AGREEING, Appointment
from backend.members.schemas import (
    Member,
    MemberAdded,
    MemberCreate,
    MemberFieldChange,
    MemberImpact,
    MemberPlan,
)
from backend.requests.accept import accept, acceptance_message
from backend.requests.runs import Run
from backend.requests.service import Step
from backend.users.models import MemberRow, UserRow
from backend.users.schemas import MemberStatus, Role

ALREADY = "This person is already a member of the organization."
WAITS = "This person was already added; the membership waits for their agreement. Remove it to add them again."
KNOWN = sa.text("select signum_known_person(:adder, :org, :whom, :wallet)").bindparams(
    sa.bindparam("adder", type_=sa.Uuid()), sa.bindparam("whom", type_=sa.Uuid())
)


@dataclass(frozen=True)
class Addition:
    """A person to add: the adder, who agreed, and the person whose view applies (`adder`)."""

    organization_id: UUID
    member_id: UUID
    body: MemberCreate
    adder: UUID | None
    by: Appointment

    @classmethod
    async def asked(cls, context: Context, body: MemberCreate) -> Self:
        """Return the addition as requested now."""
        # A key or an application reaches only its own organization, and so does what it may see.
        adder = context.person.user_id if context.person and context.home is None else None
        return cls(context.organization_id, new_id(), body, adder, await appointments.of(context))

    @classmethod
    def agreed(cls, run: Run, by: Appointment) -> Self:
        """Return the addition as requested, with the second person's approval."""
        adder = UUID(run.arguments["adder"]) if run.arguments["adder"] else None
        body = MemberCreate.model_validate(run.arguments["body"])
        return cls(run.organization_id, run.subject_id, body, adder, by)

    def arguments(self) -> dict[str, Any]:
        """Return what `agreed` reads, as JSON."""
        return {"adder": str(self.adder) if self.adder else None, "body": self.body.model_dump(mode="json")}


async def add(context: Context, body: MemberCreate) -> MemberAdded | Acceptance:
    """Add a person of the organization's own tree as a member, ask any other person to agree, or first request a second
    person's approval."""
    scope = await _checked(context, body)
    wanted = await Addition.asked(context, body)
    if scope is None:
        return _added(await service.one(context, (await make(context.session, wanted)).id))
    title = await _tried(context, wanted)
    request = await accept(
        context,
        appointments.ADD,
        title,
        subject=("member", wanted.member_id),
        scope=scope,
        steps=[Step("member_added", title)],
        order=f"members:{context.organization_id}",
        arguments=wanted.arguments(),
        always_asks=True,
    )
    message = acceptance_message(request, title)
    return Acceptance(status=request.status, request_id=str(request.id), message=message)


def _added(member: Member) -> MemberAdded:
    path = f"/memberships/{member.id}/accept"
    words = "The person accepts, signed in as themselves. GET /memberships/pending lists it for them."
    call = Resolution(method="POST", path=path, href=settings().base_url + path, description=words)
    return MemberAdded(**dict(member), acceptance=call if member.status is MemberStatus.PENDING else None)


async def plan(context: Context, body: MemberCreate) -> MemberPlan:
    """Return what an addition would do."""
    scope = await _checked(context, body)
    title = await _tried(context, await Addition.asked(context, body))
    change = MemberFieldChange(field="role", before=None, after=body.role)
    impact = MemberImpact(changes=[change], **body.model_dump(include={"user_id", "wallet_address", "email"}))
    return MemberPlan(steps=[*([AGREEING] if scope else []), title], impact=impact)


async def _checked(context: Context, body: MemberCreate) -> Scope | None:
    """Return the scope that the second person needs; None if no approval is needed."""
    rules.check_identity(body)
    appointments.check_grant(context, body.role)
    if body.chain_eid is not None:
        await chains.usable(context, body.chain_eid)
    return await appointments.scope_needed(context, None, body.role)


async def _tried(context: Context, wanted: Addition) -> str:
    """Run the addition, raise what it would be refused with, and roll it back. Return its title.

    A person whom the adder may not see is named by wallet or user ID: the name in the request is only a claim.
    """
    with unpublished():
        async with context.session.begin_nested() as trial:
            row = await make(context.session, wanted)
            is_known, user = row.status is MemberStatus.ACTIVE, (await service.one(context, row.id)).user
            await trial.rollback()
    name = (user.display_name or user.email) if is_known else None
    return f"Add {name or rules.person(wanted.body)} as {rules.as_words(wanted.body.role)}"


async def make(session: Write, wanted: Addition) -> MemberRow:
    """Create the membership; on a workflow retry, return the existing one."""
    if made := await session.get(MemberRow, wanted.member_id):
        return made
    known = await _known(session, wanted)
    if known is not None:
        return await join(session, wanted.organization_id, known, wanted.body.role, wanted.by, wanted.member_id)
    return await _ask(session, wanted)


async def _known(session: Write, wanted: Addition) -> UUID | None:
    """Return the person, if the adder may already see who it is."""
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
    """Create the membership of a person who has agreed or need not be asked, or activate a pending one; 409 if one is
    active."""
    row = await _of(session, organization_id, person)
    if row is None:
        new = MemberRow(id=member_id or new_id(), organization_id=organization_id, user_id=person, role=role)
        new.added_by = by.by
        by.begin(new)
        return await _write(session, new)
    if row.status is MemberStatus.ACTIVE:
        if by.agreed_by and (row.role, appointments.given(row)) == (role, by):
            return row  # already done by an interrupted run of the workflow
        raise Conflict(ALREADY)
    row.role, row.added_by = role, by.by
    by.begin(row)
    await begin(session, row, person)
    return row


async def begin(session: Write, row: MemberRow, person: UUID) -> None:
    """Activate a membership that was pending or had ended, and assign it to the person. 409 for a member."""
    made = appointments.given(row)
    await appointments.check_still_granted(session, row.organization_id, row.role, made)
    before, placeholder = service.record(row), row.user_id
    if placeholder != person:
        await _make_room(session, row, person)
    row.user_id, row.asked_user_id, row.status = person, None, MemberStatus.ACTIVE
    made.begin(row)
    await session.flush()
    await service.forget_placeholder(session, placeholder)
    subject, after = ("member", row.id), service.record(row)
    await publish_change(session, row.organization_id, "member.updated", subject, before, after)


async def _make_room(session: Write, row: MemberRow, person: UUID) -> None:
    """Keep one membership per person: accepting any of them also answers a request by user ID."""
    other = await _of(session, row.organization_id, person, col(MemberRow.id) != row.id)
    if other is not None and other.status is MemberStatus.ACTIVE:
        raise Conflict("You are already a member of this organization.")
    if other is not None:
        await service.end(session, other)


async def _of(session: Write, organization_id: UUID, person: UUID, *which: sa.ColumnElement[bool]) -> MemberRow | None:
    """Return a person's membership: an active one first, otherwise the pending one requested by their ID."""
    is_asked = sa.and_(col(MemberRow.asked_user_id) == person, service.IS_PENDING)
    query = sa.select(MemberRow).where(
        col(MemberRow.organization_id) == organization_id, sa.or_(col(MemberRow.user_id) == person, is_asked), *which
    )
    query = query.order_by(col(MemberRow.status), col(MemberRow.id)).limit(1)
    row: MemberRow | None = await session.scalar(query.with_for_update())
    return row


async def _ask(session: Write, wanted: Addition) -> MemberRow:
    """Create a membership that waits for its person. A user whom the adder cannot see and an unknown ID create the same
    rows, and so does a wallet. 409 if the person was already asked and can still agree."""
    body, here = wanted.body, wanted.organization_id
    whom = (
        col(MemberRow.asked_user_id) == body.user_id
        if body.user_id
        else col(MemberRow.wallet_address) == body.wallet_address
    )
    query = sa.select(MemberRow).where(col(MemberRow.organization_id) == here, service.IS_PENDING, whom)
    waiting: MemberRow | None = await session.scalar(query.with_for_update())
    if waiting is not None:
        if not appointments.is_over(waiting):
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
    await publish(session, row.organization_id, "member.added", ("member", row.id), None, service.facts(row, user))
    return row
