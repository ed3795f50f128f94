"""What may happen on the ground between two scenes. What the contracts refuse does not."""

from backend.chain import market as contract
from backend.chain import registry, token
from tests.compliance.ground import ATTESTERS, Ground, address, resting_sale


async def mint(ground: Ground, who: int, amount: int) -> None:
    """Tokens for somebody."""
    await ground.attempt(ground.owner, token.mint(ground.place.token, ground.somebody(who), amount))


async def take(ground: Ground, giver: int, taker: int, part: int) -> None:
    """All of a balance, or half, is taken and given to somebody."""
    source = ground.somebody(giver)
    amount = await token.balance_of(ground.rpc.eid, ground.place.token, source) // part
    call = token.forced_transfer(ground.place.token, source, ground.somebody(taker), amount)
    await ground.attempt(ground.owner, call)


async def freeze(ground: Ground, who: int, amount: int) -> None:
    """So much is frozen."""
    await ground.attempt(ground.owner, token.set_frozen(ground.place.token, ground.somebody(who), amount))


async def attest(ground: Ground, by: str, who: int, level: int, country: str, accredited: bool, lasts: int) -> None:
    """A new attestation, in the place of the same attester's former one; `lasts` seconds, 0 for ever."""
    end = await ground.now() + lasts if lasts else 0
    await ground.attest(by, ground.somebody(who), min(level, ATTESTERS[by][1]), country, accredited, end)


async def revoke(ground: Ground, which: int) -> None:
    """One of the attestations so far is taken back."""
    attester, uid = ground.uids[which % len(ground.uids)]
    await ground.attempt(attester, registry.revoke(ground.place.registry, uid, "fuzz"))


async def appoint(ground: Ground, name: str, level: int) -> None:
    """An attester goes (level 0), or comes back, maybe with a lower level."""
    at, (organization, most) = ground.place.registry, ATTESTERS[name]
    if level == 0:
        await ground.attempt(ground.agent, registry.remove_attester(at, address(name)))
    else:
        terms = registry.add_attester(at, address(name), organization, name, min(level, most), True)
        await ground.attempt(ground.agent, terms)


async def pause(ground: Ground) -> None:
    """The token is paused."""
    await ground.attempt(ground.owner, token.pause(ground.place.token))


async def halt(ground: Ground, venue: int, halted: bool) -> None:
    """A market is halted, or opened."""
    if ground.markets:
        await ground.attempt(ground.owner, contract.halt(ground.venue(venue), halted))


async def venue(ground: Ground, which: int, allowed: bool) -> None:
    """A market may settle, or may no more."""
    if ground.markets:
        await ground.attempt(ground.owner, token.set_venue(ground.place.token, ground.venue(which), allowed))


async def sell(ground: Ground, who: int, which: int, part: int) -> None:
    """Part of a balance goes into a market's escrow."""
    if not ground.markets:
        return
    seller, at = ground.somebody(who), ground.venue(which)
    amount = await token.balance_of(ground.rpc.eid, ground.place.token, seller) // part
    if amount and await ground.attempt(seller, token.approve(ground.place.token, at, amount)):
        await ground.attempt(seller, resting_sale(at, 10**9, amount))
