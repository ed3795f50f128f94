"""The form that places an order, and cancellations."""

import asyncio
from contextlib import suppress
from typing import Any

import reflex as rx

from backend.accounts.schemas import Account
from backend.client import ApiProblem, body
from backend.markets.schemas import OrderCreate
from backend.wallets.schemas import Wallet, WalletKind
from state.compliance.verdicts import Terms, Verdict, refusals_of
from state.core.arguments import id_of, texts
from state.core.dialogs import Dialog
from state.core.events import Events, Next, call
from state.core.units import priced
from state.markets.detail import MarketDetail, MarketState
from state.markets.prices import PricesState
from state.orders.book import BookState
from state.orders.choice import facts_of, first_choice, options_of, total_of
from state.orders.list import OrdersState
from state.orders.offers import Offer, offer_of
from state.orders.own_orders import own_orders_words
from state.orders.trades import TradesState
from state.requests.tracker import Follows, Tracker
from state.requests.views import RequestView
from state.transfers.amounts import to_positive

FIELDS = ("wallet_id", "price", "amount")


class OrderForm(Follows, Dialog, rx.State):
    """Placing an order with a server wallet, and cancelling one; each is followed to its transactions.

    Every rule is checked while the order is entered.
    """

    side: str = "buy"
    wallets: list[dict[str, str]] = []
    wallet: str = ""
    facts: dict[str, str] = {}
    """What each wallet holds, and that it may not trade."""
    price: str = ""
    """What the field of the price begins with."""
    fills: int = 0
    """How often the field of the price was filled in."""
    best: str = ""
    best_is_own: bool = False
    """Whether the best price is one of the organization's own orders."""
    total: str = ""
    with_fees: str = ""
    cancelling: str = ""
    refusals: list[Verdict] = []
    checking: bool = False
    allowed: bool = False
    own_orders: list[str] = []
    """What the order would do with the organization's own open orders; it can be placed anyway."""
    check_problem: str = ""
    offer: Offer = Offer()
    _given: dict[str, str] = {}
    _accounts: list[Account] = []
    _labels: dict[str, str] = {}
    _treasury: str = ""
    _is_chosen: bool = False

    @rx.event
    def load(self) -> None:
        """Reset the page when it opens: no dialog, no followed request."""
        self._done()
        self._forget()
        self.is_open, self.cancelling, self.request = False, "", RequestView()

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog to buy, with the likely wallet and the best price, or close it."""
        self._done()
        self._forget()
        self.is_open, self.side, self.total, self.with_fees = bool(is_open), "buy", "", ""
        self.wallet, self._given, self._is_chosen = "", {}, False
        if not is_open:
            return
        market = (await self.get_state(MarketState)).market
        try:
            await self._read_wallets(market)
        except ApiProblem as problem:
            self._refused(problem)
            return
        await self._offer_wallet()
        await self._offer_price(market)

    async def _read_wallets(self, market: MarketDetail) -> None:
        """Offer the server wallets. Without what they hold and whether they may trade, they can still be chosen."""
        page, accounts = await asyncio.gather(
            self._api.list_wallets(self._org_id(), limit=100), self._read_accounts(market)
        )
        ours: list[Wallet] = [wallet for wallet in page.wallets if wallet.kind is WalletKind.SERVER]
        self._accounts, self._labels = accounts, {str(wallet.id): wallet.label for wallet in ours}
        self._treasury = next((str(wallet.id) for wallet in ours if wallet.is_default), "")
        self.wallets = options_of(ours, accounts)
        facts = {str(account.wallet_id): facts_of(account, market) for account in accounts}
        self.facts = {wallet: f"Holds {words}" for wallet, words in facts.items() if words}

    async def _read_accounts(self, market: MarketDetail) -> list[Account]:
        try:
            found = await self._api.search_accounts(
                self._org_id(), asset_id=market.asset_id, market_id=market.id, signing=True, limit=100
            )
        except ApiProblem as problem:
            await self._lacks("The balances of your wallets", problem)
            return []
        return found.accounts

    async def _offer_wallet(self) -> None:
        """Offer the likely wallet, unless another one was chosen. None is likely where the best price is the
        organization's own: it would trade with itself."""
        if not self._is_chosen:
            is_own = self._is_own(await self.get_state(BookState))
            self.wallet = "" if is_own else first_choice(self.side, self._accounts, self._treasury)
            self._given = {**self._given, "wallet_id": self.wallet}

    async def _offer_price(self, market: MarketDetail, *, own: bool = False) -> None:
        """Offer the best price of the other side, unless another one was entered; the organization's `own` one only
        where it is asked for."""
        book = await self.get_state(BookState)
        units = book.best_ask if self.side == "buy" else book.best_bid
        name = "Best ask" if self.side == "buy" else "Best bid"
        self.best = f"{name} {priced(units, market.quote_decimals)}" if units else ""
        self.best_is_own = self._is_own(book)
        if self._given.get("price", "") == self.price:
            self._fill(
                priced(units, market.quote_decimals).replace(",", "") if units and (own or not self.best_is_own) else ""
            )

    def _is_own(self, book: BookState) -> bool:
        """Return whether the best price of the other side is one of the organization's own orders."""
        ours = {one.address.lower() for one in self._accounts if one.wallet_id and one.party_id is None}
        return bool(ours.intersection(book.makers_of_best(self.side)))

    def _fill(self, price: str) -> None:
        self.price, self._given, self.fills = price, {**self._given, "price": price}, self.fills + 1

    @rx.event
    async def take_best(self) -> Next:
        """Enter the best price."""
        self._given, self.offer = {**self._given, "price": self.price}, Offer()
        market = (await self.get_state(MarketState)).market
        await self._offer_price(market, own=True)
        self._add_up(market)
        return OrderForm.check

    @rx.event
    async def pick_side(self, side: str) -> Next:
        """Select buy or sell."""
        chosen = "sell" if side == "sell" else "buy"
        if chosen == self.side:
            return None  # a price that is being entered stays
        self.side, self.offer = chosen, Offer()
        market = (await self.get_state(MarketState)).market
        await self._offer_wallet()
        await self._offer_price(market)
        self._add_up(market)
        return OrderForm.check

    @rx.event
    async def write(self, name: str, text: str) -> Next:
        """Take over an input; the rules are checked after the last one."""
        return await self._write(name, text)

    @rx.event
    async def leave(self, name: str, text: str) -> Next:
        """Take over an input that the user has left, and show what is wrong with it."""
        following = await self._write(name, text)
        if name in FIELDS and self._given.get(name, "").strip():
            _, errors = self._fields((await self.get_state(MarketState)).market)
            self.errors = {**self.errors, **{field: words for field, words in errors.items() if field == name}}
        return following

    async def _write(self, name: str, text: str) -> Next:
        if name not in FIELDS or self._given.get(name) == str(text)[:200]:
            return None
        self._given, self.offer = {**self._given, name: str(text)[:200]}, Offer()
        if name == "wallet_id":
            self.wallet, self._is_chosen = id_of(text), True
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        self._add_up((await self.get_state(MarketState)).market)
        return OrderForm.check

    def _add_up(self, market: MarketDetail) -> None:
        """Calculate the total while price and amount are entered."""
        fields, errors = self._fields(market)
        wrong = {"price", "amount"} & errors.keys()
        self.total, self.with_fees = (
            ("", "") if wrong else total_of(self.side, fields["price"], fields["amount"], market)
        )

    @rx.event(supersedes=True)
    async def check(self) -> Events:
        """Check every rule and the wallet's funds, once every input is there; nothing is sent."""
        market = (await self.get_state(MarketState)).market
        fields, errors = self._fields(market)
        if errors or not self.is_open:
            self._forget()
            return
        self.checking = True
        yield
        try:
            plan = await self._api.place_order(
                self._org_id(), market.asset_id, market.id, body(OrderCreate, fields), dry_run=True
            )
        except ApiProblem as problem:
            self._take(problem, market)
        else:
            self._forget()
            self.allowed = True
            self.own_orders = own_orders_words(self.side, plan.impact.own_orders, market)
        self.checking = False

    def _take(self, problem: ApiProblem, market: MarketDetail) -> None:
        """Show why an order is refused, and the next step."""
        self._forget()
        self.offer = offer_of(problem, self._account(), market, self._trader())
        self.refusals = refusals_of(problem, self._terms(market))
        if not self.refusals:
            self.check_problem = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title

    def _forget(self) -> None:
        self.refusals, self.check_problem, self.allowed, self.checking = [], "", False, False
        self.offer, self.own_orders = Offer(), []

    def _terms(self, market: MarketDetail) -> Terms:
        return Terms(self._org_id(), market.asset_id, market.symbol, market.decimals, self._trader())

    def _trader(self) -> str:
        return self._labels.get(self._given.get("wallet_id", ""), "The trader")

    def _account(self) -> Account | None:
        """Return the account of the chosen wallet."""
        chosen = self._given.get("wallet_id", "")
        return next((one for one in self._accounts if str(one.wallet_id) == chosen), None)

    def _entered(self) -> str:
        """Return what is entered, to compare it later."""
        return repr([self._in_path("market_id"), self.side, *(self._given.get(name, "") for name in FIELDS)])

    @rx.event
    async def send_again(self, entered: str) -> Next:
        """Send the order after its next step was performed, if the same one is still entered; else check it."""
        if not self.is_open or self.saving:
            return None
        with suppress(ApiProblem):
            await self._read_wallets((await self.get_state(MarketState)).market)
        return call(OrderForm.submit, {}) if entered == self._entered() else OrderForm.check

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Place the order."""
        market = (await self.get_state(MarketState)).market
        self._begin()
        self._forget()
        yield
        self._given = {**self._given, **{name: text[:200] for name, text in texts(data).items() if name in FIELDS}}
        fields, self.errors = self._fields(market)
        if self.errors:
            self.saving = False
            return
        try:
            order = body(OrderCreate, fields)
            answer = await self._api.place_order(
                self._org_id(), market.asset_id, market.id, order, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            if problem.rules:
                self._take(problem, market)
                self.form_problem = ""
            else:
                self.offer = offer_of(problem, self._account(), market, self._trader())
            return
        self._close()
        (await self.get_state(MarketState)).tab = "trade"  # where its progress and the book are
        yield [self._follow(answer.request_id), Tracker.watch]

    def _fields(self, market: MarketDetail) -> tuple[dict[str, str], dict[str, str]]:
        """Return the order's fields, and the errors of missing and invalid inputs."""
        fields, errors = {"side": self.side, "wallet_id": id_of(self._given.get("wallet_id"))}, {}
        for name, decimals in (("price", market.quote_decimals), ("amount", market.decimals)):
            try:
                fields[name] = to_positive(self._given.get(name, ""), decimals)
            except ValueError as error:
                errors[name] = str(error)
        if not fields["wallet_id"]:
            errors["wallet_id"] = "Choose a wallet"
        return fields, errors

    @rx.event
    async def cancel(self, order_id: str) -> Events:
        """Cancel an order."""
        market = (await self.get_state(MarketState)).market
        self.cancelling = id_of(order_id)
        yield
        try:
            answer = await self._api.cancel_order(self._org_id(), market.asset_id, market.id, self.cancelling)
        except ApiProblem as problem:
            self.cancelling = ""
            await self._notify("The order was not cancelled", problem.detail or problem.title, "bad")
            return
        yield [self._follow(answer.request_id), Tracker.watch]

    @rx.event
    def dismiss(self) -> None:
        """Hide a request that has ended."""
        self.request = RequestView()

    async def _followed(self) -> None:
        self.cancelling = ""
        orders, book = await self.get_state(OrdersState), await self.get_state(BookState)
        market, trades = await self.get_state(MarketState), await self.get_state(TradesState)
        await orders._page()
        await book._read()
        await market._read()
        await trades._page()
        await (await self.get_state(PricesState))._read()
