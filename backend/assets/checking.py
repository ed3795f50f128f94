"""A transfer that has not happened: every rule's word, and whether the contract comes to the same end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend import db
from backend.assets import records
from backend.auth.principal import Context
from backend.chain import clock, registry, token
from backend.chain.deployment import contracts_of
from backend.chain.registry import Standing as Told
from backend.chain.rpc import Rpc, connect
from backend.chain.rule_sets import TokenRules
from backend.chains import service as chains
from backend.compliance.resolutions import resolved
from backend.compliance.rules import Account, Standing, TokenState, evaluate, failures
from backend.compliance.schemas import RuleVerdict, TransferCheck, TransferVerdict
from backend.errors import BadRequest

ZERO = "0x" + "0" * 40


@dataclass(frozen=True)
class Place:
    """A token, and where its attestations are."""

    organization_id: UUID
    eid: int
    token: str
    registry: str


async def check(context: Context, asset_id: UUID, body: TransferCheck) -> TransferVerdict:
    """The verdict on a transfer; from the zero address it is a mint. 400 where the asset is not on that chain."""
    await records.asset(context.session, context.organization_id, asset_id)
    place = await place_of(context, asset_id, body.chain_eid)
    async with db.paused(context.session):
        verdicts, codes = await _verdicts(place, body)
    failed = failures(verdicts)
    return TransferVerdict(
        allowed=not failed,
        chain_agrees=[v.code for v in failed] == codes,
        rules=resolved(verdicts, context.organization_id, asset_id),
    )


async def _verdicts(place: Place, body: TransferCheck) -> tuple[list[RuleVerdict], list[int]]:
    """Every rule's word, and the codes that the contract refuses with."""
    amount = int(body.amount)
    rules, state = await asyncio.gather(token.rules(place.eid, place.token), token_state(place))
    receiver = await account(place, rules, body.to_address)
    sender = None if body.from_address == ZERO else await account(place, rules, body.from_address)
    verdicts = evaluate(rules, sender, receiver, amount, clock.moment(), state)
    return verdicts, await token.check_transfer(place.eid, place.token, body.from_address, body.to_address, amount)


async def place_of(context: Context, asset_id: UUID, eid: int) -> Place:
    """Where the asset's token is on a chain; 400 where it is not there, or the chain is of the other network."""
    await chains.check_network(context, eid)
    for row in records.active(await records.deployments(context.session, asset_id)):
        if row.chain_eid == eid and row.token_address:
            contracts = await contracts_of(eid)
            return Place(context.organization_id, eid, row.token_address, contracts.registry)
    raise BadRequest("The asset has no active token on this chain.", pointer="/chain_eid")


async def token_state(place: Place) -> TokenState:
    """What holds for the token whoever moves it, in one round trip."""
    functions = [("paused",), ("rulesVersion",), ("holderCount",)]
    paused, version, holders = await _read(await connect(place.eid), place, functions)
    return TokenState(paused=paused, has_rules=version > 0, holder_count=holders)


async def account(place: Place, rules: TokenRules, address: str) -> Account:
    """What the chain knows of an account."""
    reads = [(f, address) for f in ("balanceOf", "holdingOf", "getFrozenTokens", "isVenue")]
    rpc = await connect(place.eid)
    told, standing, own = await asyncio.gather(
        _read(rpc, place, [*reads, ("treasury",)]),
        _standing(place, address, rules, org_only=False),
        _standing(place, address, rules, org_only=True),
    )
    balance, holding, frozen, is_venue, treasury = told
    # What is held for others makes the holding smaller than the balance: only a market, also a former one, has that.
    can_hold = not is_venue and holding >= balance and address not in (ZERO, place.token)
    return Account(address, standing, own, balance, holding, frozen, address == treasury, can_hold)


async def _read(rpc: Rpc, place: Place, functions: Sequence[tuple[str, ...]]) -> list[Any]:
    return await rpc.read_many([(token.NAME, place.token, *f) for f in functions])


async def _standing(place: Place, address: str, rules: TokenRules, org_only: bool) -> Standing:
    told: Told = await registry.standing(
        place.eid, place.registry, address, place.organization_id, org_only=org_only, trusted=rules.trusted_issuers
    )
    return Standing(told.found, told.level, told.accredited, told.accredited_level, told.countries)
