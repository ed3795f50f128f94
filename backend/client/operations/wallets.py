"""Wallets. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.wallets.schemas import Wallet, WalletCreate, WalletDetail, WalletList, WalletUpdate


class WalletsOperations(Connection):
    """Wallets."""

    def list_wallets(
        self, org_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[WalletList, Wallet]:
        """Server and linked wallets, newest first.

        Scope: `wallets:read`.
        """
        return self._pages(WalletList, "wallets", path("/orgs/{}/wallets", org_id), {"limit": limit, "cursor": cursor})

    async def create_wallet(self, org_id: Id, body: WalletCreate, *, idempotency_key: str | None = None) -> Wallet:
        """A server wallet, or with `address` a linked one. The first server wallet becomes the default, the
        treasury.

        Scope: `wallets:write`.
        """
        return await self._send(
            Wallet, "POST", path("/orgs/{}/wallets", org_id), body=body, key=idempotency_key or new_key()
        )

    async def get_wallet(self, org_id: Id, wallet_id: Id) -> WalletDetail:
        """A wallet with its balances, read from the chains now; `unreachable` names those that did not answer.

        Scope: `wallets:read`.
        """
        return await self._send(WalletDetail, "GET", path("/orgs/{}/wallets/{}", org_id, wallet_id))

    async def update_wallet(
        self, org_id: Id, wallet_id: Id, body: WalletUpdate, *, idempotency_key: str | None = None
    ) -> Wallet:
        """Another label, or make it the default (while no token is deployed).

        Scope: `wallets:write`.
        """
        return await self._send(
            Wallet, "PATCH", path("/orgs/{}/wallets/{}", org_id, wallet_id), body=body, key=idempotency_key or new_key()
        )

    async def delete_wallet(self, org_id: Id, wallet_id: Id) -> None:
        """Forget a wallet. 409 where a server wallet is the default, attests, has open orders or holds anything.

        Scope: `wallets:write`.
        """
        await self._do("DELETE", path("/orgs/{}/wallets/{}", org_id, wallet_id))

    def list_wallets_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/wallets` as CSV: every record that its filters leave, in one stream.

        Scope: `wallets:read`.
        """
        return self._download(path("/orgs/{}/wallets.csv", org_id))
