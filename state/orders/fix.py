"""Performs the next step of a refused order, and sends the order afterwards."""

from http import HTTPStatus
from uuid import uuid4

import reflex as rx

from backend.accounts.schemas import Account
from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem, body
from backend.controls.schemas import Freeze, Pause
from backend.test_funds.schemas import WalletFunding
from state.attestations.revoked import refusal_to_attest
from state.core.api import Api
from state.core.dates import end_of, in_days
from state.core.events import Events, call
from state.core.prerequisites import refusal_words
from state.markets.detail import MarketState
from state.orders.form import OrderForm
from state.orders.offers import ATTEST, FUNDS, UNFREEZE
from state.requests.endings import end_of_all
from state.requests.tracker import Tracker


class OrderFix(Api, rx.State):
    """The next step below a refused order."""

    reason: str = ""
    is_running: bool = False
    problem: str = ""
    _key: str = ""

    @rx.event
    def rest(self) -> None:
        """Forget an earlier step when the dialog opens."""
        self.reason, self.is_running, self.problem, self._key = "", False, "", ""

    @rx.event
    def write(self, reason: str) -> None:
        """Take over the reason."""
        self.reason, self.problem = str(reason)[:500], ""

    @rx.event(background=True)
    async def run(self, shown: str) -> Events:
        """Perform the step that the page shows, wait for the chain, and send the order as it was entered."""
        async with self:
            form, market = await self.get_state(OrderForm), (await self.get_state(MarketState)).market
            offer, account, entered = form.offer, form._account(), form._entered()
            if self.is_running or not form.is_open or not offer.kind or offer.about != shown or account is None:
                return
            if offer.needs_reason and not self.reason.strip():
                self.problem = "Give a reason. It is stored with the action."
                return
            self.is_running, self.problem, self._key = True, "", self._key or str(uuid4())
            kind, reason, key, org_id = offer.kind, self.reason.strip(), self._key, self._org_id()
            asset_id, eid = market.asset_id, market.chain_eid
        yield Tracker.watch
        try:
            request_id = await self._perform(kind, account, asset_id, eid, reason, key)
            problem = await end_of_all(self._api, org_id, [request_id], "this step")
        except ApiProblem as refusal:
            problem = refusal_words(refusal)
        async with self:
            self.is_running, self._key, self.problem = False, "", problem
        if not problem:
            yield call(OrderForm.send_again, entered)

    async def _perform(self, kind: str, account: Account, asset_id: str, eid: int, reason: str, key: str) -> str:
        """Send the step; return the ID of its request."""
        api, org_id = self._api, self._org_id()
        if kind == ATTEST:
            if why := await refusal_to_attest(api, org_id, str(account.party_id), eid):
                raise ApiProblem({"title": "Conflict", "status": HTTPStatus.CONFLICT, "detail": why})
            fields = {"party_id": str(account.party_id), "chain_eid": eid, "expires_at": end_of(in_days(365))}
            wanted = body(AttestationCreate, fields)
            return str((await api.create_attestation(org_id, wanted, idempotency_key=key)).request_id)
        if kind == FUNDS:
            funding = body(WalletFunding, {"chain_eid": eid})
            made = await api.pay_test_funds(org_id, str(account.wallet_id), funding, idempotency_key=key)
            return str(made.request_id)
        if kind == UNFREEZE:
            freeze = body(Freeze, {"chain_eid": eid, "address": account.address, "amount": None, "reason": reason})
            return str((await api.unfreeze(org_id, asset_id, freeze, idempotency_key=key)).request_id)
        pause = body(Pause, {"chain_eid": eid, "reason": reason})
        return str((await api.unpause(org_id, asset_id, pause, idempotency_key=key)).request_id)
