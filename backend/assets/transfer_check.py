"""Transfer checks: every rule's verdict, and whether the contract agrees."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.assets import records
from backend.attestations.revocations import resolved
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.bindings.registry import Question
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.errors import ChainUnavailable
from backend.chain.rpc.json_rpc import connect
from backend.chains import service as chains
from backend.compliance.rules import Account, Standing, TokenState, evaluate, failures
from backend.compliance.schemas import RuleVerdict, TransferCheck, TransferVerdict
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest

Read = tuple[Any, ...]
"""A contract, its address, a function and its arguments."""
TOGETHER = 2
"""Accounts that are read in one batch: a node may accept few calls in it."""
ATTEMPTS = 8
REPEATED = 4
"""How often verdicts are asked that differ from the contract's."""
Judged = tuple[list[RuleVerdict], list[int]]
"""Every rule's verdict, and the codes that the contract refuses with."""
_OF_TOKEN = ("rules", "paused", "rulesVersion", "holderCount", "treasury")
_OF_ACCOUNT = ("balanceOf", "holdingOf", "getFrozenTokens", "isVenue")


@dataclass(frozen=True)
class Place:
    """A token, and the address of its attestations."""

    organization_id: UUID
    eid: int
    token: str
    registry: str


@dataclass(frozen=True)
class Facts:
    """What decides about a token's movements at one block."""

    rules: TokenRules
    state: TokenState
    accounts: list[Account]
    answers: list[Any]
    """The answers to further reads of the same block."""


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


async def verdicts_of(place: Place, body: TransferCheck) -> Judged:
    """Return every rule's verdict, and the codes that the contract refuses with, both of one block."""
    return await agreed(lambda: _verdicts(place, body))


async def agreed(ask: Callable[[], Awaitable[Judged]]) -> Judged:
    """Return what `ask` returns, asked again where the verdicts differ from the contract's: a node that mines while it
    answers may take a balance from another state than the holding, although both were asked of one block."""
    for _ in range(REPEATED):
        verdicts, codes = await ask()
        if [verdict.code for verdict in failures(verdicts)] == codes:
            break
    return verdicts, codes


async def _verdicts(place: Place, body: TransferCheck) -> Judged:
    is_mint, amount = body.from_address == ZERO_ADDRESS, int(body.amount)
    asked = token.transfer_codes(place.token, body.from_address, body.to_address, amount)
    addresses = [body.to_address] if is_mint else [body.to_address, body.from_address]
    facts = await facts_of(place, *addresses, also=[asked])
    receiver, sender = facts.accounts[0], None if is_mint else facts.accounts[1]
    verdicts = evaluate(facts.rules, sender, receiver, amount, clock.moment(), facts.state)
    return verdicts, list(facts.answers[0])


async def place_of(context: Context, asset_id: UUID, eid: int) -> Place:
    """Return the asset's token on a chain; 400 if it has none there, or the chain belongs to the other network."""
    await chains.check_network(context, eid)
    at = await records.token_on(context.session, asset_id, eid)
    if at is None:
        raise BadRequest(
            "The asset has no active token on this chain. Bridge it there first, or choose another chain.",
            pointer="/chain_eid",
        )
    return Place(context.organization_id, eid, at, (await contracts_of(eid)).registry)


async def facts_of(place: Place, *addresses: str, also: Sequence[Read] = ()) -> Facts:
    """Return what decides about a token's movements, with its data about some accounts, and the answers to further
    reads.

    All of it is of one block: between two, an account may receive tokens, and a balance would not fit a holding. Raises
    ChainUnavailable if a node that keeps only its newest block has a new one at each attempt.
    """
    rpc = await connect(place.eid)
    for _ in range(ATTEMPTS):
        own = [(token.NAME, place.token, name) for name in _OF_TOKEN]
        (rules, paused, version, holders, treasury, *answers), block = await rpc.read_newest([*own, *also])
        state = TokenState(paused=paused, has_rules=version > 0, holder_count=holders)
        facts = Facts(TokenRules.of_abi(rules), state, [], answers)
        for start in range(0, len(addresses), TOGETHER):
            some = addresses[start : start + TOGETHER]
            reads = [read for address in some for read in _of_account(place, facts.rules, address)]
            values, then = await rpc.read_newest(reads, wanted=block)
            if then != block:
                break
            width = len(values) // len(some)
            for i, address in enumerate(some):
                facts.accounts.append(_account(place, treasury, address, values[i * width : (i + 1) * width]))
        else:
            return facts
    raise ChainUnavailable(f"The chain {place.eid} has a new block at each read. Retry in a few seconds.")


def _of_account(place: Place, rules: TokenRules, address: str) -> list[Read]:
    """Return the reads of an account: by the token, then what is attested by whom the token trusts, and by the
    organization alone."""
    questions = (Question(address, org_only, rules.trusted_issuers) for org_only in (False, True))
    attested = [registry.eligibility(place.registry, one, place.organization_id) for one in questions]
    return [*((token.NAME, place.token, name, address) for name in _OF_ACCOUNT), *attested]


def _account(place: Place, treasury: str, address: str, values: Sequence[Any]) -> Account:
    balance, holding, frozen, is_venue, *attested = values
    # Only a market, current or former, holds tokens for others, which makes its holding smaller than its balance.
    can_hold = not is_venue and holding >= balance and address not in (ZERO_ADDRESS, place.token)
    standing, own = map(_standing, attested)
    return Account(address, standing, own, balance, holding, frozen, address == treasury, can_hold)


def _standing(values: Any) -> Standing:
    found = registry.standing_of(values)
    return Standing(found.found, found.level, found.accredited, found.accredited_level, found.countries)
