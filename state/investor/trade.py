"""The investor's trading: a market in small, and an order that their own wallet signs."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import reflex as rx

from backend.client import ApiProblem, body
from backend.investor_trading.schemas import (
    InvestorBook,
    InvestorMarket,
    InvestorOrderCheck,
    InvestorOrderCreate,
    InvestorWallet,
)
from backend.investors.schemas import RefusedRule
from state.core.api import Form, Loads
from state.core.arguments import id_of, one_of, texts
from state.core.arguments import words as printable
from state.core.dates import zone_of
from state.core.events import Events, Next
from state.core.units import grouped, shortened, to_base, to_whole
from state.investor import amounts, words
from state.investor.market import LevelView, TradedMarket, level_view, market_view
from state.investor.signing import Signing
from state.investor.wallets import frozen, usable
from state.transfers.amounts import to_positive

PARTS = {"25": 25, "50": 50, "100": 100}
SHOWN = 5
"""Prices of each side."""


class InvestorTrade(Loads, Form, rx.State):
    """The page of a market: price, depth, an order with its verdict as it is entered."""

    organization: str = ""
    contact: str = ""
    contact_email: str = ""
    kept: str = ""
    """What the wallets hold that the organization keeps for the investor, such as `470 NREF and 80.25 tUSD`; empty
    where unknown."""
    kept_frozen: str = ""
    """What of it the organization has frozen; empty if nothing is frozen."""
    is_kept: bool = False
    """Whether the organization keeps a wallet of the investor."""
    market: TradedMarket = TradedMarket()
    markets: list[dict[str, str]] = []
    bids: list[LevelView] = []
    asks: list[LevelView] = []
    wallets: list[dict[str, str]] = []
    wallet: str = ""
    side: str = "buy"
    price: str = ""
    amount: str = ""
    fills: int = 0
    """How often a field was filled in; the browser draws the fields again each time."""
    holds: str = ""
    frozen: str = ""
    """What of the wallet's tokens the organization has frozen; empty if nothing is frozen."""
    total: str = ""
    checking: bool = False
    allowed: bool = False
    refusals: list[str] = []
    check_problem: str = ""
    _given: dict[str, str] = {}
    _offered: str = ""
    _held: dict[str, InvestorWallet] = {}
    _zone_name: str = "UTC"

    @rx.event
    async def load(self) -> None:
        """Read the markets, and open the one in the URL or the usual one."""
        self._done()
        self._forget()
        self.side, self.price, self.amount, self._given, self._offered, self.total = "buy", "", "", {}, "", ""
        membership, self._zone_name = self._in_path("membership_id"), str(await self._zone())
        try:
            person = await self._api.get_investor(membership)
            found = (await self._api.get_investor_markets(membership)).markets
            holdings = (await self._api.get_investor_holdings(membership)).holdings
            wanted = id_of(self._query("market")) or usual(found, {one.asset_id for one in holdings})
            self.organization = person.organization_name
            self.contact = person.contact.name if person.contact else ""
            self.contact_email = person.contact.email if person.contact else ""
            self.is_kept = any(one.is_kept for one in person.addresses)
            self.markets = [{"value": str(one.id), "label": _pair(one)} for one in found]
            self.market = TradedMarket()
            await self._read(wanted)
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._offer_price()
        self._loaded()

    @rx.event
    async def refresh(self) -> None:
        """Read prices, depth and balances again."""
        try:
            await self._read(self.market.id)
        except ApiProblem as problem:
            await self._lacks("The market", problem)

    async def _read(self, market_id: str) -> None:
        if market_id:
            self._show(await self._api.get_investor_market(self._in_path("membership_id"), market_id))

    def _show(self, book: InvestorBook) -> None:
        self.market = market_view(book.market)
        most = max((int(level.amount) for level in [*book.bids[:SHOWN], *book.asks[:SHOWN]]), default=0)
        self.bids = [level_view(level, most, book.market) for level in book.bids[:SHOWN]]
        self.asks = [level_view(level, most, book.market) for level in book.asks[:SHOWN]]
        self.kept, self.kept_frozen = usable(book.kept, book.market), self._frozen(book.kept)
        self._held = {one.address: one for one in book.wallets}
        self.wallets = [{"value": address, "label": shortened(address)} for address in self._held]
        if self.wallet not in self._held:
            self.wallet = next(iter(self._held), "")
        self._say_holding()

    def _say_holding(self) -> None:
        """Say what the wallet can use for this side, and what is frozen."""
        units = self._usable()
        decimals, symbol = self._currency()
        digits = 2 if self.side == "buy" else 6  # money as on every other page
        self.holds = "" if units is None else f"{amounts.tokens(units, decimals, digits)} {symbol}"
        self.frozen = self._frozen([held for held in [self._held.get(self.wallet)] if held])

    def _frozen(self, wallets: Sequence[InvestorWallet]) -> str:
        return frozen(wallets, self.market.symbol, self.market.decimals, self.organization)

    def _usable(self) -> int | None:
        """Return the base units that the wallet can use for this side; None where unknown."""
        held = self._held.get(self.wallet)
        text = None if held is None else held.quote if self.side == "buy" else held.tokens
        return None if text is None else int(text)

    def _currency(self) -> tuple[int, str]:
        market = self.market
        return (market.quote_decimals, market.quote) if self.side == "buy" else (market.decimals, market.symbol)

    def _offer_price(self) -> None:
        """Offer the best price of the other side, or that of the last trade."""
        market = self.market
        units = (market.best_ask if self.side == "buy" else market.best_bid) or market.last_price
        if self._given.get("price", "") == self._offered:
            self._offered = to_whole(units, market.quote_decimals) if units else ""
            self._fill("price", self._offered)

    def _fill(self, name: str, text: str) -> None:
        self._given = {**self._given, name: text}
        self.price, self.amount = self._given.get("price", ""), self._given.get("amount", "")
        self.fills += 1

    @rx.event
    async def pick_market(self, market_id: str) -> Next:
        """Open another market."""
        self._forget()
        self._given, self._offered, self.price, self.amount, self.total = {}, "", "", "", ""
        try:
            await self._read(id_of(market_id))
        except ApiProblem as problem:
            await self._lacks("The market", problem)
            return None
        self._offer_price()
        self.fills += 1
        return None

    @rx.event
    def pick_side(self, side: str) -> Next:
        """Select buy or sell. The side that is selected already changes nothing: the price may just be entered."""
        picked = one_of(side, ("buy", "sell"), "buy")
        if picked == self.side:
            return None
        self.side = picked
        self._offer_price()
        self._say_holding()
        return InvestorTrade.check

    @rx.event
    def pick_wallet(self, address: str) -> Next:
        """Select the wallet that signs."""
        self.wallet = one_of(address, self._held, self.wallet)
        self._say_holding()
        return InvestorTrade.check

    @rx.event
    def take(self, percent: str) -> Next:
        """Enter a part of what the wallet can use."""
        units, market = self._usable(), self.market
        try:
            price = int(to_base(self._given.get("price", ""), market.quote_decimals))
        except ValueError:
            price = 0
        if units is not None and self.side == "buy":
            units = amounts.affordable(units, price, market.decimals, market.fee_bps)
        if not units or percent not in PARTS:
            return None
        self._fill("amount", amounts.part(units, PARTS[percent], market.decimals))
        return InvestorTrade.check

    @rx.event
    def write(self, name: str, text: str) -> Next:
        """Take over an input; the rules are checked after the last one."""
        return self._write(name, text)

    @rx.event
    def leave(self, name: str, text: str) -> Next:
        """Take over an input that the user has left, and show what is wrong with it."""
        following, (_, errors) = self._write(name, text), self._fields()
        if name in errors and self._given.get(name, "").strip():
            self.errors = {**self.errors, name: errors[name]}
        return following

    def _write(self, name: str, text: str) -> Next:
        given = printable(text)
        if name not in ("price", "amount") or self._given.get(name) == given:
            return None
        self._given = {**self._given, name: given}
        self.errors = {field: said for field, said in self.errors.items() if field != name}
        return InvestorTrade.check

    @rx.event(supersedes=True)
    async def check(self) -> Events:
        """Check every rule and the wallet's funds, once every input is there; nothing is sent."""
        fields, errors = self._fields()
        self._forget()
        self.total, self.form_problem = "", ""
        if errors or not self.market.id:
            return
        self.checking = True
        yield
        try:
            checked = await self._api.check_investor_order(
                self._in_path("membership_id"), self.market.id, body(InvestorOrderCreate, fields)
            )
        except ApiProblem as problem:
            self._take(problem)
        else:
            self._answer(checked)
        self.checking = False

    def _answer(self, checked: InvestorOrderCheck) -> None:
        market = self.market
        self.allowed, self.check_problem = checked.allowed, checked.problem or ""
        self.refusals = self._reasons(checked.refusals)
        total, fee = int(checked.total), int(checked.fee)
        after = total + fee if self.side == "buy" else total - fee
        paid = "pay" if self.side == "buy" else "receive"
        self.total = f"You {paid} about {grouped(after, market.quote_decimals)} {market.quote}, fees included"

    def _reasons(self, refused: list[RefusedRule]) -> list[str]:
        return words.refusals(refused, self.organization, zone_of(self._zone_name))

    def _take(self, problem: ApiProblem) -> None:
        self.check_problem = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title

    def _forget(self) -> None:
        self.allowed, self.refusals, self.check_problem, self.checking = False, [], "", False

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Prepare the order, and show what the wallet will sign. What was entered stays."""
        self._begin()
        yield
        self._given = {**self._given, **{k: printable(v) for k, v in texts(data).items() if k in ("price", "amount")}}
        fields, self.errors = self._fields()
        if self.errors or not self.market.id:
            self.saving = False
            return
        try:
            order = body(InvestorOrderCreate, fields)
            prepared = await self._api.prepare_investor_order(self._in_path("membership_id"), self.market.id, order)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("price", "amount")
            if problem.rules:
                self.form_problem = " ".join(self._reasons([RefusedRule.model_validate(one) for one in problem.rules]))
            return
        self._done()
        (await self.get_state(Signing))._open(prepared, "Your order is sent")

    def _fields(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the order's fields, and the errors of missing and invalid inputs."""
        fields, errors = {"address": self.wallet, "side": self.side}, {}
        for name, decimals in (("price", self.market.quote_decimals), ("amount", self.market.decimals)):
            try:
                fields[name] = to_positive(self._given.get(name, ""), decimals)
            except ValueError as error:
                errors[name] = str(error)
        return fields, errors


def usual(markets: Sequence[InvestorMarket], held: Collection[UUID]) -> str:
    """Return the ID of the market that an investor most likely wants: of an asset they hold, with the newest trade."""
    never = datetime.min.replace(tzinfo=UTC)
    chosen = max(markets, key=lambda one: (one.asset_id in held, one.last_trade_at or never), default=None)
    return str(chosen.id) if chosen else ""


def _pair(one: InvestorMarket) -> str:
    return f"{one.symbol}/{one.quote_symbol} on {one.chain_name}"
