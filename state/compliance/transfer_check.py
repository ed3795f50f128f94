"""The transfer check: every rule's verdict about a transfer."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.compliance.schemas import TransferCheck
from state.assets.detail import AssetState
from state.compliance.verdicts import Terms, Verdict, verdicts_of
from state.core.api import Form
from state.core.arguments import number, texts
from state.core.events import Events
from state.transfers.amounts import to_positive


class TransferCheckState(Form, rx.State):
    """The form on the asset's page, and its result."""

    verdicts: list[Verdict] = []
    answered: bool = False
    allowed: bool = False
    agrees: bool = True
    failing: int = 0
    chain: str = ""

    @rx.event
    def load(self) -> None:
        """Reset the tab when it opens."""
        self.answered, self.verdicts, self.chain = False, [], ""
        self._done()

    @rx.event
    def pick_chain(self, eid: str) -> None:
        """Select the chain, whose holders the fields of the accounts offer."""
        self.chain = str(number(eid) or "")

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Check the transfer; no tokens are moved."""
        asset = (await self.get_state(AssetState)).asset
        self._begin()
        self.answered = False
        yield
        given = texts(data)
        self.errors = _faults(given, asset.decimals)
        if self.errors:
            self.saving = False
            return
        try:
            check = _check(given, asset.decimals)
            answer = await self._api.check_transfer(self._org_id(), self._in_path("asset_id"), check)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("chain_eid", "from_address", "to_address", "amount")
            return
        self._done()
        terms = Terms(self._org_id(), self._in_path("asset_id"), asset.symbol, asset.decimals)
        self.verdicts = verdicts_of(answer.rules, terms)
        self.failing = sum(not verdict.passed for verdict in self.verdicts)
        self.allowed, self.agrees, self.answered = answer.allowed, answer.chain_agrees, True


def _faults(data: dict[str, str], decimals: int) -> dict[str, str]:
    """Return what is missing or invalid, by field."""
    addresses = ("from_address", "to_address")
    errors = {name: "Choose an account, or enter an address" for name in addresses if not data.get(name, "").strip()}
    try:
        to_positive(data.get("amount", ""), decimals)
    except ValueError as error:
        errors["amount"] = str(error)
    return errors


def _check(data: dict[str, str], decimals: int) -> TransferCheck:
    """Return the request body of inputs without faults. Raises ApiProblem as the API would."""
    return body(
        TransferCheck,
        {
            "chain_eid": number(data.get("check_chain")),
            "from_address": data.get("from_address", "").strip(),
            "to_address": data.get("to_address", "").strip(),
            "amount": to_positive(data.get("amount", ""), decimals),
        },
    )
