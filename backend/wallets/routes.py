"""`/v1/orgs/{orgId}/wallets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import Page
from backend.wallets import service
from backend.wallets.schemas import Wallet, WalletCreate, WalletDetail, WalletList, WalletUpdate

router = APIRouter(prefix="/orgs/{orgId}/wallets", tags=["Wallets"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.WALLETS_READ)
async def list_wallets(context: Current, orgId: UUID, page: Annotated[Page, Depends()]) -> WalletList:
    """Server and linked wallets, newest first."""
    return await service.page(context, page)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.WALLETS_WRITE, fresh=True)
async def create_wallet(context: Current, orgId: UUID, body: WalletCreate, response: Response) -> Wallet:
    """A server wallet, or with `address` a linked one. The first server wallet becomes the default, the treasury."""
    wallet = await service.create(context, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/wallets/{wallet.id}"
    return wallet


@router.get("/{walletId}")
@requires(Scope.WALLETS_READ)
async def get_wallet(context: Current, orgId: UUID, walletId: UUID) -> WalletDetail:
    """A wallet with its balances, read from the chains now; `unreachable` names those that did not answer."""
    return await service.detail(context, walletId)


@router.patch("/{walletId}")
@requires(Scope.WALLETS_WRITE, fresh=True)
async def update_wallet(context: Current, orgId: UUID, walletId: UUID, body: WalletUpdate) -> Wallet:
    """Another label, or make it the default (while no token is deployed)."""
    return await service.update(context, walletId, body)


@router.delete("/{walletId}", status_code=status.HTTP_204_NO_CONTENT, responses={409: {}})
@requires(Scope.WALLETS_WRITE, fresh=True)
async def delete_wallet(context: Current, orgId: UUID, walletId: UUID) -> None:
    """Forget a wallet. 409 where a server wallet is the default, attests, has open orders or holds anything."""
    await service.remove(context, walletId)
