"""What may happen on the ground between two scenes."""

import random

from backend.chain import market as contract
from backend.chain import registry, token
from backend.chain.rule_sets import TokenRules
from backend.fields import MAX_UINT256
from tests.compliance.ground import ATTESTERS, UNIT, Ground, address, resting_sale, some_market_rules


def some_rules(rng: random.Random, now: int) -> TokenRules:
    """Any rules of a token."""
    base = some_market_rules(rng, now)
    values = {name: getattr(base, name) for name in base.__slots__}
    trusted = tuple(address("foreign") for _ in range(1) if rng.random() < 0.3)
    return TokenRules(**values, org_only=rng.random() < 0.3, trusted_issuers=trusted)


async def change(ground: Ground, rng: random.Random) -> None:
    """Some things happen; what the contracts refuse does not."""
    at = ground.place.token
    now = await ground.now()
    await ground.send(ground.owner, token.set_rules(at, rules := some_rules(rng, now)))
    if rng.random() < 0.7:
        await ground.attempt(ground.owner, token.unpause(at))
    for _ in range(rng.randint(3, 12)):
        await rng.choice(HAPPENINGS)(ground, rng)
    moments = [rules.lockup_end_time + rng.choice([-1, 0, 1]), now + rng.randint(1, 3_000), now + 1]
    await ground.travel(rng.choice([m for m in moments if m > 1_000_000]))


async def _mint(ground: Ground, rng: random.Random) -> None:
    amount = rng.choice([1, rng.randint(1, 60) * UNIT])
    await ground.attempt(ground.owner, token.mint(ground.place.token, rng.choice(ground.everybody), amount))


async def _take(ground: Ground, rng: random.Random) -> None:
    source, receiver = rng.choice(ground.people), rng.choice([ground.owner, *ground.people])
    held = await token.balance_of(ground.rpc.eid, ground.place.token, source)
    amount = rng.choice([held, held // 2])
    await ground.attempt(ground.owner, token.forced_transfer(ground.place.token, source, receiver, amount))


async def _freeze(ground: Ground, rng: random.Random) -> None:
    amount = rng.choice([0, 1, rng.randint(1, 80) * UNIT, MAX_UINT256])
    who = rng.choice([ground.owner, *ground.people, *ground.markets])
    await ground.send(ground.owner, token.set_frozen(ground.place.token, who, amount if rng.random() < 0.6 else 0))


async def _attest(ground: Ground, rng: random.Random) -> None:
    await ground.attest(rng, rng.choice(sorted(ATTESTERS)), rng.choice(ground.everybody[:-1]))


async def _revoke(ground: Ground, rng: random.Random) -> None:
    if ground.uids:
        attester, uid = ground.uids.pop(rng.randrange(len(ground.uids)))
        await ground.attempt(attester, registry.revoke(ground.place.registry, uid, "fuzz"))


async def _reappoint(ground: Ground, rng: random.Random) -> None:
    """An attester goes, or comes back, maybe with a lower level."""
    name = rng.choice(sorted(ATTESTERS))
    at, (organization, level) = ground.place.registry, ATTESTERS[name]
    if rng.random() < 0.2:
        await ground.attempt(ground.agent, registry.remove_attester(at, address(name)))
    else:
        most = rng.choice([level, level, rng.randint(1, level)])
        terms = registry.add_attester(at, address(name), organization, name, most, True)
        await ground.attempt(ground.agent, terms)


async def _pause(ground: Ground, rng: random.Random) -> None:
    await ground.attempt(ground.owner, token.pause(ground.place.token))


async def _halt(ground: Ground, rng: random.Random) -> None:
    if ground.markets:
        await ground.attempt(ground.owner, contract.halt(rng.choice(list(ground.markets)), rng.random() < 0.3))


async def _venue(ground: Ground, rng: random.Random) -> None:
    if ground.markets:
        venue = rng.choice(list(ground.markets))
        await ground.attempt(ground.owner, token.set_venue(ground.place.token, venue, rng.random() < 0.7))


async def _sell(ground: Ground, rng: random.Random) -> None:
    """Part of a holding goes into a market's escrow."""
    if not ground.markets:
        return
    seller, venue = rng.choice(ground.people), rng.choice(list(ground.markets))
    amount = await token.balance_of(ground.rpc.eid, ground.place.token, seller) // rng.choice([1, 2, 3])
    if amount:
        await ground.send(seller, token.approve(ground.place.token, venue, amount))
        await ground.attempt(seller, resting_sale(venue, 10**9, amount))


HAPPENINGS = (
    _mint,
    _mint,
    _mint,
    _mint,
    _take,
    _freeze,
    _freeze,
    _attest,
    _attest,
    _attest,
    _attest,
    _revoke,
    _reappoint,
    _pause,
    _halt,
    _venue,
    _sell,
)
