"""`/v1/investor`: what an investor sees in the console. Browser sessions only: the role `client` has no API access."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.investors import activity, eligibility, holdings, profile, statements
from backend.investors.schemas import (
    Investor,
    InvestorClaims,
    InvestorEligibilities,
    InvestorHoldings,
    InvestorMembershipList,
    InvestorOrders,
    InvestorStatements,
    InvestorTrades,
)

CSV, PDF = "text/csv", "application/pdf"
STATEMENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The statement: RFC 4180 in UTF-8, with a header line.", "content": {CSV: {}}}
}
PAPER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The statement, A4.", "content": {PDF: {"schema": {"type": "string", "format": "binary"}}}}
}
Month = Annotated[
    str, Query(pattern="^20[2-9][0-9]-(0[1-9]|1[0-2])$", max_length=7, description="The month, in UTC: `2026-11`.")
]

# Declared at import.
router = APIRouter(prefix="/investor", tags=["Investor"], route_class=GuardedRoute)


@router.get("/memberships")
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_memberships(context: Current) -> InvestorMembershipList:
    """Get the organizations of which the signed-in person is an investor, by name."""
    return await profile.memberships(context)


@router.get("/{membershipId}", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor(context: Current, membershipId: UUID) -> Investor:
    """Get the signed-in person as an organization knows them: their parties and addresses.

    A party belongs to the person if it has their email; if the party or the account has none, one of the person's
    linked wallets is enough."""
    return await profile.investor(context, membershipId)


@router.get("/{membershipId}/holdings", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_holdings(context: Current, membershipId: UUID) -> InvestorHoldings:
    """Get what the signed-in investor holds, and its value at the last trade."""
    await context.enter_as_investor(membershipId)
    return await holdings.of(context)


@router.get("/{membershipId}/eligibility", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_eligibility(context: Current, membershipId: UUID) -> InvestorEligibilities:
    """Get which assets the signed-in investor may hold, on which chain, and until when."""
    await context.enter_as_investor(membershipId)
    return await eligibility.of(context)


@router.get("/{membershipId}/orders", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_orders(context: Current, membershipId: UUID) -> InvestorOrders:
    """Get the signed-in investor's orders, the open ones first."""
    await context.enter_as_investor(membershipId)
    return await activity.orders(context)


@router.get("/{membershipId}/trades", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_trades(context: Current, membershipId: UUID) -> InvestorTrades:
    """Get the signed-in investor's trades, newest first."""
    await context.enter_as_investor(membershipId)
    return await activity.trades(context)


@router.get("/{membershipId}/claims", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_claims(context: Current, membershipId: UUID) -> InvestorClaims:
    """Get the amounts of distributions that are the signed-in investor's, those that wait first."""
    await context.enter_as_investor(membershipId)
    return await activity.claims(context)


@router.get("/{membershipId}/statements", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_statements(context: Current, membershipId: UUID) -> InvestorStatements:
    """Get the months for which the signed-in investor has a statement, the newest first."""
    await context.enter_as_investor(membershipId)
    return await statements.months(context)


@router.get("/{membershipId}/statements.csv", response_class=Response, responses={404: {}, **STATEMENT})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def export_investor_statement(context: Current, membershipId: UUID, month: Month) -> Response:
    """Export a month's statement as CSV: per asset the opening balance, every change, and the closing balance with its
    value at the last trade. Amounts are in whole units."""
    await context.enter_as_investor(membershipId)
    return _file(await statements.as_csv(context, month), CSV, f"statement-{month}.csv")


@router.get("/{membershipId}/statements.pdf", response_class=Response, responses={404: {}, **PAPER})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def print_investor_statement(context: Current, membershipId: UUID, month: Month) -> Response:
    """Export a month's statement as PDF, with the lines of the CSV. A complete month gives the same bytes each time, as
    long as names and wallets stay the same."""
    return _file(await statements.as_pdf(context, membershipId, month), PDF, f"statement-{month}.pdf")


def _file(content: str | bytes, media_type: str, name: str) -> Response:
    """Return a file that a browser stores, and never caches."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=media_type, headers=headers)
