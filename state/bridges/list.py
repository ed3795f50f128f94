"""Bridges: the list, and one packet's history."""

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.bridges.schemas import Bridge, BridgeStatus
from backend.client import ApiProblem
from backend.requests.schemas import RequestStatus
from state.assets.choice import ByAsset
from state.bridges.whereabouts import retry_needs, tokens_of_failed, words_of_amount
from state.chains.lookup import Chains
from state.core.address import Addressed, Param, opened
from state.core.arguments import chosen, id_of
from state.core.dates import stamp
from state.core.events import Next, call
from state.core.paging import CountedByStatus
from state.core.units import brief
from state.requests.tracker import Follows, Tracker
from state.requests.views import RequestView, request_view, shown_status


@dataclass
class BridgeView:
    """A row of the list. The status also says that its request awaits approval."""

    id: str = ""
    asset_id: str = ""
    symbol: str = ""
    decimals: int = 18
    amount: str = "0"
    source: str = ""
    destination: str = ""
    status: str = ""
    guid: str = ""
    source_tx: str = ""
    source_url: str = ""
    destination_tx: str = ""
    destination_url: str = ""
    receiver: str = ""
    receiver_name: str = ""
    failure: str = ""
    failure_full: str = ""
    can_retry: bool = False
    fix_label: str = ""
    fix_href: str = ""
    """The step that resolves the failure, where the API names one."""
    request_id: str = ""
    return_request_id: str = ""
    returned_at: str = ""
    return_tx: str = ""
    return_url: str = ""
    can_return: bool = False
    checked_at: str = ""
    created_at: str = ""


class BridgesState(CountedByStatus, ByAsset, Chains, rx.State):
    """The organization's bridges, in the API's pages."""

    rows: list[BridgeView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = BridgeStatus

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_bridges(
            self._org_id(),
            asset_id=self.asset or None,
            status=chosen(BridgeStatus, self.status),
            cursor=cursor or None,
            **self._order(),
        )
        self.rows = [self._view(bridge) for bridge in page.bridges]
        await self._read_fixes()
        return page.nextCursor

    async def _number(self, status: str) -> int | None:
        wanted = chosen(BridgeStatus, status)
        page = await self._api.list_bridges(
            self._org_id(), asset_id=self.asset or None, status=wanted, limit=1, count="estimated"
        )
        return page.estimatedCount

    async def _read_fixes(self) -> None:
        """Name the step that resolves each failure: retried before, a bridge fails again. Rows whose request is not
        among the newest failed ones keep their reason only."""
        if not any(row.can_retry for row in self.rows):
            return
        with suppress(ApiProblem):
            page = await self._api.list_requests(self._org_id(), status=RequestStatus.FAILED, limit=100)
            failed = {str(request.id): request_view(request) for request in page.requests}
            for row in self.rows:
                if row.can_retry and (request := failed.get(row.request_id)) and request.fix_href:
                    row.fix_label, row.fix_href = request.fix.label, request.fix_href

    @rx.event
    def retry(self, bridge_id: str) -> Next:
        """Retry a failed bridge of the list, and follow it in the drawer."""
        row = next((row for row in self.rows if row.id == bridge_id and row.can_retry), None)
        if row is None:
            return None
        return [call(Tracker.retry, row.request_id), call(BridgeState.show, row.id)]

    async def _find(self, bridge_id: str) -> BridgeView:
        """Return a bridge that may be on another page of the list."""
        if not self._chains:
            await self._read_chains()
        return self._view(await self._api.get_bridge(self._org_id(), bridge_id))

    def _view(self, bridge: Bridge) -> BridgeView:
        source, destination = bridge.source_chain_eid, bridge.destination_chain_eid
        is_undelivered = bridge.status is BridgeStatus.FAILED and bool(bridge.guid)
        return BridgeView(
            id=str(bridge.id),
            asset_id=str(bridge.asset_id),
            symbol=bridge.asset_symbol or "",
            decimals=18 if bridge.asset_decimals is None else bridge.asset_decimals,
            amount=bridge.amount,
            source=self._chain_name(source),
            destination=self._chain_name(destination),
            status=shown_status(bridge),
            guid=bridge.guid or "",
            source_tx=bridge.source_tx_hash or "",
            source_url=self._transaction_url(source, bridge.source_tx_hash),
            destination_tx=bridge.destination_tx_hash or "",
            destination_url=self._transaction_url(destination, bridge.destination_tx_hash),
            receiver=bridge.to_address or "",
            receiver_name=bridge.to_name or "",
            failure=brief(bridge.failure or ""),
            failure_full=bridge.failure or "",
            can_retry=bool(bridge.can_retry),
            request_id=str(bridge.request_id or ""),
            return_request_id=str(bridge.return_request_id or ""),
            returned_at=stamp(bridge.returned_at),
            return_tx=bridge.return_tx_hash or "",
            return_url=self._transaction_url(source, bridge.return_tx_hash),
            can_return=is_undelivered and not bridge.returned_at,
            checked_at=stamp(bridge.checked_at),
            created_at=stamp(bridge.created_at),
        )


class BridgeState(Follows, Addressed, rx.State):
    """The bridge in the drawer."""

    bridge: BridgeView = BridgeView()
    _in_url: ClassVar[dict[str, Param]] = {"id": opened("bridge.id")}

    @rx.var
    def about_failure(self) -> str:
        """Where the tokens of a failed bridge are, and what a retry needs."""
        bridge = self.bridge
        if bridge.status != BridgeStatus.FAILED or bridge.return_request_id:
            return ""
        where = tokens_of_failed(
            self.request.steps,
            amount=words_of_amount(bridge.amount, bridge.decimals),
            symbol=bridge.symbol,
            source=bridge.source,
            destination=bridge.destination,
            has_packet=bool(bridge.guid),
        )
        needs = retry_needs(bridge.failure_full, bridge.receiver_name, bridge.destination)
        return " ".join(filter(None, (where, needs)))

    @rx.event
    async def load(self) -> Next:
        """Open the bridge of `?id=`."""
        wanted = id_of(self._query("id"))
        return await self._open(wanted) if wanted else None

    @rx.event
    async def show(self, bridge_id: str) -> Next:
        """Open a bridge and follow its request."""
        return await self._open(id_of(bridge_id))

    async def _open(self, bridge_id: str) -> Next:
        bridges = await self.get_state(BridgesState)
        listed = next((row for row in bridges.rows if row.id == bridge_id), None)
        self.request = RequestView()
        try:
            self.bridge = listed or await bridges._find(bridge_id)
        except ApiProblem as problem:
            self.bridge = BridgeView()
            await self._notify("This bridge cannot be shown", problem.detail or problem.title, "bad")
        followed = self.bridge.return_request_id or self.bridge.request_id
        return self._follow(followed) if followed else None

    @rx.event
    def watch(self, request_id: str) -> Next:
        """Follow another request of the bridge: the return of its supply."""
        return self._follow(id_of(request_id)) if self.bridge.id else None

    @rx.event
    def hide(self) -> None:
        """Close the drawer."""
        self.bridge, self.request = BridgeView(), RequestView()

    async def _followed(self) -> None:
        bridges = await self.get_state(BridgesState)
        await bridges._page()
        await bridges._count()
        self.bridge = next((row for row in bridges.rows if row.id == self.bridge.id), self.bridge)
