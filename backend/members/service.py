"""Members of the entered organization."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array as pg_array
from sqlalchemy.orm import aliased
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.changes import publish, shown
from backend.core.db import Write
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import BETWEEN, Listing, Page
from backend.members.schemas import Appointment, Member, MemberList, MemberUser
from backend.users.models import MemberRow, UserRow, UserWalletRow
from backend.users.schemas import MemberStatus, Role

GIVEN = ("email", "display_name", "wallet_address", "chain_eid")
APPOINTED = ("added_by", "appointed_by", "agreed_by", "appointed_at", "placed_by", "maker_key_id", "maker_grant_id")
COMPUTED = (*GIVEN, "user_id", "asked_user_id", *APPOINTED)
IS_PENDING = col(MemberRow.status) == MemberStatus.PENDING
"""The person has not agreed yet: the organization sees only what it entered."""
_GIVER, _AGREEING = aliased(UserRow), aliased(UserRow)
"""Made once, because an alias copies every column."""


async def page(context: Context, page: Page, role: Role | None, status: MemberStatus | None) -> MemberList:
    """Return a page of members."""
    query = where_given(_query(context), (col(MemberRow.role), role), (col(MemberRow.status), status))
    shown, paging = await page.read(context.session, query)
    return MemberList(members=[_member(r) for r in shown], **paging)


async def one(context: Context, member_id: UUID) -> Member:
    """Return one member; 404 if the ID does not belong to this organization."""
    row = (await context.session.execute(_query(context).where(col(MemberRow.id) == member_id))).first()
    if row is None:
        raise NotFound("There is no member with this ID in this organization.")
    return _member(row)


def _query(context: Context) -> sa.Select[Any]:
    members = sa.inspect(MemberRow).local_table
    giver, agreeing = _GIVER, _AGREEING
    return (
        sa.select(
            *(c for c in members.c if c.name not in COMPUTED),
            _user_id().label("user_id"),
            _name().label("display_name"),
            _email().label("email"),
            _wallets().label("wallet_addresses"),
            members.c.appointed_at,
            sa.func.coalesce(giver.display_name, giver.email).label("appointed_by_name"),
            sa.func.coalesce(agreeing.display_name, agreeing.email).label("agreed_by_name"),
        )
        # Before a person agrees, nothing about them is visible.
        .outerjoin(UserRow, col(UserRow.id) == members.c.user_id)
        .outerjoin(giver, col(giver.id) == sa.func.coalesce(members.c.appointed_by, members.c.added_by))
        .outerjoin(agreeing, col(agreeing.id) == members.c.agreed_by)
        .where(members.c.organization_id == context.organization_id)
    )


def _user_id() -> sa.ColumnElement[Any]:
    return _shown(col(MemberRow.user_id), sa.func.coalesce(col(MemberRow.asked_user_id), col(MemberRow.user_id)))


def _name() -> sa.ColumnElement[str | None]:
    return _shown(col(UserRow.display_name), col(MemberRow.display_name))


def _email() -> sa.ColumnElement[str | None]:
    return _shown(col(UserRow.email), col(MemberRow.email))


def _shown(own: Any, given: Any) -> sa.ColumnElement[str | None]:
    """Return what the person has on file once they have agreed; until then, or if nothing is on file, what was
    entered."""
    return sa.case((IS_PENDING, given), else_=sa.func.coalesce(own, given))


def _wallets() -> sa.ColumnElement[list[str]]:
    linked = sa.select(sa.func.array_agg(sa.text("address order by created_at"))).select_from(UserWalletRow)
    own = linked.where(col(UserWalletRow.user_id) == col(MemberRow.user_id)).scalar_subquery()
    given = sa.func.array_remove(pg_array([col(MemberRow.wallet_address)]), None)
    return sa.case((IS_PENDING, given), else_=own)


LIST = Listing.of(
    sa.inspect(MemberRow).local_table.c,
    "created_at",
    "updated_at",
    names=(_name(), _email()),
    codes=(sa.func.array_to_string(_wallets(), BETWEEN), _user_id()),
)


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
        appointment=Appointment(by=row.appointed_by_name, agreed_by=row.agreed_by_name, at=row.appointed_at),
    )


async def end(session: Write, row: MemberRow) -> None:
    """Delete a membership, and the placeholder of a person who was never identified."""
    user = None if row.status is MemberStatus.PENDING else await session.get(UserRow, row.user_id)
    before = facts(row, user)
    await session.delete(row)
    await session.flush()
    await forget_placeholder(session, row.user_id)
    await publish(session, row.organization_id, "member.removed", ("member", row.id), before)


async def forget_placeholder(session: Write, user_id: UUID) -> None:
    """Delete a placeholder user; do nothing for a real person."""
    await session.execute(sa.text("select signum_forget_placeholder(:user)"), {"user": user_id})


def facts(row: MemberRow, user: UserRow | None) -> dict[str, Any]:
    """Return a membership's facts for the audit log; without the user, only what the organization entered."""
    email, name = (user.email, user.display_name) if user else (None, None)
    person = {
        "id": str(row.asked_user_id or row.user_id),
        "email": email or row.email,
        "display_name": name or row.display_name,
    }
    return record(row, user=person)


def record(row: MemberRow, **more: Any) -> dict[str, Any]:
    """Return a membership as the API shows it; while pending, with the user's ID that the organization entered."""
    return shown(Member, row, user_id=str(row.asked_user_id or row.user_id), **more)
