"""Can this transfer happen? Every rule's word on it."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.asset import AssetState
from state.given import number, texts
from state.units import to_base
from state.verdicts import Terms, Verdict, verdicts_of


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
        except ApiProblem as problem:
            await self._lacks("Your wallets", problem)  # an address can still be typed
            return
        self.wallets = [{"value": w["address"], "label": w["label"]} for w in page["wallets"]]

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Ask; nothing is moved."""
        asset = (await self.get_state(AssetState)).asset
        self._begin()
        self.answered = False
        yield
        try:
            body = self._read(texts(data), asset.decimals)
            answer = await self._api("POST", f"/orgs/{{org}}/assets/{self.asset_id}/transfer-check", json=body)
        except ValueError as error:
            self.saving, self.errors = False, {"amount": str(error)}
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("chain_eid", "from_address", "to_address", "amount")
            return
        self._done()
        terms = Terms(str(self.org_id), str(self.asset_id), asset.symbol, asset.decimals)
        self.verdicts = verdicts_of(answer["rules"], terms)
        self.failing = sum(not verdict.passed for verdict in self.verdicts)
        self.allowed, self.agrees, self.answered = answer["allowed"], answer["chain_agrees"], True

    def _read(self, data: dict[str, str], decimals: int) -> dict[str, Any]:
        """The request. Raises ValueError about the amount."""
        return {
            "chain_eid": number(data.get("check_chain")),
            "from_address": data.get("from_address", "").strip(),
            "to_address": data.get("to_address", "").strip(),
            "amount": to_base(data.get("amount", ""), decimals),
        }
