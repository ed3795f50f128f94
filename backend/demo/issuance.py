"""The demo's chain side: issuer, wallets, assets, transfers and bridges of one organization, through the API."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from backend.chain.bindings import quote_token
from backend.chain.deployment import contracts as deployment
from backend.chain.transactions.execution import execute
from backend.demo import cast
from backend.demo.caller import Caller

UNIT = 10**18
CENT = 10_000
"""The test dollar has six decimals."""
DOLLARS = 2_000_000
"""Test dollars of each trader."""


class Issuance:
    """What the organization has made so far, by name, and the people who make more."""

    def __init__(self, admin: Caller, officer: Caller, agent: Caller, organization: str, issuer_key: str) -> None:
        self.admin, self.officer, self.agent = admin, officer, agent
        self.org, self._key = organization, issuer_key
        self.base = f"/orgs/{organization}"
        self.wallets: dict[str, dict[str, Any]] = {}
        self.parties: dict[str, str] = {}
        self.assets: dict[str, str] = {}

    async def ground(self) -> None:
        """Create chains, the treasury and custody wallets, and the registration as an issuer."""
        chains = (await self.admin.get(f"{self.base}/chains"))["chains"]
        for chain in chains:
            if chain["is_signum_deployed"]:
                await self.admin.post(f"{self.base}/chains/{chain['id']}/enable", key=f"chain:{chain['xchain_eid']}")
        for label in ("Treasury", *(f"{i[1]} custody" for i in cast.INVESTORS), f"{cast.PRIVATE} custody"):
            await self.wallet(label)
        await self.admin.call(
            "POST",
            f"{self.base}/issuer/register",
            {"name": cast.GROUP["name"], "max_kyc_level": 3, "can_revoke_others": True},
            key="demo:issuer",
            headers={"x-api-key": self._key},
        )
        issuer = await self.admin.get(f"{self.base}/issuer")
        await self.admin.succeeded(self.org, issuer["request_id"], "issuer registration")

    async def wallet(self, label: str) -> dict[str, Any]:
        """Return a server wallet, created on first use."""
        if label not in self.wallets:
            self.wallets[label] = await self.admin.post(f"{self.base}/wallets", {"label": label}, key=f"wallet:{label}")
        return self.wallets[label]

    def custody(self, name: str) -> dict[str, Any]:
        """Return the wallet of an investor."""
        return self.wallets[f"{name} custody"]

    async def fund(self, *labels: str, eids: Sequence[int] = (cast.SEPOLIA,)) -> None:
        """Give test dollars to wallets, from the chains' faucets: once each."""
        await asyncio.gather(*(self._fund(eid, label) for eid in eids for label in labels))

    async def _fund(self, eid: int, label: str) -> None:
        contracts = await deployment.contracts_of(eid)
        address = self.wallets[label]["address"]
        call = quote_token.mint(str(contracts.quote_token), address, DOLLARS * 10**6)
        await execute(
            call.intent(
                f"demo:dollars:{self.org}:{address}:{eid}",
                eid=eid,
                signer=await deployment.operator(),
                organization_id=UUID(self.org),
                label="test dollars",
            )
        )

    async def issue(self, on: date, *, only: str = "", **changes: Any) -> None:
        """Create assets that do not exist yet, each on its own chain under a different framework; or only one."""
        for asset in cast.ASSETS:
            symbol = str(asset["symbol"])
            if symbol not in self.assets and only in ("", symbol):
                await self._issue(asset | changes, on)

    async def _issue(self, asset: dict[str, Any], on: date) -> None:
        if asset["symbol"] == "NHLT":
            ends = int(datetime.combine(on + timedelta(days=365), time(0, tzinfo=UTC)).timestamp())
            asset = asset | {"compliance_rules": {"requires_accreditation": True, "lockup_end_time": ends}}
        key = f"asset:{asset['symbol']}"
        accepted = await self.admin.post_and_wait(self.org, f"{self.base}/assets", asset, key=key)
        self.assets[str(asset["symbol"])] = accepted["assetId"]

    async def transfers(self) -> None:
        """Send tokens between wallets here, under the rules."""
        for number, (sender, amount, receiver) in enumerate(cast.TRANSFERS):
            await self.transfer(sender, amount, receiver, key=f"transfer:{number}", by=self.admin)

    async def transfer(self, sender: str, amount: int, receiver: str, *, key: str, by: Caller | None = None) -> None:
        """Send whole units of the first asset from a wallet here to another."""
        body = {
            "asset_id": self.assets["NREF"],
            "chain_eid": cast.SEPOLIA,
            "from_wallet_id": self.wallets[sender]["id"],
            "to_address": self.wallets[receiver]["address"],
            "amount": str(amount * UNIT),
        }
        await (by or self.agent).post_and_wait(self.org, f"{self.base}/transfers", body, key=key)

    async def bridges(self) -> None:
        """Bridge supply that arrives on another chain, and supply that its receiver may not hold."""
        path = f"{self.base}/assets/{self.assets['NIB31']}/bridge"
        body = {"destination_chain_eid": cast.SEPOLIA, "amount": str(50_000 * UNIT)}
        await self.admin.post_and_wait(self.org, path, body, key="bridge:confirmed")
        stranger = await self.wallet("Unverified broker")
        body |= {"amount": str(1_000 * UNIT), "to_address": stranger["address"]}
        refused = await self.admin.post(path, body, key="bridge:refused")
        await self.admin.done(self.org, refused["requestId"])
