"""The limits of an asset by chain."""

import reflex as rx

from backend.caps.schemas import CapShare, ChainCaps
from backend.client import ApiProblem
from state.assets.detail import AssetState
from state.compliance.cap_views import ChainCapsView, chain_caps_view, total_view
from state.core.events import Next
from state.requests.tracker import Follows


class CapsState(Follows, rx.State):
    """The limits of the current asset; of several chains, the last row is the total."""

    rows: list[ChainCapsView] = []
    chains: list[dict[str, str]] = []
    limits_holders: bool = False
    limits_amounts: bool = False
    is_set_by_hand: bool = False
    in_step: bool = True
    loading: bool = True
    problem: str = ""
    _shares: list[CapShare] = []

    @rx.event
    async def load(self) -> None:
        """Read the limits."""
        await self._read()

    @rx.event
    async def watch(self, request_id: str) -> Next:
        """Read the limits again when a request of this asset has ended."""
        return self._follow(str(request_id)[:60])

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        asset = (await self.get_state(AssetState)).asset
        self.loading, self.problem = False, ""
        try:
            caps = await self._api.get_caps(self._org_id(), self._in_path("asset_id"))
        except ApiProblem as problem:
            self.rows, self._shares, self.problem = [], [], problem.detail or problem.title
            return
        self._shares = [_share_of(chain) for chain in caps.chains]
        self.limits_holders, self.limits_amounts = caps.max_holders > 0, caps.max_tokens_per_holder != "0"
        self.is_set_by_hand, self.in_step = caps.is_set_by_hand, caps.in_step
        rows = [chain_caps_view(chain, asset) for chain in caps.chains]
        self.rows = [*rows, total_view(caps, asset)] if len(rows) > 1 else rows
        self.chains = [{"value": str(chain.chain_eid), "label": chain.chain_name} for chain in caps.chains]


def _share_of(chain: ChainCaps) -> CapShare:
    return CapShare(
        chain_eid=chain.chain_eid,
        max_holders=chain.max_holders or 0,
        max_tokens_per_holder=chain.max_tokens_per_holder or "0",
    )
