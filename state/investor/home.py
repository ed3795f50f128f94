"""The investor's home: holdings, eligibility, claims and orders."""

import asyncio
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby

import reflex as rx

from backend.client import ApiProblem
from backend.investors.schemas import (
    Investor,
    InvestorEligibility,
    InvestorHolding,
    InvestorOrder,
)
from backend.markets.schemas import OrderStatus
from backend.parties.schemas import PartyStatus
from state.core.api import Loads
from state.core.dates import stamp
from state.investor import words
from state.investor.claims import WaitingClaims
from state.investor.trades import LastTrades

OPEN = (OrderStatus.PENDING, OrderStatus.OPEN, OrderStatus.PARTIAL)


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
    value: str
    quote_symbol: str
    quote_decimals: int
    priced_at: str
    places: str
    since: str


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
    holdings: list[HoldingView] = []
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
        self.holdings = [_holding(one, zone) for one in holdings.holdings]
        self.eligibility = _eligibility(eligibility.eligibility, person.organization_name, zone)
        (await self.get_state(WaitingClaims))._show(claims.claims)
        (await self.get_state(LastTrades))._show(trades)
        self.orders = [_order(one, linked) for one in orders.orders if one.status in OPEN]
        self._loaded()

    def _show(self, person: Investor) -> None:
        self.organization = person.organization_name
        states = [one.status for one in person.parties]
        self.review = "" if not states or PartyStatus.VERIFIED in states else str(states[0])
        self.is_recorded, self.has_address = bool(person.parties), bool(person.addresses)
        self.has_linked = any(one.is_linked for one in person.addresses)


def _holding(one: InvestorHolding, zone: tzinfo) -> HoldingView:
    chains = dict.fromkeys(account.chain_name for account in one.accounts)
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
        has_frozen=int(one.frozen or 0) > 0,
        value=one.value or "",
        quote_symbol=one.quote_symbol or "",
        quote_decimals=one.quote_decimals or 0,
        priced_at=stamp(one.priced_at),
        places=", ".join(chains),
        since=words.day(one.since, zone) if one.since else "",
    )


def _eligibility(places: list[InvestorEligibility], organization: str, zone: tzinfo) -> list[EligibilityView]:
    """Return one verdict per asset; the API lists the places of an asset together."""
    shown = []
    for _, group in groupby(places, key=lambda place: place.asset_id):
        some = list(group)
        found = words.verdict(some, organization, zone, places)
        facts = (found.tone, found.sentence, found.next_step, found.where)
        shown.append(EligibilityView(str(some[0].asset_id), some[0].name, some[0].symbol, *facts))
    return shown


def _order(one: InvestorOrder, linked: set[str]) -> OrderView:
    blocked, placed = one.blocked_reason or "", stamp(one.created_at)
    can_cancel = one.maker_address in linked and one.status is not OrderStatus.PENDING
    return OrderView(str(one.id), words.order(one), placed, blocked, can_cancel)
