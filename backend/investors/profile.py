"""The investor's memberships, parties and addresses."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.investors.schemas import (
    Investor,
    InvestorAddress,
    InvestorContact,
    InvestorMembership,
    InvestorMembershipList,
    InvestorParty,
)
from backend.parties.models import PartyRow

_MEMBERSHIPS = sa.text("select * from signum_investor_memberships()")
_CONSENT = sa.text("select agreed_at, created_at from signum_investor_memberships() where id = :membership")
_ABOVE = sa.text("select name from signum_investor_above()")
_CONTACT = sa.text("select name, email from signum_investor_contact()")
_ADDRESSES = sa.text("""
    select a.address, a.address in (select signum_investor_wallets()) as is_linked,
      a.address in (select signum_investor_kept()) as is_kept
    from signum_investor_addresses() a (address) order by is_linked desc, a.address
""")


async def memberships(context: Context) -> InvestorMembershipList:
    """Return the organizations of which the signed-in person is an investor."""
    rows = await context.session.execute(_MEMBERSHIPS)
    return InvestorMembershipList(memberships=[InvestorMembership.model_validate(row) for row in rows])


async def investor(context: Context, membership_id: UUID) -> Investor:
    """Enter the organization; return the investor as it knows them."""
    entered = await context.enter_as_investor(membership_id)
    own = sa.select(
        col(PartyRow.id),
        col(PartyRow.kind),
        col(PartyRow.name),
        col(PartyRow.country),
        col(PartyRow.wallet_address),
        col(PartyRow.status),
        col(PartyRow.kyc_level),
        col(PartyRow.accredited),
    ).where(
        col(PartyRow.organization_id) == context.organization_id,
        col(PartyRow.id).in_(sa.select(sa.func.signum_investor_parties())),
    )
    parties = await context.session.execute(own.order_by(col(PartyRow.created_at), col(PartyRow.id)))
    consent = (await context.session.execute(_CONSENT, {"membership": membership_id})).one()
    contact = (await context.session.execute(_CONTACT)).first()
    return Investor(
        id=membership_id,
        organization_id=entered.organization_id,
        organization_name=entered.organization_name,
        network=entered.network,
        organizations_above=list(await context.session.scalars(_ABOVE)),
        agreed_at=consent.agreed_at,
        member_since=consent.created_at,
        parties=[InvestorParty.model_validate(row) for row in parties],
        addresses=[InvestorAddress.model_validate(a._mapping) for a in await _addresses(context)],
        contact=InvestorContact.model_validate(contact._mapping) if contact else None,
    )


async def party_ids(context: Context) -> list[UUID]:
    """Return the parties of the investor who has entered, the oldest first."""
    own = sa.select(col(PartyRow.id)).where(col(PartyRow.id).in_(sa.select(sa.func.signum_investor_parties())))
    return list(await context.session.scalars(own.order_by(col(PartyRow.created_at), col(PartyRow.id))))


async def addresses(context: Context) -> list[str]:
    """Return the addresses of the investor who has entered."""
    return [row.address for row in await _addresses(context)]


async def linked(context: Context) -> list[str]:
    """Return those of the addresses that the investor has proven to own."""
    return [row.address for row in await _addresses(context) if row.is_linked]


async def kept(context: Context) -> list[str]:
    """Return those of the addresses that the organization keeps, and that the investor has not linked."""
    return [row.address for row in await _addresses(context) if row.is_kept and not row.is_linked]


async def _addresses(context: Context) -> list[sa.Row[tuple[str, bool, bool]]]:
    return list(await context.session.execute(_ADDRESSES))
