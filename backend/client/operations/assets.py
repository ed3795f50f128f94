"""Assets. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.assets.schemas import (
    Asset,
    AssetAccepted,
    AssetArchivePlan,
    AssetCreate,
    AssetCreatePlan,
    AssetList,
    AssetPlan,
    AssetStatus,
    AssetUpdate,
    Holder,
    HolderList,
    RuleSet,
    RuleSetList,
)
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.compliance.schemas import TransferCheck, TransferVerdict


class AssetsOperations(Connection):
    """Assets."""

    def list_assets(
        self, org_id: Id, *, status: AssetStatus | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[AssetList, Asset]:
        """Assets of the organization, newest first; archived ones only with `status=archived`.

        Scope: `assets:read`.
        """
        return self._pages(
            AssetList, "assets", path("/orgs/{}/assets", org_id), {"status": status, "limit": limit, "cursor": cursor}
        )

    @overload
    async def create_asset(
        self, org_id: Id, body: AssetCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> AssetCreatePlan: ...

    @overload
    async def create_asset(
        self, org_id: Id, body: AssetCreate, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> AssetAccepted: ...

    async def create_asset(
        self, org_id: Id, body: AssetCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> AssetAccepted | AssetCreatePlan:
        """Create an asset: its token is deployed on `chain_eid`, its rules are set, and its initial supply goes to
        the organization's default server wallet (the treasury), which owns the token.

        Scope: `assets:write`.
        """
        return await self._send(
            AssetCreatePlan if dry_run else AssetAccepted,
            "POST",
            path("/orgs/{}/assets", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_asset(self, org_id: Id, asset_id: Id) -> Asset:
        """One asset, the supply on each chain read from there now.

        Scope: `assets:read`.
        """
        return await self._send(Asset, "GET", path("/orgs/{}/assets/{}", org_id, asset_id))

    @overload
    async def update_asset(
        self, org_id: Id, asset_id: Id, body: AssetUpdate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> AssetPlan: ...

    @overload
    async def update_asset(
        self,
        org_id: Id,
        asset_id: Id,
        body: AssetUpdate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> AssetAccepted: ...

    async def update_asset(
        self, org_id: Id, asset_id: Id, body: AssetUpdate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> AssetAccepted | AssetPlan:
        """Change an asset (JSON merge patch; null takes a field back to its default, also inside
        `compliance_rules`).

        Rules are set on every chain that has the token and read back from there; updates of one asset queue, in
        order.

        Scope: `assets:write`.
        """
        return await self._send(
            AssetPlan if dry_run else AssetAccepted,
            "PATCH",
            path("/orgs/{}/assets/{}", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def archive_asset(self, org_id: Id, asset_id: Id, *, dry_run: Literal[True]) -> AssetArchivePlan: ...

    @overload
    async def archive_asset(self, org_id: Id, asset_id: Id, *, dry_run: Literal[False] = False) -> None: ...

    async def archive_asset(self, org_id: Id, asset_id: Id, *, dry_run: bool = False) -> AssetArchivePlan | None:
        """Archive a draft or failed asset. One that is on a chain cannot be taken back (409).

        Scope: `assets:write`.
        """
        if dry_run:
            return await self._send(
                AssetArchivePlan,
                "DELETE",
                path("/orgs/{}/assets/{}", org_id, asset_id),
                query={"dry_run": dry_run or None},
            )
        await self._do("DELETE", path("/orgs/{}/assets/{}", org_id, asset_id), query={"dry_run": dry_run or None})
        return None

    def list_holders(
        self,
        org_id: Id,
        asset_id: Id,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        block: int | None = None,
        chain_eid: int | None = None,
    ) -> Pages[HolderList, Holder]:
        """The cap table: who owns how much on which chain, largest first. What a market holds for a seller counts
        as the seller's. With `block` the chain itself is asked who held how much then; holders come by their
        address.

        Scope: `assets:read`.
        """
        return self._pages(
            HolderList,
            "holders",
            path("/orgs/{}/assets/{}/holders", org_id, asset_id),
            {"limit": limit, "cursor": cursor, "block": block, "chain_eid": chain_eid},
        )

    def list_rules_history(
        self, org_id: Id, asset_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[RuleSetList, RuleSet]:
        """Every set of rules that the asset's tokens took, as their chains tell, newest first, and what each
        changed.

        Scope: `assets:read`.
        """
        return self._pages(
            RuleSetList,
            "rule_sets",
            path("/orgs/{}/assets/{}/rules-history", org_id, asset_id),
            {"limit": limit, "cursor": cursor},
        )

    async def check_transfer(
        self, org_id: Id, asset_id: Id, body: TransferCheck, *, idempotency_key: str | None = None
    ) -> TransferVerdict:
        """Whether a transfer would pass: every rule that is looked at, its reason and the call that would put it
        right; `chain_agrees` says whether the token's own `checkTransfer` comes to the same. From the zero
        address: a mint.

        Scope: `assets:read`.
        """
        return await self._send(
            TransferVerdict,
            "POST",
            path("/orgs/{}/assets/{}/transfer-check", org_id, asset_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_assets_csv(self, org_id: Id, *, status: AssetStatus | None = None) -> Download:
        """`/orgs/{orgId}/assets` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets.csv", org_id), query={"status": status})

    def list_holders_csv(
        self, org_id: Id, asset_id: Id, *, block: int | None = None, chain_eid: int | None = None
    ) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/holders` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(
            path("/orgs/{}/assets/{}/holders.csv", org_id, asset_id), query={"block": block, "chain_eid": chain_eid}
        )

    def list_rules_history_csv(self, org_id: Id, asset_id: Id) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/rules-history` as CSV: every record that its filters leave, in one
        stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets/{}/rules-history.csv", org_id, asset_id))

    def get_evidence(
        self, org_id: Id, asset_id: Id, *, block: int | None = None, chain_eid: int | None = None
    ) -> Download:
        """A zip of what proves how the asset was kept compliant: rules and their history, holders at a block,
        attestations with what the registry says of each, the asset's audit entries, and `manifest.json` with the
        hash of every file. Unpacked, `sha256sum --check SHA256SUMS` tells whether anything was changed. What
        another scope guards is left out, and named.

        Scope: `assets:read`.
        """
        return self._download(
            path("/orgs/{}/assets/{}/evidence", org_id, asset_id), query={"block": block, "chain_eid": chain_eid}
        )
