"""What a distribution needs from its asset's token: the sum in the owner's wallet, and a distributor that may hold it.

A distributor holds tokens of the asset from its activation until the last claim, so the token's rules hold for it. It
is no person: the organization's own attester attests it, under a schema of its own, with what the rules ask for and no
country. It counts as one holder, and is under the limit per holder and the lockup as every holder is.
"""

import asyncio
from dataclasses import dataclass, replace

from backend.assets import checking
from backend.assets.checking import Place
from backend.chain import clock, distributor, registry, token
from backend.chain.rule_sets import TokenRules
from backend.compliance.rules import Account, Standing, evaluate, failures
from backend.errors import Conflict


@dataclass(frozen=True)
class Means:
    """Who pays out a token, and what the distributor has to be attested with."""

    owner: str
    attester: str
    level: int
    accredited: bool


async def check(place: Place, attester: str | None, amount: int) -> Means:
    """Whether a new distributor could be given `amount` now; 409 with what stands against it."""
    if attester is None:
        raise Conflict(
            "The organization is not registered as an issuer on this chain. Its attester has to attest the contract "
            f"that holds what is distributed: POST /v1/orgs/{place.organization_id}/issuer/register."
        )
    rules, owner, terms = await asyncio.gather(
        token.rules(place.eid, place.token),
        token.owner(place.eid, place.token),
        registry.attester(place.eid, place.registry, attester),
    )
    means = Means(owner, attester, max(1, rules.min_kyc_level), rules.requires_accreditation)
    if not terms.active or terms.max_kyc_level < means.level:
        raise Conflict(
            f"The organization's attester may not attest the KYC level {means.level} that the asset asks for."
        )
    await _check_rules(place, rules, means, amount)
    return means


async def _check_rules(place: Place, rules: TokenRules, means: Means, amount: int) -> None:
    owner, state = await asyncio.gather(checking.account(place, rules, means.owner), checking.token_state(place))
    word = Standing(True, means.level, means.accredited, means.level, (distributor.COUNTRY,))
    receiver = Account("distributor", word, word)
    refused = failures(evaluate(rules, owner, receiver, amount, clock.moment(), state))
    if refused:
        raise Conflict(f"The distribution cannot be funded. {' '.join(v.reason for v in refused)}")


async def is_eligible(place: Place, address: str) -> bool:
    """Whether the rules let a distributor hold the token, apart from any amount."""
    rules = await token.rules(place.eid, place.token)
    account = replace(await checking.account(place, rules, address), holding=0)
    state = await checking.token_state(place)
    return not failures(evaluate(rules, None, account, 0, clock.moment(), state))
