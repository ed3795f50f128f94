"""The rules that an asset's tokens have had: who changed which from what to what, when, by which transaction."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.asset import AssetState
from state.chain_list import Chains
from state.paging import Pages
from state.requests import FINAL, Request
from state.rules import Checked, differences, words

LOOKS = 10


@dataclass
class RuleSetRow:
    """Rules that one token took; `who` and `request_id` are empty where no request of this asset wrote them, `at` where
    the chain does not answer, `changes` where there were none before."""

    id: str
    chain: str
    version: int
    at: str
    block: int
    tx_hash: str
    tx_url: str
    who: str = ""
    request_id: str = ""
    changes: list[dict[str, str]] = field(default_factory=list)


class RulesHistory(Pages, Chains, rx.State):
    """The list on the asset's Compliance tab, newest first."""

    rows: list[RuleSetRow] = []
    _asked: dict[str, dict[str, Any]] = {}

    async def _fetch(self, cursor: str) -> str | None:
        asset = (await self.get_state(AssetState)).asset
        if not self._chains:
            await self._read_chains()
        path = f"/orgs/{{org}}/assets/{self.asset_id}/rules-history"
        page = await self._api("GET", path, params={"cursor": cursor, "limit": 20})
        self.rows = [self._row(told, asset.symbol, asset.decimals) for told in page["rule_sets"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page, and what was written a moment ago as soon as it is there."""
        await self._load()
        return RulesHistory.catch_up

    @rx.event(background=True, supersedes=True)
    async def catch_up(self):
        """Wait for the asset's request that is followed; then look until the rules that it wrote are told, which are
        read from the chains a moment later."""
        looks = 0
        async with self:
            path = self.router.url.path
        while looks < LOOKS:
            async with self:
                request = (await self.get_state(AssetState)).request
                is_over = request.status in FINAL
                is_told = self._tells(request) if is_over else not request.id or bool(request.problem)
                if self.router.url.path != path or is_told:
                    return
                if is_over:
                    await self._load()
                    looks += 1
            await asyncio.sleep(1)

    def _tells(self, request: Request) -> bool:
        """Whether the rules that a request wrote are shown, or it wrote none."""
        if request.kind != "asset.update" or request.status != "succeeded" or self.problem or self._cursor:
            return True
        return {step.tx_hash for step in request.steps if step.tx_hash} <= {row.tx_hash for row in self.rows}

    async def _load(self) -> None:
        """Read the first page, and the requests that wrote them."""
        self._chains = {}
        try:
            page = await self._api("GET", "/orgs/{org}/requests", params={"subject": self.asset_id, "limit": 100})
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._asked = {s["tx_hash"]: request for request in page["requests"] for s in request["steps"] if s["tx_hash"]}
        await self._restart()

    def _row(self, told: dict[str, Any], symbol: str, decimals: int) -> RuleSetRow:
        request = self._asked.get(told["tx_hash"], {})
        now = told["rules"]
        before = now | {change["field"]: change["before"] for change in told["changes"]}
        return RuleSetRow(
            id=told["id"],
            chain=told["chain_name"] or self._chain_name(told["chain_eid"]),
            version=told["version"],
            at=told["at"] or "",
            block=told["block_number"],
            tx_hash=told["tx_hash"],
            tx_url=self._transaction_url(told["chain_eid"], told["tx_hash"]),
            who=request.get("created_by_name") or "",
            request_id=request.get("id", ""),
            changes=list(differences(_said(before, symbol, decimals), _said(now, symbol, decimals))),
        )


def _said(rules: Mapping[str, Any], symbol: str, decimals: int) -> dict[str, str]:
    """Rules of a chain in words; their list of issuers is the whole one there."""
    issuers = ", ".join(f"{address[:6]}…{address[-4:]}" for address in rules["trusted_issuers"]) or "none"
    on_chain = Checked(
        framework=rules["regulation_type"],
        level=rules["min_kyc_level"],
        accredited=rules["requires_accreditation"],
        org_only=rules["org_only"],
        countries=rules["blocked_countries"],
        lockup=rules["lockup_end_time"],
        max_holders=rules["max_holders"],
        max_tokens=rules["max_tokens_per_holder"],
        issuers=[],
    )
    return words(on_chain, symbol, decimals) | {"Trusted issuers": issuers}
