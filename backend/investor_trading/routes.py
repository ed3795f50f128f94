"""`/v1/investor/…`: markets, and transactions for the investor's own wallet, and claims for one
that the organization keeps."""

from uuid import UUID

from fastapi import APIRouter

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.investor_trading import claims, custody, markets, orders
from backend.investor_trading.schemas import (
    InvestorBook,
    InvestorClaimCreate,
    InvestorClaimSent,
    InvestorMarketList,
    InvestorOrderCheck,
    InvestorOrderCreate,
    PreparedTransactions,
)

# Declared at import.
router = APIRouter(prefix="/investor/{membershipId}", tags=["Investor"], route_class=GuardedRoute)


@router.get("/markets", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_markets(context: Current, membershipId: UUID) -> InvestorMarketList:
    """Get the markets in which the signed-in investor can trade, with their best prices."""
    await context.enter_as_investor(membershipId)
    return await markets.page(context)


@router.get("/markets/{marketId}", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_market(context: Current, membershipId: UUID, marketId: UUID) -> InvestorBook:
    """Get a market and its order book, without the makers of the orders."""
    await context.enter_as_investor(membershipId)
    return await markets.book(context, marketId)


@router.post("/markets/{marketId}/order-check", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def check_investor_order(
    context: Current, membershipId: UUID, marketId: UUID, body: InvestorOrderCreate
) -> InvestorOrderCheck:
    """Check an order that the signed-in investor would place with a linked wallet, against every rule and the wallet's
    funds."""
    await context.enter_as_investor(membershipId)
    return await orders.check(context, marketId, body)


@router.post("/markets/{marketId}/orders/prepare", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def prepare_investor_order(
    context: Current, membershipId: UUID, marketId: UUID, body: InvestorOrderCreate
) -> PreparedTransactions:
    """Prepare an order for the investor's wallet: the transactions to sign, and what each does in plain words. The
    order exists once the chain has it."""
    await context.enter_as_investor(membershipId)
    return await orders.prepare(context, marketId, body)


@router.post("/orders/{orderId}/cancel/prepare", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def prepare_investor_cancellation(context: Current, membershipId: UUID, orderId: UUID) -> PreparedTransactions:
    """Prepare the cancellation of one of the investor's orders for the wallet that placed it."""
    await context.enter_as_investor(membershipId)
    return await orders.prepare_cancellation(context, orderId)


@router.post("/claims/{distributionId}/prepare", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def prepare_investor_claim(
    context: Current, membershipId: UUID, distributionId: UUID, body: InvestorClaimCreate
) -> PreparedTransactions:
    """Prepare the claim of an amount that waits for the investor. Any of their linked wallets may send it; it is paid
    to the recipient."""
    await context.enter_as_investor(membershipId)
    return await claims.prepare(context, distributionId, body)


@router.post("/claims/{distributionId}", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def claim_kept_amount(
    context: Current, membershipId: UUID, distributionId: UUID, body: InvestorClaimCreate
) -> InvestorClaimSent:
    """Claim an amount that waits for the investor at a wallet that the organization keeps: it sends the claim, and the
    recipient is paid. The investor's claims show how far it is. 404 for any other address. While a claim is being sent,
    a repetition changes nothing."""
    await context.enter_as_investor(membershipId)
    return await custody.claim(context, distributionId, body)
