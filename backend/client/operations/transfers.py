"""Transfers. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.transfers.schemas import (
    Transfer,
    TransferAccepted,
    TransferCreate,
    TransferList,
    TransferPlan,
    TransferStatus,
)


class TransfersOperations(Connection):
    """Transfers."""

    def list_transfers(
        self,
        org_id: Id,
        *,
        asset_id: Id | None = None,
        status: TransferStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[TransferList, Transfer]:
        """Transfers that were asked for here, newest first.

        Scope: `transfers:read`.
        """
        return self._pages(
            TransferList,
            "transfers",
            path("/orgs/{}/transfers", org_id),
            {"assetId": asset_id, "status": status, "limit": limit, "cursor": cursor},
        )

    @overload
    async def create_transfer(
        self, org_id: Id, body: TransferCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> TransferPlan: ...

    @overload
    async def create_transfer(
        self, org_id: Id, body: TransferCreate, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> TransferAccepted: ...

    async def create_transfer(
        self, org_id: Id, body: TransferCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> TransferAccepted | TransferPlan:
        """Send an asset from a server wallet. Every rule of the token is asked before anything is sent; a refusal
        (409) has each rule that stands against it in `rules`, with its reason and the call that would put it
        right.

        Scope: `transfers:write`.
        """
        return await self._send(
            TransferPlan if dry_run else TransferAccepted,
            "POST",
            path("/orgs/{}/transfers", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_transfer(self, org_id: Id, transfer_id: Id) -> Transfer:
        """One transfer: how far it is, its transaction, and why it failed where it did.

        Scope: `transfers:read`.
        """
        return await self._send(Transfer, "GET", path("/orgs/{}/transfers/{}", org_id, transfer_id))

    def list_transfers_csv(
        self, org_id: Id, *, asset_id: Id | None = None, status: TransferStatus | None = None
    ) -> Download:
        """`/orgs/{orgId}/transfers` as CSV: every record that its filters leave, in one stream.

        Scope: `transfers:read`.
        """
        return self._download(path("/orgs/{}/transfers.csv", org_id), query={"assetId": asset_id, "status": status})
