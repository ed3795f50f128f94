"""Events on the ground between two scenes. Calls that the contracts refuse have no effect."""

from backend.chain.bindings import market as contract
from backend.chain.bindings import registry, token
from tests.compliance.fuzz_chain import ATTESTERS, Ground, address, resting_sale


async def mint(ground: Ground, who: int, amount: int) -> None:
    """Tokens for one account."""
    await ground.attempt(ground.owner, token.mint(ground.place.token, ground.account(who), amount))


async def take(ground: Ground, giver: int, taker: int, part: int) -> None:
    """All or half of a balance is transferred by force."""
    source = ground.account(giver)
    amount = await token.balance_of(ground.rpc.eid, ground.place.token, source) // part
    call = token.forced_transfer(ground.place.token, source, ground.account(taker), amount)
    await ground.attempt(ground.owner, call)


async def freeze(ground: Ground, who: int, amount: int) -> None:
    """Freeze an amount."""
    await ground.attempt(ground.owner, token.set_frozen(ground.place.token, ground.account(who), amount))


async def attest(ground: Ground, by: str, who: int, level: int, country: str, accredited: bool, lasts: int) -> None:
    """A new attestation that replaces the same attester's previous one; `lasts` in seconds, 0 without expiry."""
    end = await ground.now() + lasts if lasts else 0
    await ground.attest(by, ground.account(who), min(level, ATTESTERS[by][1]), country, accredited, end)


async def revoke(ground: Ground, which: int) -> None:
    """Revoke one of the attestations so far."""
    attester, uid = ground.uids[which % len(ground.uids)]
    await ground.attempt(attester, registry.revoke(ground.place.registry, uid, "fuzz"))


async def appoint(ground: Ground, name: str, level: int) -> None:
    """Remove an attester (level 0), or add it again, possibly with a lower level."""
    at, (organization, most) = ground.place.registry, ATTESTERS[name]
    if level == 0:
        await ground.attempt(ground.agent, registry.remove_attester(at, address(name)))
    else:
        terms = registry.add_attester(at, address(name), organization, name, min(level, most), True)
        await ground.attempt(ground.agent, terms)


async def pause(ground: Ground) -> None:
    """Pause or unpause the token."""
    await ground.attempt(ground.owner, token.pause(ground.place.token))


async def halt(ground: Ground, venue: int, halted: bool) -> None:
    """Halt or open a market."""
    if ground.markets:
        await ground.attempt(ground.owner, contract.halt(ground.venue(venue), halted))


async def venue(ground: Ground, which: int, allowed: bool) -> None:
    """Allow or stop the settlement of a market."""
    if ground.markets:
        await ground.attempt(ground.owner, token.set_venue(ground.place.token, ground.venue(which), allowed))


async def sell(ground: Ground, who: int, which: int, part: int) -> None:
    """Move part of a balance into a market's escrow."""
    if not ground.markets:
        return
    seller, at = ground.account(who), ground.venue(which)
    amount = await token.balance_of(ground.rpc.eid, ground.place.token, seller) // part
    if amount and await ground.attempt(seller, token.approve(ground.place.token, at, amount)):
        await ground.attempt(seller, resting_sale(at, 10**9, amount))
