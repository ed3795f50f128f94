"""Issuer. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.repeating import new_key
from backend.issuers.schemas import Issuer, IssuerPlan, IssuerRegister, IssuerRegistered


class IssuerOperations(Connection):
    """Issuer."""

    @overload
    async def register_issuer(
        self,
        org_id: Id,
        body: IssuerRegister | None = None,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> IssuerPlan: ...

    @overload
    async def register_issuer(
        self,
        org_id: Id,
        body: IssuerRegister | None = None,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> IssuerRegistered: ...

    async def register_issuer(
        self,
        org_id: Id,
        body: IssuerRegister | None = None,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> IssuerRegistered | IssuerPlan:
        """Register the organization's default server wallet as an attester on every enabled chain.

        Wants both credentials: an access token (or the console's session) and an API key. `registered` says
        whether every enabled chain has confirmed it already; `GET …/issuer` follows it. Repeating it is
        harmless, and completes chains that were enabled since.

        Scope: `attestations:write`.
        """
        return await self._send(
            IssuerPlan if dry_run else IssuerRegistered,
            "POST",
            path("/orgs/{}/issuer/register", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_issuer(self, org_id: Id) -> Issuer:
        """The organization as an issuer, with its attester on each chain; 404 before it was registered.

        Scope: `attestations:read`.
        """
        return await self._send(Issuer, "GET", path("/orgs/{}/issuer", org_id))
