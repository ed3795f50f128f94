"""Attestations. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.attestations.schemas import (
    Attestation,
    AttestationAccepted,
    AttestationCreate,
    AttestationDetail,
    AttestationList,
    AttestationPlan,
    AttestationRevoke,
    AttestationStatus,
)
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key


class AttestationsOperations(Connection):
    """Attestations."""

    def list_attestations(
        self,
        org_id: Id,
        *,
        status: AttestationStatus | None = None,
        party_id: Id | None = None,
        expiring_days: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[AttestationList, Attestation]:
        """Attestations with their party, newest first.

        Scope: `attestations:read`.
        """
        return self._pages(
            AttestationList,
            "attestations",
            path("/orgs/{}/attestations", org_id),
            {"status": status, "party_id": party_id, "expiring_days": expiring_days, "limit": limit, "cursor": cursor},
        )

    @overload
    async def create_attestation(
        self, org_id: Id, body: AttestationCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> AttestationPlan: ...

    @overload
    async def create_attestation(
        self,
        org_id: Id,
        body: AttestationCreate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> AttestationAccepted: ...

    async def create_attestation(
        self, org_id: Id, body: AttestationCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> AttestationAccepted | AttestationPlan:
        """Attest a verified party on a chain, from the organization's issuer wallet.

        409 with `prerequisites` where the party does not exist (`party_exists`), is not verified
        (`party_verified`), or where the chain is not enabled, the issuer not registered there or the party
        without a wallet (`attestation_eligible`). Replaces the party's active attestation on that chain.

        Scope: `attestations:write`.
        """
        return await self._send(
            AttestationPlan if dry_run else AttestationAccepted,
            "POST",
            path("/orgs/{}/attestations", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_attestation(self, org_id: Id, attestation_id: Id) -> AttestationDetail:
        """One attestation, with its proof read from the chain now.

        Scope: `attestations:read`.
        """
        return await self._send(AttestationDetail, "GET", path("/orgs/{}/attestations/{}", org_id, attestation_id))

    @overload
    async def revoke_attestation(
        self,
        org_id: Id,
        attestation_id: Id,
        body: AttestationRevoke,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> AttestationPlan: ...

    @overload
    async def revoke_attestation(
        self,
        org_id: Id,
        attestation_id: Id,
        body: AttestationRevoke,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> AttestationAccepted: ...

    async def revoke_attestation(
        self,
        org_id: Id,
        attestation_id: Id,
        body: AttestationRevoke,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> AttestationAccepted | AttestationPlan:
        """Revoke an active attestation; the reason goes on chain. A dry run tells what the wallet holds.

        The attestation is of the organization, or of one below it: its own issuer then revokes in the place of
        the one that attested, which takes `can_revoke_others` (403 without it). An API key revokes its own
        organization's only.

        Scope: `attestations:write`.
        """
        return await self._send(
            AttestationPlan if dry_run else AttestationAccepted,
            "POST",
            path("/orgs/{}/attestations/{}/revoke", org_id, attestation_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_attestations_csv(
        self,
        org_id: Id,
        *,
        status: AttestationStatus | None = None,
        party_id: Id | None = None,
        expiring_days: int | None = None,
    ) -> Download:
        """`/orgs/{orgId}/attestations` as CSV: every record that its filters leave, in one stream.

        Scope: `attestations:read`.
        """
        return self._download(
            path("/orgs/{}/attestations.csv", org_id),
            query={"status": status, "party_id": party_id, "expiring_days": expiring_days},
        )
