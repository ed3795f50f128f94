"""The release of a distribution's held recipients: a new draft that pays those who are eligible now."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.distributions.schemas import DistributionCreate
from state.core.arguments import named
from state.core.dialogs import Dialog
from state.core.events import Events
from state.distributions.check import ShowsCheck
from state.distributions.detail import DistributionState
from state.distributions.list import DistributionView


class Release(ShowsCheck, Dialog, rx.State):
    """The dialog that checks the held recipients again, and creates the draft."""

    symbol: str = ""
    decimals: int = 18
    plan_problem: str = ""

    @rx.event
    async def show(self, is_open: bool) -> Events:
        """Open the dialog with the check of the held recipients, or close it."""
        self._done()
        self._forget_check()
        self.is_open, self.plan_problem = bool(is_open), ""
        page = await self.get_state(DistributionState)
        one = page.distribution
        if not is_open or not one.id:
            return
        self.symbol, self.decimals = one.symbol, one.decimals
        yield
        org, asset, _ = page._path()
        try:
            plan = await self._api.create_distribution(org, asset, _release(one, one.name), dry_run=True)
        except ApiProblem as problem:
            self.plan_problem = problem.detail or problem.title
            return
        self._take(plan, one.chain)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create the draft, and go to it."""
        self._begin()
        yield
        page = await self.get_state(DistributionState)
        org, asset, _ = page._path()
        if not page.distribution.id:
            self._done()
            return
        try:
            draft = _release(page.distribution, named(data, "name")["name"])
            record = await self._api.create_distribution(org, asset, draft, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name")
            return
        self._close()
        yield rx.redirect(f"/o/{org}/distributions/{record.id}?asset={asset}")


def _release(one: DistributionView, name: str) -> DistributionCreate:
    return body(DistributionCreate, {"name": name, "chain_eid": one.chain_eid, "held_of": one.id})
