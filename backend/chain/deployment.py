"""Our contracts on a chain, deployed once by the operator and found again in the registry's table."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain import devnet, endpoints
from backend.chain.calls import Call, creation
from backend.chain.rpc import connect
from backend.chain.transactions import execute
from backend.chain.wallet_provider import provider
from backend.chains.models import ChainContractRow, ChainRow
from backend.errors import BadRequest

PUBLIC_ENDPOINTS = {
    30101: "0x1a44076050125825900e736c501f859c50fE728c",
    30184: "0x1a44076050125825900e736c501f859c50fE728c",
    30367: "0x3A73033C0b1407574C76BdBAc67f126f6b4a9AA9",
    40161: "0x6EDCE65403992e310A62460808c4b910D972f10f",
    40267: "0x6EDCE65403992e310A62460808c4b910D972f10f",
    40362: "0xf9e1815F151024bDE4B7C10BAC10e8Ba9F6b53E1",
}
"""The messaging endpoints that LayerZero deployed; on embedded chains we deploy our own."""


@dataclass(frozen=True, slots=True)
class ChainContracts:
    """Addresses of our contracts on a chain; a public chain has no quote token of ours."""

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
    """Deploy what is not there yet, also what the table names but the chain does not have."""
    agent = await operator()
    if endpoints.is_embedded(eid):
        await devnet.fund(eid, agent)
    recorded = await _recorded(eid)
    have = {name: address for name, address in recorded.items() if await _is_there(eid, address)}
    if "endpoint" not in have:
        have["endpoint"] = await _endpoint(eid, agent)
    if "registry" not in have:
        have["registry"] = await _deploy(eid, "registry", creation("AttestationRegistry", agent), agent)
    if "quote_token" not in have and endpoints.is_embedded(eid):
        have["quote_token"] = await _deploy(eid, "quote_token", creation("TestUSD", agent), agent)
    if "market_factory" not in have:
        quote = have.get("quote_token", "0x" + "0" * 40)
        call = creation("MarketFactory", agent, agent, quote)
        have["market_factory"] = await _deploy(eid, "market_factory", call, agent)
    async with db.worker() as session:
        ours = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
        await session.execute(ours.values(is_signum_deployed=True))
    return ChainContracts(have["registry"], have["endpoint"], have["market_factory"], have.get("quote_token"))


async def _is_there(eid: int, address: str) -> bool:
    return await (await connect(eid)).has_code(address)


async def _endpoint(eid: int, agent: str) -> str:
    if endpoints.is_embedded(eid):
        return await _deploy(eid, "endpoint", creation("LocalEndpoint", eid, agent), agent)
    address = PUBLIC_ENDPOINTS.get(eid)
    if address is None or not await _is_there(eid, address):
        raise BadRequest(f"No messaging endpoint is known on the chain {eid}.")
    await _record(eid, "endpoint", address, None, None)
    return address


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
