"""A new distribution: its asset, recipients and total."""

from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import urlencode

import reflex as rx

from backend.assets.schemas import Asset
from backend.client import ApiProblem, body
from backend.distributions.schemas import BlockedRecipients, DistributionCreate, PaidIn
from backend.drafts.schemas import DraftKind
from state.assets.choice import active_deployments, asset_option, chain_options
from state.chains.lookup import Chains
from state.compliance.rule_values import count
from state.core.api import Form
from state.core.arguments import id_of, named, number, one_of, texts
from state.core.events import Events, Next
from state.core.units import to_base
from state.distributions.check import ShowsCheck, plan_of
from state.drafts.drafts import Drafts

SOURCES = ("list", "holders")
UNITS = ("whole", "base")


class NewDistribution(ShowsCheck, Form, Drafts, Chains, rx.State):
    """The page that creates a distribution. The browser sends a list directly to the API; this state gets its total."""

    ready: bool = False
    assets: list[dict[str, str]] = []
    chains: list[dict[str, str]] = []
    name: str = ""
    asset: str = ""
    chain: str = ""
    currency: str = PaidIn.ASSET.value
    currencies: list[dict[str, str]] = []
    unit: str = "whole"
    symbol: str = ""
    """Of what is paid out, like `decimals`."""
    decimals: int = 18
    source: str = "list"
    total: str = ""
    block: str = ""
    _draft_kind: ClassVar[DraftKind] = DraftKind.DISTRIBUTION
    _records: dict[str, Asset] = {}
    _checked: str = ""
    """The checked body, as JSON: a model in a state is wrapped in a proxy, which cannot be serialized."""

    @rx.var
    def action(self) -> str:
        """Return where the browser sends a list; empty while an input is missing."""
        if not (self.name.strip() and self.asset and self.chain):
            return ""
        given = {"name": self.name.strip(), "chain_eid": self.chain, "currency": self.currency, "amounts": self.unit}
        query = urlencode(given)
        return f"/v1/orgs/{self._org_id()}/assets/{self.asset}/distributions?{query}"

    @rx.event
    async def load(self) -> Events:
        """Reset the page, with the assets that can be distributed."""
        reset: Callable[[], None] = self.reset  # Reflex's method is not annotated
        reset()
        yield
        try:
            page = await self._api.list_assets(self._org_id(), limit=100)
            await self._read_chains()
        except ApiProblem as problem:
            self.form_problem, self.ready = problem.detail or problem.title, True
            return
        usable = [asset for asset in page.assets if active_deployments(asset)]
        self._records = {str(asset.id): asset for asset in usable}
        self.assets = [asset_option(asset) for asset in usable]
        self._pick(id_of(self._query("asset")))
        await self._find_draft()
        self.ready = True

    def _content(self) -> dict[str, Any]:
        given = {"name": self.name, "asset": self.asset, "chain": self.chain, "currency": self.currency}
        return given | {"unit": self.unit, "source": self.source, "total": self.total, "block": self.block}

    async def _restore(self, content: dict[str, Any]) -> Next:
        given = texts(content, 120)
        if given.get("asset") not in self._records:
            raise ValueError("The asset of this draft is on no chain.")
        self._pick(given["asset"])
        self.chain = one_of(given.get("chain"), [place["value"] for place in self.chains], self.chain)
        self._pay(given.get("currency", ""))
        self.name, self.unit = given.get("name", ""), one_of(given.get("unit"), UNITS, "whole")
        self.source = one_of(given.get("source"), SOURCES, "list")
        self.total, self.block = given.get("total", ""), given.get("block", "")

    @rx.event
    async def write(self, name: str, text: str) -> None:
        """Take over an input; it invalidates the last check."""
        given = str(text)[:120]
        now = {"name": self.name, "asset_id": self.asset, "chain_eid": self.chain}
        now |= {"currency": self.currency, "amounts": self.unit}
        # A field sends its value when it changes and again when it loses focus.
        if now.get(name) in (None, given):
            return
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        self._forget()
        if name == "name":
            self.name = given
        elif name == "asset_id":
            self._pick(id_of(given))
        elif name == "chain_eid":
            self.chain = one_of(given, [place["value"] for place in self.chains])
            self._pay(self.currency)
        elif name == "currency":
            self._pay(given)
        else:
            self.unit = one_of(given, UNITS, "whole")
        await self._keep_draft()

    @rx.event
    async def choose(self, source: str) -> None:
        """Select a list, or the holders, as the source."""
        self.source = one_of(source, SOURCES, "list")
        self._forget()
        await self._keep_draft()

    @rx.event
    def checked(self, plan: str) -> None:
        """Show the API's check of the browser's list."""
        if (read := plan_of(plan)) is not None:
            self._take(read, self._place_name())

    @rx.event
    async def made(self, id: str) -> Next:
        """Go to the draft that the browser created."""
        if known := id_of(id):
            await self._drop_draft()
            return rx.redirect(f"/o/{self._org_id()}/distributions/{known}?asset={self.asset}")
        return None

    @rx.event
    async def check(self, data: dict[str, Any]) -> Events:
        """Read who held the asset at a block, and each holder's amount."""
        self._begin()
        self._forget()
        yield
        given = named(data, "total_amount", "block")
        self.total, self.block = given["total_amount"][:100], given["block"][:100]
        await self._keep_draft()
        fields = self._fields(given)
        if fields is None:
            self.saving = False
            return
        try:
            draft = body(DistributionCreate, fields)
            plan = await self._api.create_distribution(self._org_id(), self.asset, draft, dry_run=True)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("total_amount", "block")
            return
        self._done()
        self._checked = draft.model_dump_json(exclude_unset=True)
        self._take(plan, self._place_name())

    @rx.event
    async def create(self) -> Events:
        """Save the checked holders as a draft, and go to it."""
        if not self._checked or not self.asset:
            return
        self._begin()
        yield
        checked = DistributionCreate.model_validate_json(self._checked)
        draft = checked.model_copy(update={"blocked": BlockedRecipients(self.treatment)})
        try:
            record = await self._api.create_distribution(
                self._org_id(), self.asset, draft, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._done()
        await self._drop_draft()
        yield rx.redirect(f"/o/{self._org_id()}/distributions/{record.id}?asset={self.asset}")

    def _fields(self, given: dict[str, str]) -> dict[str, Any] | None:
        """Return the request body's fields for the holders; None, with the errors set, while an input is missing."""
        self.errors = {} if self.name.strip() else {"name": "Enter a name"}
        if not self.asset or not self.chain:
            self.errors["asset_id"] = "Choose an asset"
        try:
            total = to_base(given["total_amount"], self.decimals)
        except ValueError as error:
            self.errors["total_amount"] = str(error)
            return None
        block: int | None = None
        try:
            block = count(given["block"]) if given["block"].strip() else None
        except ValueError:
            self.errors["block"] = "Enter a block number, or nothing for the latest block"
        if self.errors:
            return None
        holders: dict[str, Any] = {"total_amount": total} | ({} if block is None else {"block": block})
        known = {"name": self.name.strip(), "chain_eid": int(self.chain), "currency": self.currency}
        return known | {"holders": holders}

    def _pick(self, asset_id: str) -> None:
        """Select an asset, or the first one if it is unknown, with its chains."""
        asset = self._records.get(asset_id) or next(iter(self._records.values()), None)
        if asset is None:
            return
        self.asset, self.chains = str(asset.id), chain_options(asset)
        self.chain = self.chains[0]["value"]
        self._pay(PaidIn.ASSET)

    def _pay(self, currency: str) -> None:
        """Select what is paid out: the asset, or the quote currency if the chain has one."""
        asset, chain = self._records.get(self.asset), self._chains.get(number(self.chain))
        if asset is None:
            return
        self.currencies = [{"value": PaidIn.ASSET.value, "label": f"{asset.symbol}, the asset"}]
        if chain is not None and chain.quote_symbol:
            self.currencies.append({"value": PaidIn.QUOTE.value, "label": f"{chain.quote_symbol}, the quote currency"})
        self.currency = one_of(currency, [one["value"] for one in self.currencies], PaidIn.ASSET)
        self.symbol, self.decimals = asset.symbol, asset.decimals
        if self.currency == PaidIn.QUOTE and chain is not None:
            self.symbol, self.decimals = chain.quote_symbol, chain.quote_decimals

    def _place_name(self) -> str:
        return next((place["label"] for place in self.chains if place["value"] == self.chain), "the chain")

    def _forget(self) -> None:
        self._checked = ""
        self._forget_check()
