"""An asset's activity."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.activity.schemas import Activity, ActivityKind
from state.chains.lookup import Chains
from state.core.address import Param, choice
from state.core.arguments import chosen, one_of
from state.core.dates import stamp
from state.core.paging import Pages


@dataclass
class ActivityView:
    """An entry. An event of a chain has no status of its own: its transaction is confirmed.

    `href` is the page of its record, empty where it has none. `approver` is the second person who approved it, and
    `parties` who gives and receives the tokens, as far as the title does not say it.
    """

    id: str
    title: str
    status: str
    chain: str
    actor: str
    approver: str
    parties: str
    href: str
    tx_hash: str
    tx_url: str
    created_at: str


class ActivityState(Pages, Chains, rx.State):
    """What happened to the current asset."""

    rows: list[ActivityView] = []
    kind: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"kind": choice("kind", ActivityKind)}

    @rx.event(supersedes=True)
    async def filter_kind(self, kind: str) -> None:
        """Show one kind of entries, or all."""
        self.kind = one_of(kind, ActivityKind)
        await self._restart()

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_asset_activity(
            self._org_id(), self._in_path("asset_id"), kind=chosen(ActivityKind, self.kind), cursor=cursor or None
        )
        self.rows = [self._view(entry) for entry in page.activity]
        return page.nextCursor

    def _view(self, entry: Activity) -> ActivityView:
        eid = entry.chain_eid
        return ActivityView(
            id=str(entry.id),
            title=entry.title,
            status="confirmed" if entry.tx_hash and entry.status in (None, "succeeded") else entry.status or "",
            chain="" if eid is None else entry.chain_name or self._chain_name(eid),
            actor=entry.actor_name or "",
            approver=entry.approver_name or "",
            parties=_parties(entry),
            href=self._href(entry),
            tx_hash=entry.tx_hash or "",
            tx_url="" if eid is None else self._transaction_url(eid, entry.tx_hash),
            created_at=stamp(entry.created_at),
        )

    def _href(self, entry: Activity) -> str:
        here, asset = f"/o/{self._org_id()}", self._in_path("asset_id")
        if entry.kind is ActivityKind.DISTRIBUTION and entry.request_id is None:
            return f"{here}/distributions/{entry.id}?asset={asset}"
        if entry.request_id is not None:
            return f"{here}/requests?id={entry.request_id}"
        if entry.market_id is not None:
            return f"{here}/markets/{entry.market_id}?asset={asset}"
        tab = {ActivityKind.RULES: "compliance", ActivityKind.CONTROL: "controls"}.get(entry.kind)
        return f"{here}/assets/{asset}?tab={tab}" if tab else ""


def _parties(entry: Activity) -> str:
    """Return whose tokens an entry is about. An order moves nothing: it is for someone."""
    if entry.kind is ActivityKind.ORDER:
        who = entry.from_name or entry.to_name
        return f"For {who}" if who else ""
    return parties(entry.from_name, None if entry.title.endswith(f" to {entry.to_name}") else entry.to_name)


def parties(giver: str | None, receiver: str | None) -> str:
    """Return who gives and who receives the tokens of an entry: `From Kestrel to Alder`."""
    words = " ".join(part for part in (giver and f"from {giver}", receiver and f"to {receiver}") if part)
    return words[:1].upper() + words[1:]
