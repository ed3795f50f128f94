"""Markets. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.compliance.schemas import TransferVerdict
from backend.markets.schemas import (
    Market,
    MarketAccepted,
    MarketCreate,
    MarketList,
    MarketPlan,
    MarketStatus,
    Order,
    OrderAccepted,
    OrderCheck,
    OrderCreate,
    OrderList,
    OrderPlan,
    OrderSide,
    OrderStatus,
)


class MarketsOperations(Connection):
    """Markets."""

    def list_organization_markets(
        self, org_id: Id, *, status: MarketStatus | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[MarketList, Market]:
        """Markets of all assets of the organization, newest first.

        Scope: `assets:read`.
        """
        return self._pages(
            MarketList,
            "markets",
            path("/orgs/{}/markets", org_id),
            {"status": status, "limit": limit, "cursor": cursor},
        )

    def list_markets(
        self,
        org_id: Id,
        asset_id: Id,
        *,
        status: MarketStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[MarketList, Market]:
        """Markets of an asset, newest first.

        Scope: `assets:read`.
        """
        return self._pages(
            MarketList,
            "markets",
            path("/orgs/{}/assets/{}/markets", org_id, asset_id),
            {"status": status, "limit": limit, "cursor": cursor},
        )

    @overload
    async def deploy_market(
        self,
        org_id: Id,
        asset_id: Id,
        body: MarketCreate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> MarketPlan: ...

    @overload
    async def deploy_market(
        self,
        org_id: Id,
        asset_id: Id,
        body: MarketCreate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> MarketAccepted: ...

    async def deploy_market(
        self, org_id: Id, asset_id: Id, body: MarketCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> MarketAccepted | MarketPlan:
        """Deploy a compliance-gated market on a chain. Where the asset is not there yet it is bridged first; the
        market follows by itself. Rules that are left out come from the asset; they hold beside the token's own.
        The organization's wallet collects the fees, less the protocol's share. Poll the market or the request
        for progress.

        Scope: `assets:write`.
        """
        return await self._send(
            MarketPlan if dry_run else MarketAccepted,
            "POST",
            path("/orgs/{}/assets/{}/markets", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_market(self, org_id: Id, asset_id: Id, market_id: Id) -> Market:
        """One market; whether it is halted is asked of the chain.

        Scope: `assets:read`.
        """
        return await self._send(Market, "GET", path("/orgs/{}/assets/{}/markets/{}", org_id, asset_id, market_id))

    async def check_order(
        self, org_id: Id, asset_id: Id, market_id: Id, body: OrderCheck, *, idempotency_key: str | None = None
    ) -> TransferVerdict:
        """Whether an order by an address could be placed: every rule of market and token that is looked at, its
        reason and what would put it right; `chain_agrees` says whether the market's own `checkOrder` comes to
        the same. 409 where the market does not trade yet.

        Scope: `assets:read`.
        """
        return await self._send(
            TransferVerdict,
            "POST",
            path("/orgs/{}/assets/{}/markets/{}/order-check", org_id, asset_id, market_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_orders(
        self,
        org_id: Id,
        asset_id: Id,
        market_id: Id,
        *,
        status: OrderStatus | None = None,
        side: OrderSide | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[OrderList, Order]:
        """Orders of a market, newest first, as the chain's events tell them.

        Scope: `assets:read`.
        """
        return self._pages(
            OrderList,
            "orders",
            path("/orgs/{}/assets/{}/markets/{}/orders", org_id, asset_id, market_id),
            {"status": status, "side": side, "limit": limit, "cursor": cursor},
        )

    @overload
    async def place_order(
        self,
        org_id: Id,
        asset_id: Id,
        market_id: Id,
        body: OrderCreate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> OrderPlan: ...

    @overload
    async def place_order(
        self,
        org_id: Id,
        asset_id: Id,
        market_id: Id,
        body: OrderCreate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> OrderAccepted: ...

    async def place_order(
        self,
        org_id: Id,
        asset_id: Id,
        market_id: Id,
        body: OrderCreate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> OrderAccepted | OrderPlan:
        """Place a limit order by a server wallet. Every rule of token and market is checked before anything is
        sent; orders that match are traded with at once, and the rest stays in the book.

        Scope: `transfers:write`.
        """
        return await self._send(
            OrderPlan if dry_run else OrderAccepted,
            "POST",
            path("/orgs/{}/assets/{}/markets/{}/orders", org_id, asset_id, market_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def cancel_order(
        self, org_id: Id, asset_id: Id, market_id: Id, order_id: Id, *, dry_run: Literal[True]
    ) -> OrderPlan: ...

    @overload
    async def cancel_order(
        self, org_id: Id, asset_id: Id, market_id: Id, order_id: Id, *, dry_run: Literal[False] = False
    ) -> OrderAccepted: ...

    async def cancel_order(
        self, org_id: Id, asset_id: Id, market_id: Id, order_id: Id, *, dry_run: bool = False
    ) -> OrderAccepted | OrderPlan:
        """Cancel what is left of an order of one of the organization's server wallets.

        Scope: `transfers:write`.
        """
        return await self._send(
            OrderPlan if dry_run else OrderAccepted,
            "DELETE",
            path("/orgs/{}/assets/{}/markets/{}/orders/{}", org_id, asset_id, market_id, order_id),
            query={"dry_run": dry_run or None},
        )

    def list_organization_markets_csv(self, org_id: Id, *, status: MarketStatus | None = None) -> Download:
        """`/orgs/{orgId}/markets` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/markets.csv", org_id), query={"status": status})

    def list_markets_csv(self, org_id: Id, asset_id: Id, *, status: MarketStatus | None = None) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/markets` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets/{}/markets.csv", org_id, asset_id), query={"status": status})

    def list_orders_csv(
        self,
        org_id: Id,
        asset_id: Id,
        market_id: Id,
        *,
        status: OrderStatus | None = None,
        side: OrderSide | None = None,
    ) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/markets/{marketId}/orders` as CSV: every record that its filters leave,
        in one stream.

        Scope: `assets:read`.
        """
        return self._download(
            path("/orgs/{}/assets/{}/markets/{}/orders.csv", org_id, asset_id, market_id),
            query={"status": status, "side": side},
        )
