"""The distributor of one distribution: holds the money, pays whoever brings a proof, gives back the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.chain.calls import Call, call, creation
from backend.chain.rpc import connect

NAME = "MerkleDistributor"
SCHEMA = "distributor"
"""What a distributor is attested as: it is not a person."""
COUNTRY = "XXX"
"""User-assigned in ISO 3166-1, so that no list of blocked countries can have it: a contract is of no country."""


@dataclass(frozen=True, slots=True)
class DistributorInfo:
    """A distributor as the chain has it; `root` is None before it is activated."""

    token: str
    owner: str
    root: str | None
    total_recipients: int
    claimed_amount: int
    is_closed: bool


def deploy(owner: str, token: str) -> Call:
    """Create one; by anybody."""
    return creation(NAME, owner, token)


def activate(at: str, root: str, total_amount: int, total_recipients: int) -> Call:
    """Fix the entitlements and take their sum from the owner's allowance; by the owner, once."""
    return call(NAME, at, "activate", root, total_amount, total_recipients)


def claim(at: str, index: int, account: str, amount: int, proof: Sequence[str]) -> Call:
    """Have an entitlement paid to its account; by anybody."""
    return call(NAME, at, "claim", index, account, amount, list(proof))


def close(at: str) -> Call:
    """End it and take back the rest; by the owner."""
    return call(NAME, at, "close")


async def info(eid: int, at: str) -> DistributorInfo:
    """What the chain says, read at one block."""
    names = ("token", "owner", "merkleRoot", "totalRecipients", "claimedAmount", "closed")
    token, owner, root, count, claimed, closed = await (await connect(eid)).read_many([(NAME, at, n) for n in names])
    return DistributorInfo(token, owner, root if int(root, 16) else None, count, claimed, closed)


async def is_claimed(eid: int, at: str, index: int) -> bool:
    """Whether an entitlement was paid."""
    return bool(await (await connect(eid)).read(NAME, at, "isClaimed", index))
