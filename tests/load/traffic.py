"""The tenants of the load, and the mix of their calls: what integrations of an issuer do during a day."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any
from uuid import uuid4

import httpx

from tests.chaos.issuers import Issuer
from tests.support.firm import SEPOLIA

UNIT = 10**18
TIMEOUT = 90.0
"""Seconds that a client waits: longer than the server lets anyone wait."""


@dataclass
class Tenant:
    """An organization with an asset and an attested investor, and what was accepted for it."""

    issuer: Issuer
    asset: str
    wallet: str
    holder: str
    parties: int = 1
    transfers: list[str] = field(default_factory=list)
    """Requests of accepted transfers."""

    @classmethod
    async def with_asset(cls, issuer: Issuer) -> "Tenant":
        """Issue an asset on one chain, and attest an investor there."""
        await issuer.found(SEPOLIA)
        body = {"name": "Harbour Fund", "symbol": "H" + uuid4().hex[:6].upper(), "chain_eid": SEPOLIA}
        accepted = await issuer.accept("/assets", body | {"initial_supply": str(10**6 * UNIT)})
        await issuer.ended(accepted["requestId"])
        holder = await issuer.post("/wallets", {"label": "Holder"})
        party = await issuer.party(holder["address"])
        attested = await issuer.accept("/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
        await issuer.ended(attested["requestId"])
        return cls(issuer, accepted["assetId"], issuer.treasury["id"], holder["address"])


class Traffic:
    """Calls with the tenants' keys, by one client after the other."""

    def __init__(self, clients: list[httpx.AsyncClient], tenants: list[Tenant]) -> None:
        self._clients, self._tenants = cycle(clients), tenants
        self._kinds = {
            "assets": (30, self._assets),
            "requests": (15, self._requests),
            "asset": (12, self._asset),
            "parties": (10, self._parties),
            "cap table": (8, self._cap_table),
            "transfers": (8, self._transfers),
            "summary": (5, self._summary),
            "new party": (10, self._new_party),
            "new transfer": (2, self._new_transfer),
        }

    async def call(self, dice: Random) -> tuple[str, httpx.Response]:
        """Make one call of the mix for one of the tenants; return its kind and response."""
        (kind,) = dice.choices(list(self._kinds), [weight for weight, _ in self._kinds.values()])
        return kind, await self._kinds[kind][1](dice.choice(self._tenants))

    def _get(self, tenant: Tenant, path: str) -> Awaitable[httpx.Response]:
        return next(self._clients).get(f"/v1/orgs/{tenant.issuer.id}{path}", headers=tenant.issuer.key)

    def _assets(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, "/assets?limit=50")

    def _requests(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, "/requests?limit=50")

    def _asset(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, f"/assets/{tenant.asset}")

    def _parties(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        path = f"/v1/identity/parties?organization_id={tenant.issuer.id}&limit=50"
        return next(self._clients).get(path, headers=tenant.issuer.key)

    def _cap_table(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, f"/assets/{tenant.asset}/holders")

    def _transfers(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, "/transfers?limit=50")

    def _summary(self, tenant: Tenant) -> Awaitable[httpx.Response]:
        return self._get(tenant, "/summary")

    async def _new_party(self, tenant: Tenant) -> httpx.Response:
        body = {"organization_id": str(tenant.issuer.id), "name": f"Party {uuid4().hex[:8]}", "country": "DEU"}
        response = await self._post(tenant, "/v1/identity/parties", body)
        tenant.parties += response.status_code == 201
        return response

    async def _new_transfer(self, tenant: Tenant) -> httpx.Response:
        body = {
            "asset_id": tenant.asset, "chain_eid": SEPOLIA, "from_wallet_id": tenant.wallet,
            "to_address": tenant.holder, "amount": str(UNIT),
        }  # fmt: skip
        response = await self._post(tenant, f"/v1/orgs/{tenant.issuer.id}/transfers", body)
        if response.status_code == 202:
            tenant.transfers.append(response.json()["requestId"])
        return response

    def _post(self, tenant: Tenant, path: str, body: Any) -> Awaitable[httpx.Response]:
        return next(self._clients).post(path, json=body, headers=tenant.issuer.key | {"idempotency-key": str(uuid4())})
