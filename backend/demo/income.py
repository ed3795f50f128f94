"""The demo's distributions: income in units at present, and quarterly income in test dollars before."""

import asyncio
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from backend.chain.bindings import distributor
from backend.chain.deployment import contracts
from backend.chain.transactions.execution import execute
from backend.demo import cast
from backend.demo.issuance import UNIT, Issuance

ORDINALS = ("first", "second", "third", "fourth")
SETTLED = 25
"""Days since the last quarterly payout."""


class Income:
    """Distributions to all holders of the first asset, in proportion."""

    def __init__(self, issuance: Issuance) -> None:
        self._own = issuance
        self._base = f"{issuance.base}/assets"

    async def present(self) -> None:
        """Distribute units; some holders have claimed them."""
        total = str(cast.DISTRIBUTED * UNIT)
        active = await self._activated(cast.DISTRIBUTION, {"holders": {"total_amount": total}}, "distribution")
        await self._claims(active, cast.CLAIMED, "claim")

    async def quarter(self, name: str, dollars: int, claimed_by: tuple[str, ...]) -> None:
        """Distribute test dollars; those named claim immediately."""
        body = {"holders": {"total_amount": str(dollars * 10**6)}, "currency": "quote"}
        active = await self._activated(name, body, f"income:{name}")
        await self._claims(active, claimed_by, f"income:{name}")

    async def _activated(self, name: str, body: dict[str, Any], key: str) -> dict[str, Any]:
        base, admin = f"{self._base}/{self._own.assets['NREF']}/distributions", self._own.admin
        drawn = await admin.post(base, {"name": name, "chain_eid": cast.SEPOLIA, **body}, key=key)
        one = f"{base}/{drawn['id']}"
        root = {
            "chainEid": cast.SEPOLIA,
            "merkleRoot": drawn["merkle_root"],
            "totalRecipients": drawn["total_recipients"],
        }
        await admin.post(f"{one}/activate", root, key=f"{key}:activate")
        requested = await admin.get(one)
        await admin.succeeded(self._own.org, requested["request_id"], name)
        active: dict[str, Any] = await admin.get(one)
        return active | {"path": one}

    async def _claims(self, active: dict[str, Any], names: tuple[str, ...], key: str) -> None:
        listed = (await self._own.admin.get(f"{active['path']}/recipients?limit=100"))["recipients"]
        own = {self._own.custody(name)["address"] for name in names if name in self._own.parties}
        await asyncio.gather(*(self._claim(active, one["address"], key) for one in listed if one["address"] in own))

    async def _claim(self, active: dict[str, Any], address: str, key: str) -> None:
        """Claim with a proof. Anyone may submit one; the amount goes to its recipient."""
        proof = await self._own.admin.get(f"{active['path']}/proofs/{address}")
        at, amount = str(active["distributor_address"]), int(proof["amount"])
        call = distributor.claim(at, proof["index"], proof["address"], amount, proof["proof"])
        await execute(
            call.intent(
                f"demo:{key}:{self._own.org}:{address}",
                eid=cast.SEPOLIA,
                signer=await contracts.operator(),
                organization_id=UUID(self._own.org),
                label="claim",
            )
        )


def payouts(today: date, count: int) -> list[tuple[date, str]]:
    """Return the newest quarterly payouts that are settled, oldest first: the day, and what was paid out."""
    found: list[tuple[date, str]] = []
    year, quarter = today.year, (today.month - 1) // 3
    while len(found) < count:
        year, quarter = (year, quarter - 1) if quarter else (year - 1, 3)
        day = date(year + (quarter == 3), (quarter * 3 + 3) % 12 + 1, 10)
        if day <= today - timedelta(days=SETTLED):
            found.append((day, f"Income, {ORDINALS[quarter]} quarter {year}"))
    return found[::-1]
