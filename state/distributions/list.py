"""The list of distributions."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import reflex as rx

from backend.distributions.schemas import DRAFT_DAYS, Distribution, DistributionStatus
from state.assets.choice import ByAsset
from state.core.arguments import chosen
from state.core.dates import stamp
from state.core.paging import CountedByStatus, Pages
from state.requests.views import shown_status


@dataclass
class DistributionView:
    """A distribution; amounts in base units, `claimed_percent` of the total."""

    id: str = ""
    name: str = ""
    asset_id: str = ""
    asset_symbol: str = ""
    symbol: str = ""
    """Of what is paid out, like `decimals`."""
    decimals: int = 18
    is_quote: bool = False
    chain: str = ""
    chain_eid: int = 0
    status: str = ""
    shown: str = ""
    """The status, or that its activation awaits approval."""
    total: str = "0"
    claimed: str = "0"
    claimed_percent: int = 0
    unclaimed: str = "0"
    claimed_recipients: int = 0
    unclaimed_recipients: int = 0
    recipients: int = 0
    root: str = ""
    has_recipients: bool = False
    excluded: int = 0
    held: int = 0
    distributor: str = ""
    failure: str = ""
    request_id: str = ""
    created_at: str = ""
    deleted_at: str = ""
    """When the draft is deleted; empty if it stays."""


class DistributionsState(CountedByStatus, ByAsset, rx.State):
    """The distributions of all the organization's assets, in the API's pages."""

    rows: list[DistributionView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = DistributionStatus

    async def _fetch(self, cursor: str) -> str | None:
        status, asset = chosen(DistributionStatus, self.status), self.asset or None
        page = await self._api.list_organization_distributions(
            self._org_id(), status=status, asset_id=asset, cursor=cursor or None, **self._order()
        )
        self.rows = [distribution_view(record) for record in page.distributions]
        return page.nextCursor

    async def _number(self, status: str) -> int | None:
        wanted = chosen(DistributionStatus, status)
        page = await self._api.list_organization_distributions(
            self._org_id(), asset_id=self.asset or None, status=wanted, limit=1, count="estimated"
        )
        return page.estimatedCount


class AssetDistributions(Pages, rx.State):
    """The distributions of the current asset."""

    rows: list[DistributionView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _table: ClassVar[str] = "distributions_"

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_distributions(
            self._org_id(), self._in_path("asset_id"), cursor=cursor or None, **self._order()
        )
        self.rows = [distribution_view(record) for record in page.distributions]
        return page.nextCursor


def distribution_view(record: Distribution) -> DistributionView:
    """Convert the API's distribution."""
    total, claimed = int(record.total_amount), int(record.claimed_amount)
    return DistributionView(
        id=str(record.id),
        name=record.name,
        asset_id=str(record.asset_id),
        asset_symbol=record.asset_symbol or "",
        symbol=record.currency_symbol or record.asset_symbol or "",
        decimals=decimals_of(record),
        is_quote=record.currency_address is not None,
        chain=record.chain_name or f"Chain {record.chain_eid}",
        chain_eid=record.chain_eid,
        status=record.status,
        shown=shown_status(record),
        total=record.total_amount,
        claimed=record.claimed_amount,
        claimed_percent=_percent(claimed, total),
        unclaimed=str(max(total - claimed, 0)),
        claimed_recipients=record.claimed_recipients,
        unclaimed_recipients=max((record.total_recipients or 0) - record.claimed_recipients, 0),
        recipients=record.total_recipients or 0,
        root=record.merkle_root or "",
        has_recipients=record.has_recipients,
        excluded=record.excluded_recipients,
        held=record.held_recipients,
        distributor=record.distributor_address or "",
        failure=record.failure or "",
        request_id=str(record.request_id or ""),
        created_at=stamp(record.created_at),
        deleted_at=_deleted_at(record),
    )


def _percent(part: int, whole: int) -> int:
    """Return a rounded percentage; 100 only for the whole, and 0 only for nothing."""
    if whole == 0 or part in (0, whole):
        return 100 if whole and part else 0
    return min(max((200 * part + whole) // (2 * whole), 1), 99)


def decimals_of(record: Distribution) -> int:
    """Return the decimals of what a distribution pays out."""
    given = record.asset_decimals if record.currency_address is None else record.currency_decimals
    return 18 if given is None else given


def _deleted_at(record: Distribution) -> str:
    if record.status is not DistributionStatus.DRAFT or record.request_id is not None:
        return ""
    return stamp(record.created_at + timedelta(days=DRAFT_DAYS))
