"""Can this transfer happen? Every rule's word on it."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.asset import AssetState
from state.units import to_base

TITLES = {
    "paused": "Token is not paused", "rules": "Rules are set", "receiver": "Receiver can hold it", "balance": "Balance",
    "frozen": "Not frozen", "lockup_end_time": "Lockup", "attestation": "Attestation",
    "blocked_countries": "Blocked countries", "org_only": "Organization only", "min_kyc_level": "KYC level",
    "requires_accreditation": "Accreditation", "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder", "halted": "Market is open",
}  # fmt: skip


@dataclass
class Verdict:
    """One rule's word: why, and what would put it right, with the page of the console that does it."""

    id: str
    title: str
    passed: bool
    reason: str
    fix: str
    call: str
    href: str


class TransferCheckState(Form, rx.State):
    """The form on the asset's page, and its answer."""

    verdicts: list[Verdict] = []
    answered: bool = False
    allowed: bool = False
    agrees: bool = True
    failing: int = 0
    wallets: list[dict[str, str]] = []

    @rx.event
    async def load(self):
        """Offer the organization's own wallets as addresses."""
        self.answered, self.verdicts = False, []
        self._done()
        try:
            page = await self._api("GET", "/orgs/{org}/wallets", params={"limit": 100})
        except ApiProblem:
            return  # whoever may not see wallets can still type an address
        self.wallets = [{"value": w["address"], "label": w["label"]} for w in page["wallets"]]

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Ask; nothing is moved."""
        asset = (await self.get_state(AssetState)).asset
        self._begin()
        self.answered = False
        yield
        try:
            body = self._read(data, asset.decimals)
            answer = await self._api("POST", f"/orgs/{{org}}/assets/{self.asset_id}/transfer-check", json=body)
        except ValueError as error:
            self.saving, self.errors = False, {"amount": str(error)}
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("chain_eid", "from_address", "to_address", "amount")
            return
        self._done()
        rules = enumerate(answer["rules"])
        self.verdicts = sorted((self._verdict(i, rule) for i, rule in rules), key=lambda verdict: verdict.passed)
        self.failing = sum(not verdict.passed for verdict in self.verdicts)
        self.allowed, self.agrees, self.answered = answer["allowed"], answer["chain_agrees"], True

    def _read(self, data: dict[str, Any], decimals: int) -> dict[str, Any]:
        """The request. Raises ValueError about the amount."""
        chain = str(data.get("check_chain", ""))
        return {
            "chain_eid": int(chain[:12]) if chain.isascii() and chain.isdigit() else 0,
            "from_address": str(data.get("from_address", ""))[:100].strip(),
            "to_address": str(data.get("to_address", ""))[:100].strip(),
            "amount": to_base(str(data.get("amount", ""))[:200], decimals),
        }

    def _verdict(self, i: int, rule: dict[str, Any]) -> Verdict:
        fix = rule.get("resolution") or {}
        return Verdict(
            id=f"{i}-{rule['code']}",
            title=TITLES.get(rule["rule"], rule["rule"].replace("_", " ").capitalize()),
            passed=rule["passed"],
            reason=rule["reason"],
            fix=fix.get("description", ""),
            call=f"{fix['method']} {fix['path']}" if fix else "",
            href=self._page(fix),
        )

    def _page(self, fix: dict[str, str]) -> str:
        """Where the console does what the API's resolution says."""
        path = fix.get("path", "")
        if path.endswith("/attestations"):
            return f"/o/{self.org_id}/attestations"
        if fix.get("method") == "PATCH" and "/assets/" in path:
            return f"/o/{self.org_id}/assets/{self.asset_id}?tab=compliance"
        return ""
