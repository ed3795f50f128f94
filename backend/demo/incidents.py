"""What went wrong in the demo's year: a revoked attestation, a lost wallet, a failed bridge; and the raised rule."""

from datetime import date
from typing import Any

from backend.demo import cast, year_cast
from backend.demo.investors import Investors
from backend.demo.issuance import UNIT, Issuance


class Incidents:
    """Each happens once."""

    def __init__(self, issuance: Issuance, investors: Investors) -> None:
        self._own, self._investors = issuance, investors
        self._left = self._bridge = ""

    async def offshore(self, on: date) -> None:
        """Attest two investors for the second asset, on its chain."""
        for name in ("Alder Family Office", "Brightwater LP"):
            self._left = await self._investors.attest(name, cast.BASE, on)

    async def leave(self) -> None:
        """Revoke one of these attestations."""
        await self._investors.revoke(self._left)

    async def raise_cap(self) -> None:
        """Raise how much of the first asset one holder may have."""
        rules = next(one["compliance_rules"] for one in cast.ASSETS if one["symbol"] == "NREF")
        body = {"compliance_rules": {"max_tokens_per_holder": rules["max_tokens_per_holder"]}}  # type: ignore[index]
        path = f"{self._own.base}/assets/{self._own.assets['NREF']}"
        accepted = await self._own.admin.call("PATCH", path, body, key="demo:cap")
        await self._own.admin.succeeded(self._own.org, accepted["requestId"], "cap")

    async def recover_wallet(self, on: date) -> None:
        """Move everything of a lost wallet to a new one of the same investor."""
        name, own = year_cast.LOST_BY, self._own
        lost = own.custody(name)["address"]
        replacement = await own.wallet(f"{name} custody, new")
        party = own.parties[name]
        await own.officer.call("PATCH", f"/identity/parties/{party}", {"wallet_address": replacement["address"]})
        await self._investors.attest_again(name, cast.SEPOLIA, on, key="attest:replacement")
        body = {
            "chain_eid": cast.SEPOLIA,
            "lost_address": lost,
            "new_address": replacement["address"],
            "reason": year_cast.LOST_REASON,
        }
        path = f"{own.base}/assets/{own.assets['NREF']}/recover"
        await own.admin.post_and_wait(own.org, path, body, key="recover")
        own.wallets[f"{name} custody"] = replacement

    async def fail_bridge(self) -> None:
        """Bridge while the other chain refuses packets, until the bridge fails."""
        own = self._own
        await self._fault("refuse_packets")
        body = {"destination_chain_eid": cast.SEPOLIA, "amount": str(year_cast.BRIDGED * UNIT)}
        path = f"{own.base}/assets/{own.assets['NIB31']}/bridge"
        self._bridge = str((await own.admin.post(path, body, key="bridge:failed"))["requestId"])
        await own.admin.done(own.org, self._bridge)
        await self._fault("none")

    async def retry_bridge(self) -> None:
        """Retry it: the packet that was refused is delivered."""
        own = self._own
        request = await own.admin.done(own.org, self._bridge)
        if request["status"] == "failed":
            await own.admin.post(f"{own.base}/requests/{self._bridge}/retry", key="bridge:retry")
        await own.admin.succeeded(own.org, self._bridge, "retried bridge")

    async def _fault(self, kind: str) -> Any:
        body = {"chain_eid": cast.SEPOLIA, "kind": kind, "seconds": 600}
        return await self._own.admin.call("POST", "/devnet/faults", body)
