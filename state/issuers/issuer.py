"""The organization as an issuer: its prerequisites, its terms, its attester on each chain."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.issuers.schemas import Issuer, IssuerWallet
from state.chains.lookup import Chains
from state.core.api import Loads
from state.core.events import Events
from state.core.prerequisites import Prerequisite
from state.parties.detail import whole_number
from state.requests.tracker import Follows
from state.requests.views import RequestView

ABSENT = "absent"


@dataclass
class TermsView:
    """The terms that the registry records with the attester's address."""

    name: str = ""
    max_level: int = 3
    can_revoke_others: bool = False


@dataclass
class AttesterView:
    """The attester on one chain; `status` is `absent` if no transaction was sent yet."""

    eid: int
    chain: str
    status: str
    name: str
    address: str
    url: str
    tx_hash: str
    tx_url: str


class IssuerState(Follows, Loads, Chains, rx.State):
    """The issuer of the page."""

    terms: TermsView = TermsView()
    attesters: list[AttesterView] = []
    is_issuer: bool = False
    needs: list[Prerequisite] = []
    is_ready: bool = False
    missing: int = 0

    @rx.event
    async def load(self) -> Events:
        """Read the issuer; follow its registration while it runs or after it failed."""
        self.request = RequestView()
        record = await self._read()
        if record and record.request_id and any(a.status in ("pending", "failed") for a in self.attesters):
            yield self._follow(str(record.request_id))

    @rx.event
    async def reload(self) -> None:
        """Read it again."""
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> Issuer | None:
        """Return the API's record, or None if the organization is not an issuer or the request failed."""
        try:
            chains = await self._read_chains()
            wallets = await self._api.list_wallets(self._org_id(), limit=100)
            record = await self._find()
        except ApiProblem as problem:
            self._failed(problem)
            return None
        enabled = [chain.eid for chain in chains.values() if chain.enabled]
        self.needs = self._needs(any(wallet.is_default for wallet in wallets.wallets), bool(enabled))
        self.is_ready = all(need.state == "done" for need in self.needs)
        names = {wallet.address.lower(): wallet.label for wallet in wallets.wallets}
        self._show(record, enabled, names)
        self._loaded()
        return record

    async def _find(self) -> Issuer | None:
        try:
            return await self._api.get_issuer(self._org_id())
        except ApiProblem as problem:
            if problem.status == 404:
                return None
            raise

    def _needs(self, has_wallet: bool, has_chain: bool) -> list[Prerequisite]:
        """Return the prerequisites of registering, in order."""
        found = [
            (
                "server_wallet",
                "Server wallet",
                "The default server wallet becomes the attester.",
                has_wallet,
                "wallets",
            ),
            ("chain_enabled", "Enabled chain", "The attester is added on every enabled chain.", has_chain, "chains"),
        ]
        return [
            Prerequisite(name, title, detail, "", "done" if is_met else "open", f"/o/{self._org_id()}/{place}")
            for name, title, detail, is_met, place in found
        ]

    def _show(self, record: Issuer | None, enabled: list[int], names: dict[str, str]) -> None:
        self.is_issuer = record is not None
        self.terms = TermsView(record.name, record.max_kyc_level, record.can_revoke_others) if record else TermsView()
        known = {wallet.chain_eid: wallet for wallet in record.wallets} if record else {}
        self.attesters = [self._attester(eid, known.get(eid), names) for eid in dict.fromkeys([*enabled, *known])]
        self.missing = sum(a.status in (ABSENT, "failed") for a in self.attesters if a.eid in enabled)

    def _attester(self, eid: int, wallet: IssuerWallet | None, names: dict[str, str]) -> AttesterView:
        address, tx_hash = (wallet.address, wallet.tx_hash) if wallet else ("", None)
        return AttesterView(
            eid=eid,
            chain=self._chain_name(eid),
            status=wallet.status if wallet else ABSENT,
            name=names.get(address.lower(), ""),
            address=address,
            url=self._address_url(eid, address),
            tx_hash=tx_hash or "",
            tx_url=self._transaction_url(eid, tx_hash),
        )


def terms_view(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the form; without a name, the API uses the organization's."""
    name = str(data.get("name", "")).strip()
    terms = {
        "max_kyc_level": whole_number(data.get("max_kyc_level")),
        "can_revoke_others": bool(data.get("can_revoke_others")),
    }
    return terms | ({"name": name} if name else {})
