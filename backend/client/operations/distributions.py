"""Distributions. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Content, Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.distributions.schemas import (
    Activated,
    Distribution,
    DistributionAccepted,
    DistributionActivate,
    DistributionCreate,
    DistributionList,
    DistributionPlan,
    DistributionStatus,
    Proof,
)


class DistributionsOperations(Connection):
    """Distributions."""

    def list_organization_distributions(
        self,
        org_id: Id,
        *,
        status: DistributionStatus | None = None,
        asset_id: Id | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[DistributionList, Distribution]:
        """Distributions of all assets of the organization, or of one, newest first, with what was claimed of each.

        Scope: `assets:read`.
        """
        return self._pages(
            DistributionList,
            "distributions",
            path("/orgs/{}/distributions", org_id),
            {"status": status, "assetId": asset_id, "limit": limit, "cursor": cursor},
        )

    def list_distributions(
        self,
        org_id: Id,
        asset_id: Id,
        *,
        status: DistributionStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[DistributionList, Distribution]:
        """Distributions of an asset, newest first, with what was claimed of each.

        Scope: `assets:read`.
        """
        return self._pages(
            DistributionList,
            "distributions",
            path("/orgs/{}/assets/{}/distributions", org_id, asset_id),
            {"status": status, "limit": limit, "cursor": cursor},
        )

    @overload
    async def create_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        body: DistributionCreate | Content,
        *,
        name: str | None = None,
        chain_eid: int | None = None,
        amounts: str | None = None,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> DistributionPlan: ...

    @overload
    async def create_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        body: DistributionCreate | Content,
        *,
        name: str | None = None,
        chain_eid: int | None = None,
        amounts: str | None = None,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Distribution: ...

    async def create_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        body: DistributionCreate | Content,
        *,
        name: str | None = None,
        chain_eid: int | None = None,
        amounts: str | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Distribution | DistributionPlan:
        """Draw up a distribution of the asset: recipients as JSON, or as `text/csv` lines of `address,amount` (up
        to 128 MB, which is more than a million lines) with `name` and `chain_eid` in the query; amounts are base
        units, or whole tokens such as 12.5 with `amounts=whole`. Addresses, amounts, doubles and the sum are
        checked; errors name the lines. The merkle tree is OpenZeppelin's standard one over (uint256 index,
        address, uint256 amount), the index being the place in the list. `holders` takes those of a block
        instead, in proportion; `total_amount` alone leaves root and count to the activation.

        Scope: `assets:write`.
        """
        return await self._send(
            DistributionPlan if dry_run else Distribution,
            "POST",
            path("/orgs/{}/assets/{}/distributions", org_id, asset_id),
            query={"name": name, "chain_eid": chain_eid, "amounts": amounts, "dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_distribution(self, org_id: Id, asset_id: Id, dist_id: Id) -> Distribution:
        """One distribution.

        Scope: `assets:read`.
        """
        return await self._send(
            Distribution, "GET", path("/orgs/{}/assets/{}/distributions/{}", org_id, asset_id, dist_id)
        )

    async def get_proof(self, org_id: Id, asset_id: Id, dist_id: Id, address: str) -> Proof:
        """What a recipient hands to the distributor's `claim`, and whether that has happened.

        Scope: `assets:read`.
        """
        return await self._send(
            Proof, "GET", path("/orgs/{}/assets/{}/distributions/{}/proofs/{}", org_id, asset_id, dist_id, address)
        )

    @overload
    async def activate_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        dist_id: Id,
        body: DistributionActivate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> DistributionPlan: ...

    @overload
    async def activate_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        dist_id: Id,
        body: DistributionActivate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Activated: ...

    async def activate_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        dist_id: Id,
        body: DistributionActivate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Activated | DistributionPlan:
        """Activate a distribution: its distributor is deployed and attested by the organization's own issuer, is
        given the whole sum from the wallet that owns the token, and opens for claims under the root. Answers
        `{}` once that is durably accepted; `Location` names the request. The same again is 200 as well, another
        one 409. The distributor counts as one holder, and a lockup keeps claims back until it ends.

        Scope: `assets:write`.
        """
        return await self._send(
            DistributionPlan if dry_run else Activated,
            "POST",
            path("/orgs/{}/assets/{}/distributions/{}/activate", org_id, asset_id, dist_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def cancel_distribution(
        self, org_id: Id, asset_id: Id, dist_id: Id, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> DistributionPlan: ...

    @overload
    async def cancel_distribution(
        self,
        org_id: Id,
        asset_id: Id,
        dist_id: Id,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> DistributionAccepted: ...

    async def cancel_distribution(
        self, org_id: Id, asset_id: Id, dist_id: Id, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> DistributionAccepted | DistributionPlan:
        """End a draft or active distribution; what nobody has claimed goes back to the wallet that owns the token.

        Scope: `assets:write`.
        """
        return await self._send(
            DistributionPlan if dry_run else DistributionAccepted,
            "POST",
            path("/orgs/{}/assets/{}/distributions/{}/cancel", org_id, asset_id, dist_id),
            query={"dry_run": dry_run or None},
            key=idempotency_key or new_key(),
        )

    def list_organization_distributions_csv(
        self, org_id: Id, *, status: DistributionStatus | None = None, asset_id: Id | None = None
    ) -> Download:
        """`/orgs/{orgId}/distributions` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/distributions.csv", org_id), query={"status": status, "assetId": asset_id})

    def list_distributions_csv(self, org_id: Id, asset_id: Id, *, status: DistributionStatus | None = None) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/distributions` as CSV: every record that its filters leave, in one
        stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets/{}/distributions.csv", org_id, asset_id), query={"status": status})
