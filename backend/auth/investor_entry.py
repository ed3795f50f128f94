"""Entering an organization as its investor: the rights of a client's browser session, and nothing more."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.errors import AddressNotAllowed, NotFound, SecondFactorRequired
from backend.core.fields import Network

NONE = "You have no investor account with this ID."
_ENTER = sa.text("select * from signum_enter_as_investor(:membership, cast(:address as inet))")
_PAY = sa.text("select signum_investor_pays(:distribution, :address)")
_WRITE = sa.text("select signum_investor_writes(:what)")


@dataclass(frozen=True)
class Entered:
    """The organization of a membership."""

    organization_id: UUID
    organization_name: str
    network: Network


async def enter(session: AsyncSession, membership_id: UUID, address: str | None) -> Entered:
    """Limit a transaction to what concerns the signed-in person as an investor (backend/migrations/sql/investors.sql).

    404 where they have no such active membership as `client`; 403 where the organization refuses the address, or
    requires a second factor that they lack.
    """
    found = (await session.execute(_ENTER, {"membership": membership_id, "address": address})).first()
    if found is None:
        raise NotFound(NONE)
    if found.refused_by is not None:
        raise AddressNotAllowed.by_organization(address, found.refused_by, found.refused_by_name)
    if found.lacks_factor:
        raise SecondFactorRequired
    return Entered(found.organization_id, found.organization_name, Network(found.network))


async def write(session: AsyncSession, what: UUID | Literal["membership"]) -> None:
    """Open the tables for one write of an investor until the transaction ends: a document of a party (its ID), or the
    end of their membership. 404 for that of another person.
    """
    if not await session.scalar(_WRITE, {"what": str(what)}):
        raise NotFound(NONE)


async def pay(session: AsyncSession, distribution_id: UUID, address: str) -> bool:
    """Let the rest of a transaction act for the organization, to pay an amount of a distribution to an address of the
    investor that is a server wallet of the organization. Return whether it does: False, and nothing changes, for any
    other address.
    """
    return bool(await session.scalar(_PAY, {"distribution": distribution_id, "address": address}))
