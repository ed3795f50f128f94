"""`/v1/orgs/{orgId}/wallets/{walletId}/test-funds`: embedded chains only."""

from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.requests.responses import accepted
from backend.test_funds import service
from backend.test_funds.schemas import WalletFunding, WalletFundingAccepted


async def _check(_: Current) -> None:
    """Refuse public chains before the body is validated, and after the caller is."""
    service.check_exists()


# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/wallets", tags=["Wallets"], route_class=GuardedRoute)


@router.post("/{walletId}/test-funds", status_code=status.HTTP_202_ACCEPTED, dependencies=[Depends(_check)])
@requires(Scope.WALLETS_WRITE)
async def pay_test_funds(
    context: Current, orgId: UUID, walletId: UUID, body: WalletFunding, response: Response
) -> WalletFundingAccepted:
    """Pay tUSD, the test currency of embedded chains, to a server wallet, so that it can place buy orders.

    Without `amount`, 1,000,000 tUSD. It has no value. Each call counts as a transaction that the operator pays for. 404
    on public chains.
    """
    return accepted(response, orgId, await service.pay(context, walletId, body))
