"""Funding of a distribution: the sum in the owner's wallet, and a distributor that may hold it.

A distributor holds tokens of the asset from its activation until the last claim, so the token's rules apply to it. It
is not a person: the organization's own attester attests it, under a separate schema, with what the rules require and no
country. It counts as one holder, and the limit per holder and the lock-up apply to it.
"""

import asyncio
from dataclasses import dataclass, replace

from backend.assets import transfer_check
from backend.assets.transfer_check import Place
from backend.chain.bindings import distributor, registry, token
from backend.chain.devnet import clock
from backend.compliance.rules import Account, Standing, evaluate, failures
from backend.core.errors import Conflict


@dataclass(frozen=True)
class Means:
    """Who pays out a token, and what the attestation of the distributor needs."""

    owner: str
    attester: str
    level: int
    accredited: bool


async def check(place: Place, attester: str | None, amount: int) -> Means:
    """Check that a new distributor could receive `amount` now; 409 with every obstacle."""
    if attester is None:
        raise Conflict(
            "The organization is not registered as an issuer on this chain. Its attester must attest the "
            f"distributor contract. Register it first by POST /v1/orgs/{place.organization_id}/issuer/register."
        )
    rules, owner, terms = await asyncio.gather(
        token.rules(place.eid, place.token),
        token.owner(place.eid, place.token),
        registry.attester(place.eid, place.registry, attester),
    )
    means = Means(owner, attester, max(1, rules.min_kyc_level), rules.requires_accreditation)
    if not terms.active or terms.max_kyc_level < means.level:
        raise Conflict(f"The organization's attester may not attest KYC level {means.level}, which the asset requires.")
    await _check_rules(place, means, amount)
    return means


async def _check_rules(place: Place, means: Means, amount: int) -> None:
    facts = await transfer_check.facts_of(place, means.owner)
    word = Standing(True, means.level, means.accredited, means.level, (distributor.COUNTRY,))
    receiver = Account("distributor", word, word)
    refused = failures(evaluate(facts.rules, facts.accounts[0], receiver, amount, clock.moment(), facts.state))
    if refused:
        raise Conflict(f"The distribution cannot be funded. {' '.join(v.reason for v in refused)}")


async def is_eligible(place: Place, address: str) -> bool:
    """Return whether the rules let a distributor hold the token, regardless of the amount."""
    facts = await transfer_check.facts_of(place, address)
    account = replace(facts.accounts[0], holding=0)
    return not failures(evaluate(facts.rules, None, account, 0, clock.moment(), facts.state))
