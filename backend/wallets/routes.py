"""`/v1/orgs/{orgId}/wallets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.wallets import service
from backend.wallets.schemas import Wallet, WalletCreate, WalletCreated, WalletDetail, WalletList, WalletUpdate

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/wallets", tags=["Wallets"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.WALLETS_READ)
async def list_wallets(context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.page)]) -> WalletList:
    """List server and linked wallets, newest first, with what each has of the organization's assets."""
    return await service.page(context, page)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.WALLETS_WRITE, fresh=True)
async def create_wallet(context: Current, orgId: UUID, body: WalletCreate, response: Response) -> WalletCreated:
    """Create a server wallet, or with `address` a linked one. The first server wallet becomes the default, the
    treasury; `message` says so."""
    wallet = await service.create(context, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/wallets/{wallet.id}"
    return wallet


@router.get("/{walletId}")
@requires(Scope.WALLETS_READ)
async def get_wallet(context: Current, orgId: UUID, walletId: UUID) -> WalletDetail:
    """Get a wallet with its balances, read from the chains now; `unreachable` names the chains that did not answer."""
    return await service.detail(context, walletId)


@router.patch("/{walletId}")
@requires(Scope.WALLETS_WRITE, fresh=True)
async def update_wallet(context: Current, orgId: UUID, walletId: UUID, body: WalletUpdate) -> Wallet:
    """Change the label, or make the wallet the default (before any token is deployed)."""
    return await service.update(context, walletId, body)


@router.delete("/{walletId}", status_code=status.HTTP_204_NO_CONTENT, responses={409: {}})
@requires(Scope.WALLETS_WRITE, fresh=True)
async def delete_wallet(context: Current, orgId: UUID, walletId: UUID) -> None:
    """Delete a wallet. 409 if a server wallet is the default, attests, has open orders or has a balance."""
    await service.remove(context, walletId)
