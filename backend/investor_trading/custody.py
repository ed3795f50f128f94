"""Claims for an investor whose wallet the organization keeps: the organization sends them."""

from dataclasses import replace
from uuid import UUID

from backend.auth import investor_entry
from backend.auth.principal import Context
from backend.compliance.refusal import Refused
from backend.core.errors import Conflict, NotFound
from backend.distributions import payments
from backend.investor_trading import claims, senders
from backend.investor_trading.schemas import InvestorClaimCreate, InvestorClaimSent
from backend.investors.schemas import ClaimPayment

NOT_KEPT = "Your organization does not keep this wallet. Claim with a wallet that you have linked."
UNABLE = "Your organization cannot send this claim now. Contact it."


async def claim(context: Context, distribution_id: UUID, body: InvestorClaimCreate) -> InvestorClaimSent:
    """Have the organization claim an amount of the investor; 404 if the address is another person's, or not a
    server wallet of the organization. It needs no second person: the payment was decided with the distribution."""
    await senders.counted(context)
    row = await claims.waiting(context, distribution_id, body.address)
    if not await investor_entry.pay(context.session, distribution_id, row.address):
        raise NotFound(NOT_KEPT)
    organization = replace(context, investor=None)
    try:
        await payments.pay(organization, row.asset_id, distribution_id, row.address)
    except Refused as refusal:  # the resolutions are operations of staff
        raise Refused([verdict.model_copy(update={"resolution": None}) for verdict in refusal.verdicts]) from refusal
    except Conflict as problem:  # such as the organization's wallet without funds
        raise Conflict(UNABLE) from problem
    return InvestorClaimSent(distribution_id=distribution_id, address=row.address, payment=ClaimPayment.SENDING)
