"""Our contracts on a chain, deployed once by the operator and recorded in the table of contracts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.abi.calls import Call, creation
from backend.chain.bindings import external_contracts as named_contracts
from backend.chain.chain_models import ChainContractRow, ChainRow
from backend.chain.deployment import factory_terms
from backend.chain.devnet import anvil
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions import funding
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest
from backend.core.runtime import runtime

FRESH = 1.0
"""Maximum seconds for which the recorded addresses of a chain count as current in this process."""
OURS = ("registry", "market_factory")
"""Contracts that we deploy on every chain, in this order; on embedded ones, an endpoint and the test currency first."""


@dataclass(frozen=True, slots=True)
class ChainContracts:
    """Addresses of the contracts that serve a chain. `quote_token` is `None` on a public chain without one in the
    settings."""

    registry: str
    endpoint: str
    market_factory: str
    quote_token: str | None


@dataclass
class Recorded:
    """By chain: the addresses by name, and when they were read, by `time.monotonic`."""

    addresses: dict[int, tuple[dict[str, str], float]] = field(default_factory=dict)


async def operator() -> str:
    """Return the agent's address: the owner of registry, factory, embedded endpoint and quote token; it deploys and
    relays."""
    return await provider().operator()


async def contracts_of(eid: int) -> ChainContracts:
    """Return our contracts on a chain. Raises BadRequest if they are not deployed."""
    found = await _known(eid)
    try:
        return ChainContracts(found["registry"], found["endpoint"], found["market_factory"], found.get("quote_token"))
    except KeyError:
        await connect(eid)  # raises the chain's own error, if there is one
        raise BadRequest(f"Our contracts are not deployed on the chain with the endpoint ID {eid}.") from None


async def contract_address(eid: int, name: str) -> str | None:
    """Return the address of one contract: registry, endpoint, market_factory or quote_token."""
    return (await _known(eid)).get(name)


async def _known(eid: int) -> Mapping[str, str]:
    found, read_at = runtime.part(Recorded).addresses.get(eid, ({}, 0.0))
    if not found or time.monotonic() - read_at > FRESH:
        read_at, found = time.monotonic(), await _recorded(eid)
        runtime.part(Recorded).addresses[eid] = found, read_at
    return found


async def _recorded(eid: int) -> dict[str, str]:
    async with db.look() as session:
        found = sa.select(ChainContractRow).where(col(ChainContractRow.chain_eid) == eid)
        return {row.name: row.address for row in (await session.execute(found)).scalars()}


async def ensure_contracts(eid: int) -> ChainContracts:
    """Deploy missing contracts, including those in the table that the chain does not have, and apply the settings to
    the factory's terms. Raises SignumError that says what the operator must do."""
    agent = await operator()
    have = {name: address for name, address in (await _recorded(eid)).items() if await _is_there(eid, address)}
    if node_urls.is_embedded(eid):
        await anvil.fund(eid, agent)
        await _deploy_missing(eid, agent, have, ("endpoint", "quote_token"))
    else:
        await _take_named(eid, have)
        missing = [_creation(name, eid, agent, have) for name in OURS if name not in have]
        await funding.check(await connect(eid), agent, missing)
    await _deploy_missing(eid, agent, have, OURS)
    await factory_terms.keep(eid, have["market_factory"], agent, have.get("quote_token"))
    async with db.worker() as session:
        ours = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
        await session.execute(ours.values(is_signum_deployed=True))
    return ChainContracts(have["registry"], have["endpoint"], have["market_factory"], have.get("quote_token"))


async def _is_there(eid: int, address: str) -> bool:
    return await (await connect(eid)).has_code(address)


async def _take_named(eid: int, have: dict[str, str]) -> None:
    """Check the configured third-party contracts on a public chain, and record them."""
    rpc = await connect(eid)
    named = {
        "endpoint": await named_contracts.endpoint(rpc, have.get("endpoint")),
        "quote_token": await named_contracts.quote_token(rpc, have.get("quote_token")),
    }
    for name, address in named.items():
        if address is not None and have.get(name) != address:
            await _record(eid, name, address, None, None)
            have[name] = address


async def _deploy_missing(eid: int, agent: str, have: dict[str, str], names: Sequence[str]) -> None:
    for name in names:
        if name not in have:
            have[name] = await _deploy(eid, name, _creation(name, eid, agent, have), agent)


def _creation(name: str, eid: int, agent: str, have: Mapping[str, str]) -> Call:
    match name:
        case "endpoint":
            return creation("LocalEndpoint", eid, agent)
        case "quote_token":
            return creation("TestUSD", agent)
        case "registry":
            return creation("AttestationRegistry", agent)
        case _:
            return creation("MarketFactory", agent, agent, have.get("quote_token", ZERO_ADDRESS))


async def _deploy(eid: int, name: str, call: Call, agent: str) -> str:
    intent = call.intent(f"deploy:{eid}:{name}", eid=eid, signer=agent, label=f"deploy {name}")
    outcome = await execute(intent)
    if not await _is_there(eid, outcome.created):
        raise BadRequest(f"The contract {name} was deployed on the chain {eid}, but has no code.")
    await _record(eid, name, outcome.created, outcome.tx_hash, outcome.block_number)
    return outcome.created


async def _record(eid: int, name: str, address: str, tx_hash: str | None, block_number: int | None) -> None:
    row = ChainContractRow(chain_eid=eid, name=name, address=address, tx_hash=tx_hash, block_number=block_number)
    values = row.model_dump(include={"address", "tx_hash", "block_number"})
    fresh = insert(ChainContractRow).values(**row.model_dump())
    async with db.worker() as session:
        await session.execute(fresh.on_conflict_do_update(index_elements=["chain_eid", "name"], set_=values))
    runtime.part(Recorded).addresses.pop(eid, None)
