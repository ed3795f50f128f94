"""The investor's home: holdings, eligibility, claims and orders."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from uuid import UUID

import reflex as rx

from backend.client import ApiProblem
from backend.investors.schemas import (
    Investor,
    InvestorCash,
    InvestorEligibility,
    InvestorHolding,
    InvestorOrder,
    InvestorTrade,
)
from backend.markets.schemas import OrderStatus
from backend.parties.schemas import PartyStatus
from state.core.api import Loads
from state.core.dates import stamp
from state.investor import words
from state.investor.claims import WaitingClaims
from state.investor.positions import position
from state.investor.trades import LastTrades
from state.investor.wallets import frozen_holding, is_frozen

SHOWN = 2
"""Decimals of the amount of a holding."""
OPEN = (OrderStatus.PENDING, OrderStatus.OPEN, OrderStatus.PARTIAL)


@dataclass
class PartView:
    """What a wallet holds on a chain; `keeper` keeps the wallet, empty for a linked one."""

    id: str
    address: str
    keeper: str
    chain: str
    amount: str


@dataclass
class HoldingView:
    """A holding. Amounts in base units; empty where unknown."""

    asset_id: str
    name: str
    symbol: str
    decimals: int
    total: str
    available: str
    in_orders: str
    frozen: str
    has_orders: bool
    has_frozen: bool
    is_frozen: bool
    """Whether the whole account is frozen."""
    frozen_words: str
    """What is frozen, and what that means; empty if nothing is frozen."""
    value: str
    quote_symbol: str
    quote_decimals: int
    priced_at: str
    since: str
    is_rounded: bool
    """Whether the amount that is shown lacks decimals."""
    traded: str
    """What trades contributed; empty where unknown."""
    paid: str
    """What the trades cost, such as `5,065.55 tUSD`; empty if not one amount."""
    other: str
    """What came without a trade; empty if nothing did."""
    parts: list[PartView] = field(default_factory=list)


@dataclass
class CashView:
    """The amount of a currency in a wallet; `where` says who keeps it. The amount is empty where unknown."""

    id: str
    amount: str
    symbol: str
    decimals: int
    where: str


@dataclass
class EligibilityView:
    """The verdict about one asset."""

    asset_id: str
    name: str
    symbol: str
    tone: str
    sentence: str
    next_step: str
    where: str
    uploads: bool


@dataclass
class OrderView:
    """An open order."""

    id: str
    title: str
    created_at: str
    blocked: str
    can_cancel: bool
    """With a linked wallet of the investor."""


class InvestorHome(Loads, rx.State):
    """Everything on the home page."""

    organization: str = ""
    is_recorded: bool = False
    review: str = ""
    """The state of the review of an investor who is not verified: `created`, `verifying` or `rejected`."""
    has_address: bool = False
    has_linked: bool = False
    needs_factor: bool = False
    contact: str = ""
    contact_email: str = ""
    holdings: list[HoldingView] = []
    cash: list[CashView] = []
    eligibility: list[EligibilityView] = []
    orders: list[OrderView] = []

    @rx.event
    async def load(self) -> None:
        """Read the page. A chain that does not answer takes at most 4 s."""
        membership, api = self._in_path("membership_id"), self._api
        try:
            person, holdings, eligibility, claims, orders, trades = await asyncio.gather(
                api.get_investor(membership),
                api.get_investor_holdings(membership),
                api.get_investor_eligibility(membership),
                api.get_investor_claims(membership),
                api.get_investor_orders(membership),
                api.get_investor_trades(membership),
            )
        except ApiProblem as problem:
            self.needs_factor = problem.rule == "second_factor_required"
            self._failed(problem)
            return
        self.needs_factor = False
        self._show(person)
        linked = {one.address for one in person.addresses if one.is_linked}
        zone = await self._zone()
        kept = {one.address for one in person.addresses if one.is_kept and not one.is_linked}
        name = person.organization_name
        keepers = dict.fromkeys(kept, name)
        self.holdings = [_holding(one, name, zone, keepers, trades.trades) for one in holdings.holdings]
        self.cash = [_cash(one, keepers) for one in holdings.cash]
        frozen = {one.asset_id for one in holdings.holdings if is_frozen(one.accounts)}
        self.eligibility = _eligibility(eligibility.eligibility, _reader(person, zone), frozen)
        (await self.get_state(WaitingClaims))._show(claims.claims)
        (await self.get_state(LastTrades))._show(trades)
        self.orders = [_order(one, linked) for one in orders.orders if one.status in OPEN]
        self._loaded()

    def _show(self, person: Investor) -> None:
        self.organization = person.organization_name
        self.contact = person.contact.name if person.contact else ""
        self.contact_email = person.contact.email if person.contact else ""
        states = [one.status for one in person.parties]
        self.review = "" if not states or PartyStatus.VERIFIED in states else str(states[0])
        self.is_recorded, self.has_address = bool(person.parties), bool(person.addresses)
        self.has_linked = any(one.is_linked for one in person.addresses)


def _reader(person: Investor, zone: tzinfo) -> words.Reader:
    verified = [one for one in person.parties if one.status is PartyStatus.VERIFIED]
    level = max((one.kyc_level for one in verified), default=0)
    accredited = any(one.accredited for one in verified)
    return words.Reader(person.organization_name, level, accredited, zone, datetime.now(UTC))


def _holding(
    one: InvestorHolding, organization: str, zone: tzinfo, keepers: Mapping[str, str], trades: Sequence[InvestorTrade]
) -> HoldingView:
    found = position(one.asset_id, int(one.total), trades)
    return HoldingView(
        asset_id=str(one.asset_id),
        name=one.name,
        symbol=one.symbol,
        decimals=one.decimals,
        total=one.total,
        available=one.available or "",
        in_orders=one.in_orders,
        frozen=one.frozen or "",
        has_orders=int(one.in_orders) > 0,
        has_frozen=int(one.frozen or 0) > 0 or is_frozen(one.accounts),
        is_frozen=is_frozen(one.accounts),
        frozen_words=frozen_holding(one, organization),
        value=one.value or "",
        quote_symbol=one.quote_symbol or "",
        quote_decimals=one.quote_decimals or 0,
        priced_at=stamp(one.priced_at),
        since=words.day(one.since, zone) if one.since else "",
        is_rounded=int(one.total) % 10 ** max(one.decimals - SHOWN, 0) != 0,
        traded=str(found.traded) if found else "",
        paid=found.paid if found else "",
        other=str(found.other) if found and found.other else "",
        parts=[
            PartView(
                id=f"{part.address}:{part.chain_eid}",
                address=part.address,
                keeper=keepers.get(part.address, ""),
                chain=part.chain_name,
                amount=part.total,
            )
            for part in one.accounts
        ],
    )


def _cash(one: InvestorCash, keepers: Mapping[str, str]) -> CashView:
    keeper = keepers.get(one.address)
    where = f"In the wallet that {keeper} keeps for you" if keeper else "In your linked wallet"
    return CashView(
        id=f"{one.chain_eid}:{one.symbol}:{one.address}",
        amount=one.amount or "",
        symbol=one.symbol,
        decimals=one.decimals,
        where=f"{where}, on {one.chain_name}",
    )


def _eligibility(
    places: list[InvestorEligibility], reader: words.Reader, frozen: Collection[UUID]
) -> list[EligibilityView]:
    """Return one verdict per asset; the API lists the places of an asset together. `frozen`: assets of which the whole
    holding is frozen."""
    shown = []
    for _, group in groupby(places, key=lambda place: place.asset_id):
        some = list(group)
        found = words.verdict(some, reader, places)
        if some[0].asset_id in frozen:
            found = words.with_freeze(found)
        facts = (found.tone, found.sentence, found.next_step, found.where, found.uploads)
        shown.append(EligibilityView(str(some[0].asset_id), some[0].name, some[0].symbol, *facts))
    return shown


def _order(one: InvestorOrder, linked: set[str]) -> OrderView:
    blocked, placed = one.blocked_reason or "", stamp(one.created_at)
    can_cancel = one.maker_address in linked and one.status is not OrderStatus.PENDING
    return OrderView(str(one.id), words.order(one), placed, blocked, can_cancel)
