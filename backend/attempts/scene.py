"""What an attempt works with: the person who makes it, its record, and the organization's assets and markets."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records as assets
from backend.assets import transfer_check
from backend.assets.models import AssetRow
from backend.assets.schemas import AssetStatus
from backend.assets.transfer_check import Place
from backend.attempts.records import Record
from backend.auth.principal import Context
from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.rpc import node_urls
from backend.chain.transactions.execution import execute
from backend.core.changes import acting
from backend.core.db import new_id
from backend.core.errors import Conflict
from backend.core.units import rounded
from backend.issuers import service as issuers
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketStatus

Undo = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Held:
    """An asset on one chain, with its present rules."""

    asset: AssetRow
    place: Place
    rules: TokenRules
    treasury: str

    @property
    def chain(self) -> str:
        """The chain's name."""
        return node_urls.EMBEDDED[self.place.eid].display_name

    def words(self, amount: int) -> str:
        """Return an amount with the asset's symbol."""
        return f"{rounded(amount, self.asset.decimals)} {self.asset.symbol}"

    @property
    def unit(self) -> int:
        """One whole token, in base units."""
        return int(10**self.asset.decimals)


@dataclass
class Scene:
    """One attempt."""

    context: Context
    record: Record
    name: str = field(default_factory=lambda: str(new_id()))
    undone: list[Undo] = field(default_factory=list)
    """What puts things in order again afterwards, last first."""

    @asynccontextmanager
    async def acting(self) -> AsyncIterator[Context]:
        """Open a transaction as the person who makes the attempt."""
        with acting(self.context.who):
            async with self.context.in_new_transaction() as context:
                yield context

    @property
    def organization_id(self) -> UUID:
        """The organization in which the attempt is made."""
        return self.context.organization_id

    async def execute(self, what: str, eid: int, signer: str, call: Call) -> Outcome:
        """Sign and confirm a transaction of the organization itself, to prepare the attempt or to tidy up."""
        key = f"attempt:{self.name}:{what}"
        return await execute(
            call.intent(key, eid=eid, signer=signer, organization_id=self.organization_id, label=f"attempt: {what}")
        )

    async def asset(self, fits: Callable[[TokenRules], bool], missing: str) -> Held:
        """Return the oldest asset on an embedded chain whose rules fit. Raises Conflict with what is missing."""
        async with self.acting() as context:
            found = sa.select(AssetRow).where(
                col(AssetRow.organization_id) == self.organization_id, col(AssetRow.status) == AssetStatus.ACTIVE
            )
            rows = list(await context.session.scalars(found.order_by(col(AssetRow.created_at))))
            for row in rows:
                for there in assets.active(await assets.deployments(context.session, row.id)):
                    if node_urls.is_embedded(there.chain_eid):
                        held = await self.held(context, row, there.chain_eid)
                        if fits(held.rules):
                            return held
        raise Conflict(missing)

    async def held(self, context: Context, asset: AssetRow, eid: int) -> Held:
        """Return an asset on a chain."""
        place = await transfer_check.place_of(context, asset.id, eid)
        rules = await token.rules(place.eid, place.token)
        return Held(asset, place, rules, await token.treasury(place.eid, place.token))

    async def market(self) -> tuple[Held, MarketRow]:
        """Return the oldest active market on an embedded chain, and its asset."""
        async with self.acting() as context:
            found = sa.select(MarketRow).where(
                col(MarketRow.organization_id) == self.organization_id, col(MarketRow.status) == MarketStatus.ACTIVE
            )
            for row in await context.session.scalars(found.order_by(col(MarketRow.created_at))):
                if node_urls.is_embedded(row.chain_eid):
                    asset = await assets.asset(context.session, self.organization_id, row.asset_id)
                    return await self.held(context, asset, row.chain_eid), row
        raise Conflict("The organization has no open market on an embedded chain. Deploy one first.")

    async def attest(self, held: Held, subject: str, *, country: str, ends: int = 0) -> str:
        """Attest an account on chain as fully verified and accredited; return the attestation's uid."""
        async with self.acting() as context:
            attester = await issuers.attester_on(context.session, self.organization_id, held.place.eid)
        if attester is None:
            raise Conflict(f"The organization cannot attest on {held.chain}. Register it as an issuer there first.")
        call = registry.attest(
            held.place.registry, subject=subject, level=3, country=country, accredited=True, expires_at=ends
        )
        made = await self.execute(f"attest {subject}", held.place.eid, attester.address, call)
        uid = str(made.event("Attested")["uid"])
        revocation = registry.revoke(held.place.registry, uid, "The attempt is over.")
        self.undone.append(lambda: self._done(f"revoke {uid}", held.place.eid, attester.address, revocation))
        return uid

    async def give(self, held: Held, to: str, amount: int) -> None:
        """Send tokens of the treasury; afterwards the owner takes back the remaining ones."""
        there = held.place
        await self.execute(f"give {to}", there.eid, held.treasury, token.transfer(there.token, to, amount))
        self.undone.append(lambda: self._take_back(held, to))

    async def _take_back(self, held: Held, account: str) -> None:
        there = held.place
        if left := await token.balance_of(there.eid, there.token, account):
            owner = await token.owner(there.eid, there.token)
            call = token.forced_transfer(there.token, account, held.treasury, left)
            await self._done(f"take back from {account}", there.eid, owner, call)

    async def _done(self, what: str, eid: int, signer: str, call: Call) -> None:
        await self.execute(what, eid, signer, call)

    async def tidy_up(self) -> None:
        """Put things in order again."""
        while self.undone:
            await self.undone.pop()()
