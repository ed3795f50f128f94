"""What a tour knows: its fund, investor and market, from the audit log; and the people who fit a step."""

from collections.abc import Sequence
from itertools import islice

from backend.assets.schemas import AssetStatus, Holder
from backend.attestations.schemas import AttestationStatus
from backend.audit.schemas import AuditEntry
from backend.client import SessionClient
from backend.compliance.countries import country_name
from backend.parties.schemas import Party
from backend.users.schemas import MemberStatus, Role
from state.core.arguments import number
from state.parties.detail import WAITING
from state.tour.steps import Fact, Finds, Learns, TourStep

Facts = dict[str, str]
USUAL_MARKET = 40362
"""The chain on which the market wizard opens a market by default."""


class FactReader:
    """Reads facts of an organization. Every method raises ApiProblem."""

    def __init__(self, api: SessionClient, org_id: str) -> None:
        self._api, self._org = api, org_id

    async def learned(self, step: TourStep, entries: Sequence[AuditEntry], facts: Facts) -> Facts:
        """Return what the entries that completed a step say, the latest first."""
        match step.learns:
            case Learns.FUND:
                return await self._fund(entries[0].subject.id)
            case Learns.PARTY:
                verified = next((entry for entry in entries if entry.action == "party.verified"), None)
                return await self._party(verified.subject.id, facts) if verified else {}
            case Learns.CHAINS:
                return await self._chains(step.chains_of(entries), facts)
            case Learns.MARKET:
                return {Fact.MARKET_ID: entries[0].subject.id}
            case Learns.APPROVAL:
                return await self._approval(entries[0])
        return {}

    async def found(self, step: TourStep, facts: Facts) -> Facts:
        """Return what a step looks for before it is done; empty strings for what is no longer true."""
        match step.finds:
            case Finds.APPLICANT:
                applicant = await self._applicant()
                return {
                    Fact.APPLICANT_ID: str(applicant.id) if applicant else "",
                    Fact.APPLICANT: applicant.name if applicant else "",
                    Fact.READING: "read the documents" if applicant and applicant.status is WAITING[1] else "",
                }
            case Finds.FUND if Fact.FUND not in facts:
                assets = await self._api.list_assets(self._org, status=AssetStatus.ACTIVE, limit=50)
                return await self._fund(str(assets.assets[-1].id)) if assets.assets else {}
            case Finds.HOLDER if Fact.HOLDER not in facts:
                return await self._holder()
            case Finds.COLLEAGUE:
                name = await self._colleague(facts.get(Fact.APPROVAL_ID, ""))
                return {Fact.COLLEAGUE: name, Fact.VIEW: "mine" if name else ""}
        return {}

    async def _fund(self, asset_id: str) -> Facts:
        asset = await self._api.get_asset(self._org, asset_id)
        level, is_accredited = asset.required_kyc_level, asset.compliance_rules.requires_accreditation
        needs = [f"KYC level {level}"] if level else []
        needs += ["accreditation, so tick Accredited investor"] if is_accredited else []
        names = await self._chain_names()
        eid = asset.deployments[0].chain_eid
        others = sorted((other for other in names if other != eid), key=lambda other: other != USUAL_MARKET)
        return {
            Fact.FUND_ID: str(asset.id),
            Fact.FUND: asset.symbol,
            Fact.FUND_CHAIN: names.get(eid, ""),
            Fact.NEEDS: f" {asset.symbol} requires {' and '.join(needs)}." if needs else "",
            Fact.LEVEL: str(level or ""),
            Fact.ACCREDITED: "yes" if is_accredited else "",
            Fact.OTHER: names[others[0]] if others else "",
        }

    async def _chain_names(self) -> dict[int, str]:
        """Return the names of the enabled chains that can have a market."""
        chains = (await self._api.list_organization_chains(self._org)).chains
        return {
            chain.xchain_eid: chain.display_name or chain.chain_name or ""
            for chain in chains
            if chain.xchain_eid and chain.enabled and chain.market_factory_address
        }

    async def _party(self, party_id: str, facts: Facts) -> Facts:
        party = await self._api.get_party(party_id, organization_id=self._org)
        level = number(facts.get(Fact.LEVEL, "0"))
        lacks = [f"KYC level {level}"] if (party.kyc_level or 0) < level else []
        lacks += ["accreditation"] if Fact.ACCREDITED in facts and not party.accredited else []
        return {
            Fact.LACKS: " and ".join(lacks),
            Fact.PARTY_ID: str(party.id),
            Fact.PARTY: party.name,
            Fact.COUNTRY: country_name(party.country),
        }

    async def _chains(self, eids: Sequence[int], facts: Facts) -> Facts:
        """Return the chain for the market: the latest one with an attestation that is not the fund's."""
        names = await self._chain_names()
        others = [names[eid] for eid in eids if eid in names and names[eid] != facts.get(Fact.FUND_CHAIN)]
        is_kept = facts.get(Fact.OTHER) in others
        return {Fact.OTHER: others[0]} if others and not is_kept else {}

    async def next_chain(self, done: Sequence[int], facts: Facts) -> Facts:
        """Return which of the fund's chain and the market's is not among those done; empty unless it is one of them."""
        names = await self._chain_names() if done else {}
        said = [names[eid] for eid in done if eid in names]
        left = [facts[name] for name in (Fact.FUND_CHAIN, Fact.OTHER) if facts.get(name) and facts[name] not in said]
        return {Fact.NEXT: left[0] if len(left) == 1 else ""}

    async def _approval(self, control: AuditEntry) -> Facts:
        """Return the approval that a control waits for, if it does."""
        request_id = (control.after or {}).get("request_id")
        page = await self._api.list_approvals(self._org, limit=50)
        waiting = next((one for one in page.approvals if str(one.request_id) == request_id), None)
        return {Fact.APPROVAL_ID: str(waiting.id), Fact.APPROVAL: waiting.title} if waiting else {}

    async def _colleague(self, approval_id: str) -> str:
        """Return an admin who did not request an approval; an empty string if the person who looks may decide."""
        asked_by = None
        if approval_id:
            approval = await self._api.get_approval(self._org, approval_id)
            if approval.can_decide:
                return ""
            asked_by = approval.asked_by
        admins = await self._api.list_members(self._org, role=Role.ADMIN, status=MemberStatus.ACTIVE, limit=10)
        return next((one.user.display_name or "" for one in reversed(admins.members) if one.user_id != asked_by), "")

    async def _applicant(self) -> Party | None:
        """Return a party that awaits review and has a wallet, without which it could not be attested."""
        for status in reversed(WAITING):  # those whose review has begun have documents
            page = await self._api.list_parties(organization_id=self._org, status=status, limit=50)
            for party in reversed(page.parties):
                if party.wallet_address:
                    return party
        return None

    async def _holder(self) -> Facts:
        """Return the smallest holder of an asset with an attestation on its chain, and the largest one, who can receive
        what the other one holds. The investors who sign in are left alone."""
        clients = await self._api.list_members(self._org, role=Role.CLIENT, limit=50)
        emails = {client.user.email for client in clients.members}
        active = await self._api.list_attestations(self._org, status=AttestationStatus.ACTIVE, limit=100)
        attested = {(str(one.party_id), one.chain_eid): str(one.id) for one in active.attestations}
        assets = await self._api.list_assets(self._org, status=AssetStatus.ACTIVE, limit=50)
        for asset in islice(reversed(assets.assets), 10):
            holders = (await self._api.list_holders(self._org, asset.id, limit=50)).holders
            able = [holder for holder in holders if (str(holder.party_id), holder.chain_eid) in attested]
            able = sorted(able, key=_balance)
            for smallest in able[:3]:
                party = await self._api.get_party(str(smallest.party_id), organization_id=self._org)
                receiver = next((one for one in reversed(able) if one.chain_eid == smallest.chain_eid), smallest)
                if party.email not in emails and receiver is not smallest:
                    return {
                        Fact.ATTESTATION_ID: attested[str(smallest.party_id), smallest.chain_eid],
                        Fact.HOLDER: party.name,
                        Fact.RECEIVER: receiver.party_name or "",
                        Fact.ASSET_ID: str(asset.id),
                        Fact.ASSET: asset.symbol,
                    }
        return {}


def _balance(holder: Holder) -> int:
    return int(holder.balance)
