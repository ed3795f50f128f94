"""Our contracts on a chain, deployed once by the operator and found again in the registry's table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain import devnet, endpoints, factory, factory_terms, means
from backend.chain import named as named_contracts
from backend.chain.calls import Call, creation
from backend.chain.rpc import connect
from backend.chain.transactions import execute
from backend.chain.wallet_provider import provider
from backend.chains.models import ChainContractRow, ChainRow
from backend.errors import BadRequest

OURS = ("registry", "market_factory")
"""What we deploy on every chain, in this order; on embedded ones an endpoint and play money before them."""


@dataclass(frozen=True, slots=True)
class ChainContracts:
    """Addresses of what serves a chain. `quote_token` is None on a public chain where the settings name none."""

    registry: str
    endpoint: str
    market_factory: str
    quote_token: str | None


async def operator() -> str:
    """The agent's address: owner of registry, factory, embedded endpoint and quote token; it deploys and relays."""
    return await provider().operator()


async def contracts_of(eid: int) -> ChainContracts:
    """Our contracts on a chain. Raises BadRequest where they are not deployed."""
    found = await _recorded(eid)
    try:
        return ChainContracts(found["registry"], found["endpoint"], found["market_factory"], found.get("quote_token"))
    except KeyError:
        await connect(eid)  # says what is wrong with the chain itself, where something is
        raise BadRequest(f"Our contracts are not deployed on the chain with the endpoint id {eid}.") from None


async def contract_address(eid: int, name: str) -> str | None:
    """The address of one contract: registry, endpoint, market_factory or quote_token."""
    return (await _recorded(eid)).get(name)


async def _recorded(eid: int) -> dict[str, str]:
    async with db.worker() as session:
        found = sa.select(ChainContractRow).where(col(ChainContractRow.chain_eid) == eid)
        return {row.name: row.address for row in (await session.execute(found)).scalars()}


async def ensure_contracts(eid: int) -> ChainContracts:
    """Deploy what is not there yet, also what the table names but the chain does not have, and keep the factory's terms
    as the settings have them. Raises SignumError saying what the operator has to do, where there is something."""
    agent = await operator()
    have = {name: address for name, address in (await _recorded(eid)).items() if await _is_there(eid, address)}
    if endpoints.is_embedded(eid):
        await devnet.fund(eid, agent)
        await _deploy_missing(eid, agent, have, ("endpoint", "quote_token"))
    else:
        await _take_named(eid, have)
        missing = [_creation(name, eid, agent, have) for name in OURS if name not in have]
        await means.check(await connect(eid), agent, missing)
    await _deploy_missing(eid, agent, have, OURS)
    await factory_terms.keep(eid, have["market_factory"], agent, have.get("quote_token"))
    async with db.worker() as session:
        ours = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
        await session.execute(ours.values(is_signum_deployed=True))
    return ChainContracts(have["registry"], have["endpoint"], have["market_factory"], have.get("quote_token"))


async def _is_there(eid: int, address: str) -> bool:
    return await (await connect(eid)).has_code(address)


async def _take_named(eid: int, have: dict[str, str]) -> None:
    """What others deployed on a public chain: checked there, and recorded once it is right."""
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
            return creation("MarketFactory", agent, agent, have.get("quote_token", factory.ZERO))


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
