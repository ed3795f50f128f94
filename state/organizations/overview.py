"""The overview: counts and chains. The bell provides what waits for the user, the tracker the newest requests."""

import asyncio

import reflex as rx

from backend.client import ApiProblem
from backend.organizations.schemas import Summary
from state.core.api import Loads
from state.core.events import Events
from state.insight.overview import InsightState
from state.organizations.counts import Counts, EnabledChainView, counts_of, enabled_chain_view
from state.organizations.getting_started import GettingStarted


class OverviewState(Loads, rx.State):
    """The page's numbers and lists, read on every visit."""

    counts: Counts = Counts()
    chains: list[EnabledChainView] = []
    chains_problem: str = ""
    reading: bool = False

    @rx.event
    async def load(self) -> Events:
        """Read everything concurrently."""
        self.reading = True
        yield
        try:
            setup = await self.get_state(GettingStarted)
            insight = await self.get_state(InsightState)
            summary, _, _ = await asyncio.gather(
                self._api.get_summary(self._org_id()), setup._read(), insight._arrive()
            )
            await self._read(summary)
            self._loaded()
            yield GettingStarted.watch
        except ApiProblem as problem:
            self._failed(problem)
        self.reading = False

    async def _read(self, summary: Summary) -> None:
        self.counts, self.chains_problem = counts_of(summary), ""
        try:
            listed = (await self._api.list_organization_chains(self._org_id())).chains
            self.chains = [enabled_chain_view(chain) for chain in listed if chain.enabled]
        except ApiProblem as problem:
            self.chains = []
            self.chains_problem = "" if problem.status == 403 else problem.detail or problem.title
