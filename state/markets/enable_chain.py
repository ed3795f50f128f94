"""The next step where a market's chain is not enabled: enable it, and continue in the wizard."""

import reflex as rx

from backend.client import ApiProblem
from state.core.api import Api
from state.core.arguments import number
from state.core.events import Events
from state.markets.wizard import MarketWizard


class EnableChain(Api, rx.State):
    """The buttons that enable a chain within the wizard."""

    saving: str = ""
    """The endpoint ID of the chain that is being enabled."""
    problem: str = ""

    @rx.event
    def rest(self) -> None:
        """Forget what an earlier visit of the page left."""
        self.saving, self.problem = "", ""

    @rx.event
    async def enable(self, eid: str) -> Events:
        """Enable a chain and choose it."""
        wanted = number(eid)
        if self.saving or not wanted:
            return
        self.saving, self.problem = str(wanted), ""
        yield
        following = None
        try:
            page = await self._api.list_organization_chains(self._org_id())
            for chain in page.chains:
                if chain.xchain_eid == wanted:
                    await self._api.enable_chain(self._org_id(), chain.id)
                    following = await (await self.get_state(MarketWizard))._enabled(wanted)
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
        self.saving = ""
        yield following
