"""The history of an asset's rules: who changed what, when, and in which transaction."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import reflex as rx

from backend.assets.schemas import RuleSet, RulesOnChain
from backend.client import ApiProblem
from state.assets.detail import AssetState
from state.chains.lookup import Chains
from state.compliance.rules import Checked, words
from state.core.api import PASSING
from state.core.dates import stamp
from state.core.edits import differences
from state.core.events import Next
from state.core.holder_picker import name_of
from state.core.paging import Pages
from state.core.units import shortened
from state.requests.tracker import FINAL
from state.requests.views import RequestView, request_view

WRITE_RULES = ("asset.update", "asset.share_caps")
"""Kinds of requests after which the page waits for the rules that they wrote."""


@dataclass
class RuleSetView:
    """A version of one token's rules; `who`, `request` and `request_id` are empty if no request of the organization
    wrote it, `at` if the chain does not respond, `changes` for the first version."""

    id: str
    chain: str
    version: int
    at: str
    block: int
    tx_hash: str
    tx_url: str
    who: str = ""
    request: str = ""
    request_id: str = ""
    reason: str = ""
    changes: list[dict[str, str]] = field(default_factory=list)


class RulesHistory(Pages, Chains, rx.State):
    """The list on the asset's Compliance tab, newest first."""

    rows: list[RuleSetView] = []

    async def _fetch(self, cursor: str) -> str | None:
        asset = (await self.get_state(AssetState)).asset
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_rules_history(
            self._org_id(), self._in_path("asset_id"), limit=20, cursor=cursor or None
        )
        listed = {one for rule_set in page.rule_sets for one in rule_set.rules.trusted_issuers}
        listed |= {one for rule_set in page.rule_sets for one in _issuers_before(rule_set)}
        found = await asyncio.gather(*(name_of(self._api, self._org_id(), one) for one in listed))
        names = dict(zip(listed, found, strict=True))
        self.rows = [self._view(rule_set, asset.symbol, asset.decimals, names) for rule_set in page.rule_sets]
        return page.nextCursor

    @rx.event
    async def load(self) -> Next:
        """Read the first page, and rules that were just written as soon as they are indexed."""
        await self._load()
        return RulesHistory.catch_up

    @rx.event(background=True, supersedes=True)
    async def catch_up(self) -> None:
        """Wait for the followed request to end and for its rules, which are indexed a moment before or after."""
        async with self:
            path, org_id = self.router.url.path, self._org_id()
            request_id = (await self.get_state(AssetState)).request.id
        if not request_id:
            return
        async with self._api.changes(org_id, request_id, events=True) as changes:
            while not await self._caught_up(path, org_id, request_id):
                await changes.wait(1.0)

    async def _caught_up(self, path: str, org_id: str, request_id: str) -> bool:
        """Read the request, and the rules once it has ended; return whether there is nothing more to wait for."""
        try:
            request = request_view(await self._api.get_request(org_id, request_id))
        except ApiProblem as problem:
            return problem.status not in PASSING
        async with self:
            if self.router.url.path != path:
                return True
            if request.status not in FINAL:
                return request.kind not in WRITE_RULES
            if not self._is_complete(request):
                await self._load()
            return self._is_complete(request)

    def _is_complete(self, request: RequestView) -> bool:
        """Return whether the rules that a request wrote are shown, or it wrote none."""
        writes = request.kind in WRITE_RULES and request.status == "succeeded"
        if not writes or self.problem or self._cursor:
            return True
        return {step.tx_hash for step in request.steps if step.tx_hash} <= {row.tx_hash for row in self.rows}

    async def _load(self) -> None:
        """Read the first page, and the names of the chains again."""
        self._chains = {}
        await self._restart()

    def _view(self, rule_set: RuleSet, symbol: str, decimals: int, names: Mapping[str, str]) -> RuleSetView:
        now = rule_set.rules
        before = now.model_copy(update={change.field: change.before for change in rule_set.changes})
        return RuleSetView(
            id=str(rule_set.id),
            chain=rule_set.chain_name or self._chain_name(rule_set.chain_eid),
            version=rule_set.version,
            at=stamp(rule_set.at),
            block=rule_set.block_number,
            tx_hash=rule_set.tx_hash,
            tx_url=self._transaction_url(rule_set.chain_eid, rule_set.tx_hash),
            who=rule_set.changed_by_name or "",
            reason=rule_set.reason or "",
            request=rule_set.request_title or "",
            request_id=str(rule_set.request_id or ""),
            changes=list(differences(*(_texts(rules, symbol, decimals, names) for rules in (before, now)))),
        )


def _issuers_before(rule_set: RuleSet) -> list[str]:
    """Return the trusted issuers before a change of them."""
    return next((list(one.before or []) for one in rule_set.changes if one.field == "trusted_issuers"), [])


def _texts(rules: RulesOnChain, symbol: str, decimals: int, names: Mapping[str, str]) -> dict[str, str]:
    """Return a chain's rules as text; its list of issuers is complete, each with its name or the short address."""
    issuers = ", ".join(names.get(one) or shortened(one) for one in rules.trusted_issuers) or "None"
    on_chain = Checked(
        framework=rules.regulation_type,
        level=rules.min_kyc_level,
        accredited=rules.requires_accreditation,
        org_only=rules.org_only,
        countries=rules.blocked_countries,
        lockup=rules.lockup_end_time,
        max_holders=rules.max_holders,
        max_tokens=rules.max_tokens_per_holder,
        issuers=[],
    )
    return words(on_chain, symbol, decimals) | {"Trusted issuers": issuers}
