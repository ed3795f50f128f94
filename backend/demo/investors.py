"""The demo's investors: registered, with documents, verified, attested."""

from datetime import UTC, date, datetime, time, timedelta

from backend.demo import cast, papers
from backend.demo.issuance import Issuance

ENDS_SOON, SOON = "Kestrel Pension Trust", 21
"""Whose attestation ends soon, and in how many days."""
CHECKED = "Register extract and proof of address checked."
SEEN = "Passport checked."


class Investors:
    """Creates the parties of an organization. `today` is the day of the demo's present."""

    def __init__(self, issuance: Issuance, today: date) -> None:
        self._own, self._today = issuance, today
        self._attested: dict[tuple[str, int], str] = {}

    async def all(self) -> None:
        """Create parties in each state; traders are attested on the market's chain."""
        for investor in cast.INVESTORS:
            await self.verified(investor, self._today)
        alder = "Alder Family Office"
        await self.attest(alder, cast.BASE, self._today)
        await self._applicants()
        await self.private(self._today)
        kind, name, email, country, reason = cast.REJECTED
        party = await self.register(kind, name, email, country)
        await self._documents(name, self._today)
        await self._own.officer.post(f"/identity/parties/{party}/reject", {"reason": reason}, key="reject")

    async def _applicants(self) -> None:
        """Register those who await review. Once verified and attested, they can buy on any chain."""
        applicants = [one for one in cast.APPLICANTS if one[1] != cast.PRIVATE]
        labels = [*(f"{name} custody" for _, name, *_ in applicants), *cast.SPARE]
        for label in labels:
            await self._own.wallet(label)
        await self._own.fund(*labels, eids=(cast.SEPOLIA, cast.HYPEREVM, cast.BASE))
        for kind, name, email, country in applicants:
            await self.register(kind, name, email, country)
            await self._documents(name, self._today)

    async def private(self, on: date) -> None:
        """Create the investor who signs in: verified at level 1."""
        kind, name, email, country = next(one for one in cast.APPLICANTS if one[1] == cast.PRIVATE)
        await self.verified((kind, name, email, country, 1, False), on, SEEN)

    async def verified(self, investor: cast.Investor, on: date, reason: str = "") -> None:
        """Create an investor with documents, verified and attested; nothing where they exist."""
        kind, name, email, country, level, accredited = investor
        if name in self._own.parties:
            return
        await self._own.wallet(f"{name} custody")
        await self.register(kind, name, email, country)
        await self._documents(name, on)
        await self._verify(name, level, accredited, reason or CHECKED)
        await self.attest(name, cast.SEPOLIA, on)

    async def register(self, kind: str, name: str, email: str, country: str) -> str:
        """Create a party, with their custody wallet if they have one."""
        wallet = self._own.wallets.get(f"{name} custody")
        body = {"organization_id": self._own.org, "kind": kind, "name": name, "email": email, "country": country}
        body |= {"wallet_address": wallet["address"]} if wallet else {}
        made = await self._own.officer.post("/identity/parties", body, key=f"party:{name}")
        self._own.parties[name] = str(made["id"])
        return self._own.parties[name]

    async def _documents(self, name: str, on: date) -> None:
        """Upload the documents of a party, which start the review of one without any."""
        country = cast.country_of(name)
        for proves, file in cast.documents_of(name):
            content = papers.draw(proves, papers.Holder(name, country, on - timedelta(days=9)))
            path = f"/identity/parties/{self._own.parties[name]}/documents?kind={proves}&name={file}"
            headers = {"content-type": "application/pdf"}
            key = f"demo:document:{name}:{proves}"
            await self._own.officer.call("POST", path, content=content, key=key, headers=headers)

    async def _verify(self, name: str, level: int, accredited: bool, reason: str) -> None:
        party = self._own.parties[name]
        body = {"kyc_level": level, "accredited": accredited, "reason": reason}
        await self._own.officer.post(f"/identity/parties/{party}/verify", body, key=f"verify:{party}")

    async def attest(self, name: str, eid: int, on: date) -> str:
        """Attest an investor on a chain, once; return the attestation's ID."""
        if (name, eid) not in self._attested:
            self._attested[name, eid] = await self.attest_again(name, eid, on, key=f"attest:{name}:{eid}")
        return self._attested[name, eid]

    async def attest_again(self, name: str, eid: int, on: date, *, key: str) -> str:
        """Attest for a year, for two years during the demo's year, or until an end that is near."""
        years = 1 if on == self._today else 2
        end = self._today + timedelta(days=SOON) if name == ENDS_SOON else on + timedelta(days=365 * years)
        expiry = datetime.combine(end, time(0, tzinfo=UTC))
        body = {"party_id": self._own.parties[name], "chain_eid": eid, "expires_at": expiry.isoformat()}
        accepted = await self._own.officer.post_and_wait(self._own.org, f"{self._own.base}/attestations", body, key=key)
        return str(accepted["attestationId"])

    async def revoked(self) -> None:
        """Create an attestation and revoke it."""
        await self.revoke(await self.attest("Brightwater LP", cast.BASE, self._today))

    async def revoke(self, attestation: str) -> None:
        """Revoke an attestation."""
        path = f"{self._own.base}/attestations/{attestation}/revoke"
        body = {"reason": "Left the offshore programme."}
        await self._own.officer.post_and_wait(self._own.org, path, body, key="revoke")
