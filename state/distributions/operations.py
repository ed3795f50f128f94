"""The activation, the cancellation and the deletion of a distribution."""

from contextlib import suppress
from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.distributions.schemas import DistributionActivate
from state.core.api import Api
from state.core.arguments import named, number
from state.core.dialogs import Dialog
from state.core.events import Events, call
from state.core.units import shortened
from state.distributions.detail import DistributionState
from state.distributions.list import DistributionView
from state.distributions.recipients import RecipientsState
from state.requests.tracker import Tracker

NAMED = 3
"""Recipients named in a confirmation; the page's list has all."""


class Activation(Dialog, rx.State):
    """The dialog that funds a draft and opens it for claims."""

    steps: list[str] = []
    plan_problem: str = ""

    @rx.event
    async def show(self, is_open: bool) -> Events:
        """Open the dialog with the steps of the activation, or close it."""
        self._done()
        self.is_open, self.steps, self.plan_problem = bool(is_open), [], ""
        page = await self.get_state(DistributionState)
        if not is_open or not page.distribution.has_recipients:
            return
        yield
        try:
            plan = await self._api.activate_distribution(*page._path(), _terms(page.distribution), dry_run=True)
        except ApiProblem as problem:
            self.plan_problem = problem.detail or problem.title
            return
        self.steps = plan.steps

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Activate the distribution and follow the request on the page."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        one = page.distribution
        if not one.id:
            self._done()
            return
        try:
            terms = _terms(one) if one.has_recipients else _given(one, data)
            await self._api.activate_distribution(*page._path(), terms, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("merkleRoot", "totalRecipients")
            return
        self._close()
        yield [call(DistributionState.watch, ""), Tracker.watch]


class Cancellation(Dialog, rx.State):
    """The confirmation before a distribution is cancelled. `losing` names the first recipients who have not claimed."""

    losing: str = ""

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog with the names of those who lose their claims, or close it."""
        self._done()
        self.is_open, self.losing = bool(is_open), ""
        page = await self.get_state(DistributionState)
        one = page.distribution
        if not is_open or one.status != "active" or not one.has_recipients:
            return
        with suppress(ApiProblem):  # the number is known without the names
            found = await self._api.list_recipients(*page._path(), claimed=False, limit=NAMED)
            names = [entry.party_name or entry.wallet_label or shortened(entry.address) for entry in found.recipients]
            more = one.unclaimed_recipients - len(names)
            self.losing = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")

    @rx.event
    async def confirm(self) -> Events:
        """Cancel the distribution and follow the request on the page."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        if not page.distribution.id:
            self._done()
            return
        try:
            answer = await self._api.cancel_distribution(*page._path(), idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._close()
        yield [call(DistributionState.watch, answer.request_id), Tracker.watch]


class Payout(Api, rx.State):
    """The payment of one recipient, which the organization sends."""

    @rx.event
    async def pay(self, address: str) -> Events:
        """Pay a recipient and follow the request on the page."""
        page, recipients = await self.get_state(DistributionState), await self.get_state(RecipientsState)
        wanted = str(address)[:42]
        payee = next((row for row in recipients.rows if row.address == wanted), None)
        if recipients.paying or payee is None:
            return
        recipients.paying = wanted
        yield
        try:
            answer = await self._api.pay_recipient(*page._path(), wanted)
        except ApiProblem as problem:
            recipients.paying = ""
            await self._notify("The recipient cannot be paid now", problem.detail or problem.title, "bad")
            return
        await self._accepted(f"Paying {payee.name}", answer.request_id)
        yield [call(DistributionState.watch, answer.request_id), Tracker.watch]


class Deletion(Dialog, rx.State):
    """The confirmation before a draft is deleted."""

    @rx.event
    async def confirm(self) -> Events:
        """Delete the draft and go to the list."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        if not page.distribution.id:
            self._done()
            return
        try:
            await self._api.delete_distribution(*page._path())
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._close()
        yield rx.redirect(f"/o/{self._org_id()}/distributions")


def _terms(one: DistributionView) -> DistributionActivate:
    """Return the root and count that Signum calculated. Raises ApiProblem as the API would."""
    return _activate(one, one.root, one.recipients)


def _given(one: DistributionView, data: dict[str, Any]) -> DistributionActivate:
    """Return the root and count that the user enters if Signum does not know the recipients."""
    given = named(data, "merkleRoot", "totalRecipients")
    return _activate(one, given["merkleRoot"], number(given["totalRecipients"]))


def _activate(one: DistributionView, root: str, recipients: int) -> DistributionActivate:
    return body(DistributionActivate, {"chainEid": one.chain_eid, "merkleRoot": root, "totalRecipients": recipients})
