"""The organization as an issuer: what it needs first, its terms, its attester on each chain."""

from dataclasses import dataclass
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.client import ApiProblem
from backend.issuers.schemas import IssuerRegister
from state.api import Form, Loads
from state.chain_list import Chains
from state.fields import findings
from state.issuer_key import RegistersIssuer
from state.prerequisites import Prerequisite
from state.requests import FINAL, Follows, Request, Tracker

ABSENT = "absent"


@dataclass
class Terms:
    """What the registry writes beside the attester's address."""

    name: str = ""
    max_level: int = 3
    can_revoke_others: bool = False


@dataclass
class Attester:
    """The attester on one chain; `status` is `absent` where nothing was sent yet."""

    eid: int
    chain: str
    status: str
    address: str
    url: str
    tx_hash: str
    tx_url: str


class Issuer(Follows, Loads, Chains, rx.State):
    """The page's record."""

    terms: Terms = Terms()
    attesters: list[Attester] = []
    is_issuer: bool = False
    needs: list[Prerequisite] = []
    is_ready: bool = False
    missing: int = 0

    @rx.event
    async def load(self):
        """Read the issuer, and follow its registration while that runs or where it failed."""
        self.request = Request()
        record = await self._read()
        if record and record["request_id"] and any(a.status in ("pending", "failed") for a in self.attesters):
            yield self._follow(record["request_id"])

    @rx.event
    async def reload(self):
        """Read it again."""
        await self._read()

    @rx.event
    async def retry(self):
        """Try the failed registration again, and go on following it."""
        return [Tracker.retry(self.request.id), type(self).follow]

    @rx.event
    def put_away(self):
        """Stop showing a request that has ended."""
        if self.request.status in FINAL:
            self.request = Request()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> Any:
        """The API's record, or None where the organization is no issuer, or it could not be read."""
        try:
            chains = await self._read_chains()
            wallets = await self._api("GET", "/orgs/{org}/wallets", params={"limit": 100})
            record = await self._find()
        except ApiProblem as problem:
            self._failed(problem)
            return None
        enabled = [chain.eid for chain in chains.values() if chain.enabled]
        self.needs = self._needs(any(w["is_default"] for w in wallets["wallets"]), bool(enabled))
        self.is_ready = all(need.state == "done" for need in self.needs)
        self._show(record, enabled)
        self._loaded()
        return record

    async def _find(self) -> Any:
        try:
            return await self._api("GET", "/orgs/{org}/issuer")
        except ApiProblem as problem:
            if problem.status == 404:
                return None
            raise

    def _needs(self, has_wallet: bool, has_chain: bool) -> list[Prerequisite]:
        """What registering needs, in order."""
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
            Prerequisite(name, title, detail, "", "done" if is_met else "open", f"/o/{self.org_id}/{place}")
            for name, title, detail, is_met, place in found
        ]

    def _show(self, record: Any, enabled: list[int]) -> None:
        self.is_issuer = record is not None
        known = {wallet["chain_eid"]: wallet for wallet in record["wallets"]} if record else {}
        if record:
            self.terms = Terms(record["name"], record["max_kyc_level"], record["can_revoke_others"])
        else:
            self.terms = Terms()
        self.attesters = [self._attester(eid, known.get(eid)) for eid in dict.fromkeys([*enabled, *known])]
        self.missing = sum(a.status in (ABSENT, "failed") for a in self.attesters if a.eid in enabled)

    def _attester(self, eid: int, wallet: Any) -> Attester:
        address, tx_hash = (wallet["address"], wallet["tx_hash"]) if wallet else ("", None)
        return Attester(
            eid=eid,
            chain=self._chain_name(eid),
            status=wallet["status"] if wallet else ABSENT,
            address=address,
            url=self._address_url(eid, address),
            tx_hash=tx_hash or "",
            tx_url=self._transaction_url(eid, tx_hash),
        )


class IssuerForm(RegistersIssuer, Form, rx.State):
    """The dialog that registers, completes a registration, or changes its terms."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Register with a key of five minutes, which the person has agreed to, and follow it."""
        if not data.get("consent"):
            self.errors = {"consent": "The console makes the key only if you agree"}
            return
        self._begin()
        yield
        level = str(data.get("max_kyc_level", ""))
        given = {
            "name": str(data.get("name", "")).strip() or None,
            "max_kyc_level": int(level) if level.isascii() and level.isdigit() else level,
            "can_revoke_others": bool(data.get("can_revoke_others")),
        }
        try:
            body = IssuerRegister.model_validate(given).model_dump(mode="json", exclude_none=True)
            request_id = await self._register_issuer(body)
        except (ApiProblem, ValidationError) as problem:
            if isinstance(problem, ApiProblem):
                self._refused(problem)
            else:
                self.errors, self.saving = findings(problem), False
            self._keep_at("name", "max_kyc_level")
            return
        self._done()
        self.is_open = False
        await self._accepted("Registering the issuer", request_id)
        issuer = await self.get_state(Issuer)
        await issuer._read()
        yield [Tracker.watch, issuer._follow(request_id)]
