"""Bridges. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.bridges.schemas import (
    Bridge,
    BridgeAccepted,
    BridgeCreate,
    BridgeList,
    BridgePlan,
    BridgeReturn,
    BridgeReturnAccepted,
    BridgeReturnPlan,
    BridgeStatus,
)
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key


class BridgesOperations(Connection):
    """Bridges."""

    def list_bridges(
        self,
        org_id: Id,
        *,
        asset_id: Id | None = None,
        status: BridgeStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[BridgeList, Bridge]:
        """Bridge transactions, newest first.

        Scope: `assets:read`.
        """
        return self._pages(
            BridgeList,
            "bridges",
            path("/orgs/{}/bridges", org_id),
            {"assetId": asset_id, "status": status, "limit": limit, "cursor": cursor},
        )

    async def get_bridge(self, org_id: Id, bridge_id: Id) -> Bridge:
        """One bridge transaction; for a failed one the destination is asked again whether the packet came late.

        Scope: `assets:read`.
        """
        return await self._send(Bridge, "GET", path("/orgs/{}/bridges/{}", org_id, bridge_id))

    @overload
    async def return_bridge(
        self,
        org_id: Id,
        bridge_id: Id,
        body: BridgeReturn,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> BridgeReturnPlan: ...

    @overload
    async def return_bridge(
        self,
        org_id: Id,
        bridge_id: Id,
        body: BridgeReturn,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> BridgeReturnAccepted: ...

    async def return_bridge(
        self,
        org_id: Id,
        bridge_id: Id,
        body: BridgeReturn,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> BridgeReturnAccepted | BridgeReturnPlan:
        """Give up the packet of a failed bridge: it is dropped on its destination, so that it can never be
        delivered, and once that is settled its supply is minted back to the sender on the source. This always
        takes a second person and cannot be undone. If the packet is delivered first, nothing is minted.

        Scope: `assets:write`.
        """
        return await self._send(
            BridgeReturnPlan if dry_run else BridgeReturnAccepted,
            "POST",
            path("/orgs/{}/bridges/{}/return", org_id, bridge_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def bridge_asset(
        self,
        org_id: Id,
        asset_id: Id,
        body: BridgeCreate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> BridgePlan: ...

    @overload
    async def bridge_asset(
        self,
        org_id: Id,
        asset_id: Id,
        body: BridgeCreate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> BridgeAccepted: ...

    async def bridge_asset(
        self, org_id: Id, asset_id: Id, body: BridgeCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> BridgeAccepted | BridgePlan:
        """Bring an asset, its rules and (with an amount) supply of the treasury to another chain. The token is
        deployed there if it is missing. Amounts cross with six decimals.

        Scope: `assets:write`.
        """
        return await self._send(
            BridgePlan if dry_run else BridgeAccepted,
            "POST",
            path("/orgs/{}/assets/{}/bridge", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_bridges_csv(
        self, org_id: Id, *, asset_id: Id | None = None, status: BridgeStatus | None = None
    ) -> Download:
        """`/orgs/{orgId}/bridges` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/bridges.csv", org_id), query={"assetId": asset_id, "status": status})
