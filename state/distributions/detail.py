"""One distribution: its record, a recipient's proof, activation and cancellation."""

from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.distributions.schemas import Distribution
from state.chains.lookup import Chains
from state.core.address import Addressed, Param, choice
from state.core.api import Loads
from state.core.arguments import id_of, one_of
from state.core.events import Events, Next
from state.distributions.list import DistributionView, distribution_view
from state.distributions.recipients import RecipientsState
from state.requests.tracker import Follows
from state.requests.views import RequestView

TABS = ("recipients", "held", "proof")


class DistributionState(Follows, Loads, Chains, Addressed, rx.State):
    """The page of a distribution; its running request is followed live."""

    distribution: DistributionView = DistributionView()
    tab: str = "recipients"
    _in_url: ClassVar[dict[str, Param]] = {"tab": choice("tab", TABS, "recipients", "change")}
    distributor_url: str = ""

    @rx.event
    async def load(self) -> Events:
        """Read the distribution; follow its request while it runs or after it failed."""
        self._read_url()
        if self.distribution.id != self._in_path("distribution_id"):
            self.distribution, self.loading, self.request = DistributionView(), True, RequestView()
            yield
        await self._read()
        if self.distribution.request_id:
            yield self._follow(self.distribution.request_id)

    @rx.event
    def go(self, tab: str) -> None:
        """Open a tab."""
        self.tab = one_of(tab, TABS, "recipients")

    @rx.event
    async def reload(self) -> None:
        """Read it again."""
        await self._read()

    @rx.event
    async def watch(self, request_id: str) -> Next:
        """Follow a request of this distribution."""
        await self._read()
        return self._follow(id_of(request_id) or self.distribution.request_id)

    async def _followed(self) -> None:
        await self._read()
        recipients = await self.get_state(RecipientsState)
        recipients.paying = ""
        await recipients._restart()

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            record = await self._locate()
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        self.distribution = distribution_view(record)
        (await self.get_state(RecipientsState))._about(record)
        self.distributor_url = self._address_url(record.chain_eid, record.distributor_address)

    async def _locate(self) -> Distribution:
        """Find the distribution in the URL. The API needs its asset; a list provides it if the URL does not."""
        wanted = self._in_path("distribution_id")
        if asset := self.distribution.asset_id or id_of(self._query("asset")):
            return await self._api.get_distribution(self._org_id(), asset, wanted)
        async for distribution in self._api.list_organization_distributions(self._org_id(), limit=100):
            if str(distribution.id) == wanted:
                return distribution
        raise ApiProblem({"status": 404, "title": "Not Found", "detail": "This distribution does not exist here."})

    def _path(self) -> tuple[str, str, str]:
        """Return the ids in the API's path of the distribution; empty ones before it is read."""
        return self._org_id(), self.distribution.asset_id, self.distribution.id
