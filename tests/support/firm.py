"""A working organization: chains enabled, a treasury, an issuer, parties. Created through the API."""

from typing import Any
from uuid import UUID

import pytest

from backend.client import ApiProblem
from tests.conftest import Actor, World
from tests.support.runs import ended

SEPOLIA, HYPEREVM, BASE = 40161, 40362, 40245


class Firm:
    """An organization with its admin and a key of every scope."""

    def __init__(self, id_: UUID, admin: Actor, key: dict[str, str]) -> None:
        self.id, self.admin, self.key = id_, admin, key
        self.base = f"/orgs/{id_}"

    @classmethod
    async def found(cls, world: World, name: str = "Acme", parent: UUID | None = None) -> "Firm":
        """Create one without any records."""
        id_ = await world.organization(name, parent)
        admin = await world.person(id_)
        return cls(id_, admin, await world.key(id_, created_by=admin.user_id))

    @classmethod
    async def issuing(cls, world: World, *eids: int, name: str = "Acme", parent: UUID | None = None) -> "Firm":
        """Create one that is a registered issuer on some chains."""
        firm = await cls.found(world, name, parent)
        for eid in eids or (SEPOLIA,):
            await firm.enable(eid)
        await firm.post("/wallets", {"label": "Treasury"})
        await firm.register()
        return firm

    async def get(self, path: str, **options: Any) -> Any:
        """GET below the organization."""
        return await self.admin.call("GET", f"{self.base}{path}", **options)

    async def post(self, path: str, json: Any = None, **options: Any) -> Any:
        """POST below the organization."""
        return await self.admin.call("POST", f"{self.base}{path}", json=json, **options)

    async def patch(self, path: str, json: Any) -> Any:
        """PATCH below the organization."""
        return await self.admin.call("PATCH", f"{self.base}{path}", json=json)

    async def chain(self, eid: int) -> Any:
        """Return a chain as this organization sees it."""
        return next(c for c in (await self.get("/chains"))["chains"] if c["xchain_eid"] == eid)

    async def enable(self, eid: int) -> Any:
        """Enable a chain."""
        return await self.post(f"/chains/{(await self.chain(eid))['id']}/enable")

    async def register(self, **body: Any) -> Any:
        """Register as an issuer, and wait for it to finish."""
        answer = await self.post("/issuer/register", body, headers=self.key)
        await self.settle((await self.get("/issuer"))["request_id"])
        return answer

    async def settle(self, request_id: str, attempt: int = 1) -> Any:
        """Wait for a request (its run of an attempt) to finish; return the request."""
        await ended(self.id, UUID(request_id), attempt)
        return await self.get(f"/requests/{request_id}")

    async def party(self, wallet: str | None = None, **body: Any) -> Any:
        """Create a party."""
        known = {"organization_id": str(self.id), "name": "Marta Lindqvist", "country": "SWE", "wallet_address": wallet}
        return await self.admin.call("POST", "/identity/parties", json=known | body)

    async def verified(self, wallet: str | None, level: int = 2, accredited: bool = False) -> Any:
        """Create a verified party."""
        party = await self.party(wallet)
        body = {"kyc_level": level, "accredited": accredited}
        return await self.admin.call("POST", f"/identity/parties/{party['id']}/verify", json=body)

    async def attest(self, party: Any, eid: int = SEPOLIA, **body: Any) -> Any:
        """Attest a party and wait; return the attestation with its proof."""
        accepted = await self.post("/attestations", {"party_id": party["id"], "chain_eid": eid, **body})
        await self.settle(accepted["requestId"])
        return await self.get(f"/attestations/{accepted['attestationId']}")

    async def refused(self, method: str, path: str, status: int, **options: Any) -> ApiProblem:
        """Return the problem of a call below the organization that must fail."""
        return await refused(self.admin, method, f"{self.base}{path}", status, **options)


async def refused(actor: Actor, method: str, path: str, status: int, **options: Any) -> ApiProblem:
    """Return the problem of a call that must fail with this status."""
    with pytest.raises(ApiProblem) as raised:
        await actor.call(method, path, **options)
    assert raised.value.status == status, raised.value
    return raised.value
