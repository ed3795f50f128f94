"""The demo's chain side: issuer, investors with attestations, assets, a market with orders, two bridges."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from backend.chain.bindings import quote_token
from backend.chain.deployment import contracts as deployment
from backend.chain.transactions.execution import execute
from backend.demo import cast, documents
from backend.demo.caller import Caller

UNIT = 10**18
CENT = 10_000
"""The test dollar has six decimals."""


class Issuance:
    """Creates everything of one organization, through the API."""

    def __init__(self, admin: Caller, officer: Caller, organization: str, issuer_key: str) -> None:
        self.admin, self.officer, self.org, self._key = admin, officer, organization, issuer_key
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
            self.wallets[label] = await self.admin.post(f"{self.base}/wallets", {"label": label}, key=f"wallet:{label}")
        await self.admin.call(
            "POST",
            f"{self.base}/issuer/register",
            {"name": cast.GROUP["name"], "max_kyc_level": 3, "can_revoke_others": True},
            key="demo:issuer",
            headers={"x-api-key": self._key},
        )
        issuer = await self.admin.get(f"{self.base}/issuer")
        await self.admin.succeeded(self.org, issuer["request_id"], "issuer registration")

    async def investors(self) -> None:
        """Create parties in each state; traders are attested on the market's chain."""
        for kind, name, email, country, level, accredited in cast.INVESTORS:
            address = self.wallets[f"{name} custody"]["address"]
            party = await self._party(kind, name, email, country, address)
            await self._documents(name)
            await self._verify(party, level, accredited, "Register extract and proof of address checked.")
            await self._attest(party, name, cast.SEPOLIA)
        await self._attest(self.parties["Alder Family Office"], "Alder Family Office", cast.BASE)
        for kind, name, email, country in cast.APPLICANTS:
            wallet = self.wallets.get(f"{name} custody")
            await self._party(kind, name, email, country, wallet["address"] if wallet else None)
        kind, name, email, country, reason = cast.REJECTED
        party = await self._party(kind, name, email, country)
        for name in ("Harbor Point Advisors", cast.PRIVATE, "Viktor Hale"):
            await self._documents(name)
        await self._verify(self.parties[cast.PRIVATE], 1, False, "Passport checked.")
        await self._attest(self.parties[cast.PRIVATE], cast.PRIVATE, cast.SEPOLIA)
        await self.officer.post(f"/identity/parties/{party}/reject", {"reason": reason}, key="reject")

    async def _party(self, kind: str, name: str, email: str, country: str, address: str | None = None) -> str:
        body = {"organization_id": self.org, "kind": kind, "name": name, "email": email, "country": country}
        made = await self.officer.post(
            "/identity/parties", body | ({"wallet_address": address} if address else {}), key=f"party:{name}"
        )
        self.parties[name] = made["id"]
        return str(made["id"])

    async def _documents(self, name: str) -> None:
        """Upload the documents of a party."""
        for whose, proves, file in cast.DOCUMENTS:
            if whose == name:
                await self._document(whose, proves, file)

    async def _document(self, whose: str, proves: str, file: str) -> None:
        """Upload a specimen, which starts the review of a party without one."""
        media_type, content = documents.specimen(file, whose, proves.replace("_", " "))
        path = f"/identity/parties/{self.parties[whose]}/documents?kind={proves}&name={file}"
        headers = {"content-type": media_type}
        await self.officer.call("POST", path, content=content, key=f"demo:document:{whose}:{proves}", headers=headers)

    async def _verify(self, party: str, level: int, accredited: bool, reason: str) -> None:
        body = {"kyc_level": level, "accredited": accredited, "reason": reason}
        await self.officer.post(f"/identity/parties/{party}/verify", body, key=f"verify:{party}")

    async def _attest(self, party: str, name: str, eid: int) -> str:
        days = 21 if name == "Kestrel Pension Trust" else 365
        expiry = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)
        body = {"party_id": party, "chain_eid": eid, "expires_at": expiry.isoformat()}
        accepted = await self.officer.post_and_wait(
            self.org, f"{self.base}/attestations", body, key=f"attest:{name}:{eid}"
        )
        return str(accepted["attestationId"])

    async def revoked_attestation(self) -> None:
        """Create an attestation and revoke it."""
        attestation = await self._attest(self.parties["Brightwater LP"], "Brightwater LP", cast.BASE)
        path = f"{self.base}/attestations/{attestation}/revoke"
        await self.officer.post_and_wait(self.org, path, {"reason": "Left the offshore programme."}, key="revoke")

    async def issue(self) -> None:
        """Create three assets, each on its own chain, under different frameworks."""
        for asset in cast.ASSETS:
            body = dict(asset)
            if body["symbol"] == "NHLT":
                year = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=365)
                body["compliance_rules"] = {"requires_accreditation": True, "lockup_end_time": int(year.timestamp())}
            accepted = await self.admin.post_and_wait(
                self.org, f"{self.base}/assets", body, key=f"asset:{asset['symbol']}"
            )
            self.assets[str(asset["symbol"])] = accepted["assetId"]

    async def market(self) -> None:
        """Create an active market of the first asset, with open, partially filled, filled and cancelled orders."""
        chains = (await self.admin.get(f"{self.base}/chains"))["chains"]
        factory = next(c["market_factory_address"] for c in chains if c["xchain_eid"] == cast.SEPOLIA)
        asset = f"{self.base}/assets/{self.assets['NREF']}"
        body = {"chain_eid": cast.SEPOLIA, "market_factory_address": factory, "taker_fee_bps": 30, "maker_fee_bps": 5}
        accepted = await self.admin.post_and_wait(self.org, f"{asset}/markets", body, key="market")
        orders = f"{asset}/markets/{accepted['marketId']}/orders"
        await self._fund_traders()
        for number, (side, price, amount, who) in enumerate(ORDERS):
            wallet = self.wallets[who]["id"]
            order = {"side": side, "price": str(price * CENT), "amount": str(amount * UNIT), "wallet_id": wallet}
            placed = await self.admin.post_and_wait(self.org, orders, order, key=f"order:{number}")
            if number == CANCELLED:
                accepted = await self.admin.call("DELETE", f"{orders}/{placed['orderId']}")
                await self.admin.succeeded(self.org, accepted["requestId"], "cancel")

    async def transfers(self) -> None:
        """Send tokens between wallets here, under the rules."""
        accepted = []
        for number, (sender, amount, receiver) in enumerate(TRANSFERS):
            body = {
                "asset_id": self.assets["NREF"],
                "chain_eid": cast.SEPOLIA,
                "from_wallet_id": self.wallets[sender]["id"],
                "to_address": self.wallets[receiver]["address"],
                "amount": str(amount * UNIT),
            }
            accepted.append(await self.admin.post(f"{self.base}/transfers", body, key=f"transfer:{number}"))
        for one in accepted:
            await self.admin.succeeded(self.org, one["requestId"], "transfer")

    async def _fund_traders(self) -> None:
        """Give test dollars to the investors, from the chain's faucet."""
        contracts = await deployment.contracts_of(cast.SEPOLIA)
        operator = await deployment.operator()
        for _, name, *_rest in cast.INVESTORS:
            address = self.wallets[f"{name} custody"]["address"]
            call = quote_token.mint(str(contracts.quote_token), address, 2_000_000 * 10**6)
            await execute(
                call.intent(
                    f"demo:dollars:{self.org}:{address}",
                    eid=cast.SEPOLIA,
                    signer=operator,
                    organization_id=UUID(self.org),
                    label="test dollars",
                )
            )

    async def bridges(self) -> None:
        """Bridge supply that arrives on another chain, and supply that its receiver may not hold."""
        path = f"{self.base}/assets/{self.assets['NIB31']}/bridge"
        body = {"destination_chain_eid": cast.SEPOLIA, "amount": str(50_000 * UNIT)}
        await self.admin.post_and_wait(self.org, path, body, key="bridge:confirmed")
        stranger = await self.admin.post(f"{self.base}/wallets", {"label": "Unverified broker"}, key="wallet:stranger")
        body |= {"amount": str(1_000 * UNIT), "to_address": stranger["address"]}
        refused = await self.admin.post(path, body, key="bridge:refused")
        await self.admin.done(self.org, refused["requestId"])


ORDERS = [
    ("sell", 10_240, 1_200, "Treasury"),
    ("buy", 10_240, 700, "Alder Family Office custody"),
    ("buy", 10_240, 500, "Brightwater LP custody"),
    ("sell", 10_310, 2_000, "Treasury"),
    ("buy", 10_310, 650, "Kestrel Pension Trust custody"),
    ("sell", 10_380, 900, "Treasury"),
    ("sell", 10_450, 1_500, "Treasury"),
    ("sell", 10_560, 2_400, "Treasury"),
    ("sell", 10_990, 300, "Treasury"),
    ("buy", 10_190, 400, "Alder Family Office custody"),
    ("buy", 10_120, 850, "Brightwater LP custody"),
    ("buy", 10_050, 1_300, "Kestrel Pension Trust custody"),
    ("buy", 9_980, 2_100, "Alder Family Office custody"),
]
"""Side, price in test dollar cents per token, whole tokens, wallet."""
TRANSFERS = [
    ("Treasury", 1_200, "Alder Family Office custody"),
    ("Treasury", 850, "Brightwater LP custody"),
    ("Kestrel Pension Trust custody", 45, "Alder Family Office custody"),
    ("Treasury", 240, "James Okafor custody"),
]
"""Sender, whole tokens of the first asset, receiver."""
CANCELLED = 8
