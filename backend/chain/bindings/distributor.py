"""The distributor of a distribution: holds the funds, pays claims with a valid proof, returns the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.chain.abi.calls import Call, call, creation
from backend.chain.bindings import quote_token
from backend.chain.rpc.json_rpc import connect

NAME = "MerkleDistributor"
SCHEMA = "distributor"
"""The schema of a distributor's attestation: a distributor is not a person."""
COUNTRY = "XXX"
"""User-assigned in ISO 3166-1, so that no list of blocked countries can contain it: a contract has no country."""


@dataclass(frozen=True, slots=True)
class DistributorInfo:
    """A distributor's state on chain; `root` is `None` before activation."""

    token: str
    owner: str
    root: str | None
    total_recipients: int
    claimed_amount: int
    is_closed: bool


def deploy(owner: str, token: str) -> Call:
    """Deploy a distributor; any account may."""
    return creation(NAME, owner, token)


def activate(at: str, root: str, total_amount: int, total_recipients: int) -> Call:
    """Set the entitlements and take their sum from the owner's allowance; the owner may, once."""
    return call(NAME, at, "activate", root, total_amount, total_recipients)


def claim(at: str, index: int, account: str, amount: int, proof: Sequence[str]) -> Call:
    """Pay an entitlement to its account; any account may."""
    return call(NAME, at, "claim", index, account, amount, list(proof))


def close(at: str) -> Call:
    """Close the distributor and take back the rest; only the owner may."""
    return call(NAME, at, "close")


_FACTS = ("token", "owner", "merkleRoot", "totalRecipients", "claimedAmount", "closed")


async def info(eid: int, at: str) -> DistributorInfo:
    """Return the distributor's state, read at one block."""
    return _info(await (await connect(eid)).read_many([(NAME, at, name) for name in _FACTS]))


async def is_claimed(eid: int, at: str, index: int) -> bool:
    """Return whether an entitlement was paid."""
    return bool(await (await connect(eid)).read(NAME, at, "isClaimed", index))


async def info_and_balance(eid: int, at: str, currency: str) -> tuple[DistributorInfo, int]:
    """Return the distributor's state and its balance of a currency, read at one block."""
    reads = [*((NAME, at, name) for name in _FACTS), (quote_token.NAME, currency, "balanceOf", at)]
    *facts, balance = await (await connect(eid)).read_many(reads)
    return _info(facts), int(balance)


def _info(facts: Sequence[Any]) -> DistributorInfo:
    token, owner, root, count, claimed, closed = facts
    return DistributorInfo(token, owner, root if int(root, 16) else None, count, claimed, closed)
