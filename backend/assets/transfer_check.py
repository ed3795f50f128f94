"""Transfer checks: every rule's verdict, and whether the contract agrees."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.assets import records
from backend.attestations.revocations import resolved
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.bindings.registry import Standing as OnChainStanding
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chains import service as chains
from backend.compliance.rules import Account, Standing, TokenState, evaluate, failures
from backend.compliance.schemas import RuleVerdict, TransferCheck, TransferVerdict
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest


@dataclass(frozen=True)
class Place:
    """A token, and the address of its attestations."""

    organization_id: UUID
    eid: int
    token: str
    registry: str


async def check(context: Context, asset_id: UUID, body: TransferCheck) -> TransferVerdict:
    """Return the verdict on a transfer; from the zero address it is a mint. 400 if the asset is not on that chain."""
    await records.asset(context.session, context.organization_id, asset_id)
    place = await place_of(context, asset_id, body.chain_eid)
    async with db.paused(context.session):
        verdicts, codes = await verdicts_of(place, body)
    failed = failures(verdicts)
    return TransferVerdict(
        allowed=not failed,
        chain_agrees=[v.code for v in failed] == codes,
        rules=await resolved_verdicts(context, verdicts, asset_id, body),
    )


async def resolved_verdicts(
    context: Context, verdicts: Sequence[RuleVerdict], asset_id: UUID, body: TransferCheck
) -> list[RuleVerdict]:
    """Return the verdicts on a transfer, the failed ones with their resolution."""
    return await resolved(context, verdicts, asset_id, body.chain_eid, body.from_address, body.to_address)


async def verdicts_of(place: Place, body: TransferCheck) -> tuple[list[RuleVerdict], list[int]]:
    """Return every rule's verdict, and the codes that the contract refuses with."""
    amount = int(body.amount)
    rules, state = await asyncio.gather(token.rules(place.eid, place.token), token_state(place))
    receiver = await account(place, rules, body.to_address)
    sender = None if body.from_address == ZERO_ADDRESS else await account(place, rules, body.from_address)
    verdicts = evaluate(rules, sender, receiver, amount, clock.moment(), state)
    return verdicts, await token.check_transfer(place.eid, place.token, body.from_address, body.to_address, amount)


async def place_of(context: Context, asset_id: UUID, eid: int) -> Place:
    """Return the asset's token on a chain; 400 if it has none there, or the chain belongs to the other network."""
    await chains.check_network(context, eid)
    for row in records.active(await records.deployments(context.session, asset_id)):
        if row.chain_eid == eid and row.token_address:
            contracts = await contracts_of(eid)
            return Place(context.organization_id, eid, row.token_address, contracts.registry)
    raise BadRequest(
        "The asset has no active token on this chain. Bridge it there first, or choose another chain.",
        pointer="/chain_eid",
    )


async def token_state(place: Place) -> TokenState:
    """Return the token's state, regardless of who moves it, in one round trip."""
    functions = [("paused",), ("rulesVersion",), ("holderCount",)]
    paused, version, holders = await _read(await connect(place.eid), place, functions)
    return TokenState(paused=paused, has_rules=version > 0, holder_count=holders)


async def account(place: Place, rules: TokenRules, address: str) -> Account:
    """Return the chain's data about an account."""
    reads = [(f, address) for f in ("balanceOf", "holdingOf", "getFrozenTokens", "isVenue")]
    rpc = await connect(place.eid)
    answer, standing, own = await asyncio.gather(
        _read(rpc, place, [*reads, ("treasury",)]),
        _standing(place, address, rules, org_only=False),
        _standing(place, address, rules, org_only=True),
    )
    balance, holding, frozen, is_venue, treasury = answer
    # Only a market, current or former, holds tokens for others, which makes its holding smaller than its balance.
    can_hold = not is_venue and holding >= balance and address not in (ZERO_ADDRESS, place.token)
    return Account(address, standing, own, balance, holding, frozen, address == treasury, can_hold)


async def _read(rpc: Rpc, place: Place, functions: Sequence[tuple[str, ...]]) -> list[Any]:
    return await rpc.read_many([(token.NAME, place.token, *f) for f in functions])


async def _standing(place: Place, address: str, rules: TokenRules, org_only: bool) -> Standing:
    answer: OnChainStanding = await registry.standing(
        place.eid, place.registry, address, place.organization_id, org_only=org_only, trusted=rules.trusted_issuers
    )
    return Standing(answer.found, answer.level, answer.accredited, answer.accredited_level, answer.countries)
