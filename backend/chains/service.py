"""Chains: the registry, and which of them an organization uses."""

import asyncio
from collections import defaultdict
from dataclasses import asdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend import db
from backend.auth.principal import Context
from backend.chain import alarms, durations
from backend.chain.terms import terms_of
from backend.chains import paths, quotes, rules
from backend.chains.models import ChainContractRow, ChainRow, OrganizationChainRow
from backend.chains.schemas import Chain, ChainAlarm, Environment, OrganizationChain, Terms, VmType
from backend.changes import tell
from backend.db import new_id, now
from backend.errors import BadRequest, Conflict, NotFound
from backend.fields import Network

CHAINS = sa.inspect(ChainRow).local_table
ORDER = (CHAINS.c.priority, CHAINS.c.display_name)


async def registry(
    session: AsyncSession, environment: Environment | None, vm_type: VmType | None, deployed: bool | None
) -> list[Chain]:
    """Every chain of the registry that fits the filters, by priority."""
    query = sa.select(CHAINS).order_by(*ORDER)
    if environment is not None:
        query = query.where(CHAINS.c.environment == environment)
    if vm_type is not None:
        query = query.where(CHAINS.c.vm_type == vm_type)
    if deployed is not None:
        query = query.where(CHAINS.c.is_signum_deployed.is_(deployed))
    return [Chain(**_columns(row)) for row in await session.execute(query)]


async def by_eid(session: AsyncSession, eid: int, pointer: str | None = "/chain_eid") -> Any:
    """The registry's entry of an endpoint id, as a row of columns. 400 where there is none."""
    row = (await session.execute(sa.select(CHAINS).where(CHAINS.c.xchain_eid == eid))).one_or_none()
    if row is None:
        raise BadRequest(f"There is no chain with the endpoint id {eid} in the registry.", pointer=pointer)
    return row


async def usable(context: Context, eid: int, pointer: str | None = "/chain_eid") -> Any:
    """A chain that the request may operate on: 400 where it is unknown, no EVM, or on the other network."""
    row = await by_eid(context.session, eid, pointer)
    rules.check_usable(row.display_name, row.vm_type, row.environment, context.network, pointer)
    return row


async def check_network(context: Context, *eids: int) -> None:
    """400 where a chain of what is operated on is of the other network than the credential or organization."""
    for eid in eids:
        await usable(context, eid, None)


async def enabled(session: AsyncSession, organization_id: UUID, network: Network | None = None) -> list[Any]:
    """The chains an organization has enabled (of one network, where it is given), by priority, as rows of columns."""
    query = (
        sa.select(CHAINS)
        .join(OrganizationChainRow, col(OrganizationChainRow.chain_id) == CHAINS.c.id)
        .where(col(OrganizationChainRow.organization_id) == organization_id)
        .order_by(*ORDER)
    )
    if network is not None:
        query = query.where(CHAINS.c.environment.in_(rules.environments(network)))
    return list(await session.execute(query))


async def is_enabled(session: AsyncSession, organization_id: UUID, eid: int) -> bool:
    """Whether an organization has enabled a chain."""
    return any(chain.xchain_eid == eid for chain in await enabled(session, organization_id))


async def contracts(session: AsyncSession) -> dict[int, dict[str, str]]:
    """Endpoint id to the addresses of our contracts there, by their names."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    query = sa.select(col(ChainContractRow.chain_eid), col(ChainContractRow.name), col(ChainContractRow.address))
    for eid, name, address in await session.execute(query):
        found[eid][name] = address
    return found


async def of_network(session: AsyncSession, network: Network) -> list[Any]:
    """Every chain of a network, by priority, as rows of columns."""
    query = sa.select(CHAINS).where(CHAINS.c.environment.in_(rules.environments(network))).order_by(*ORDER)
    return list(await session.execute(query))


async def for_organization(context: Context) -> list[OrganizationChain]:
    """Every chain of the organization's network, enabled or not, with the contracts there."""
    chosen = {c.id for c in await enabled(context.session, context.organization_id)}
    addresses = await contracts(context.session)
    rows = await of_network(context.session, context.network)
    leaving = await paths.of_chains(context, rows)
    async with db.paused(context.session):
        open_ones = await _alarms()
        shown = (_shown(row, row.id in chosen, addresses[row.xchain_eid], open_ones[row.xchain_eid]) for row in rows)
        found = await asyncio.gather(*shown)
    return [chain.model_copy(update={"paths": leaving.get(chain.xchain_eid or 0, [])}) for chain in found]


async def _alarms() -> dict[int, list[ChainAlarm]]:
    """Endpoint id to its open alarms. Their subjects may be one organization's and are left out."""
    found: dict[int, list[ChainAlarm]] = defaultdict(list)
    async with db.worker() as session:
        for row in await alarms.list_open(session):
            found[row.chain_eid].append(ChainAlarm(kind=row.kind, detail=row.detail, since=row.created_at))
    return found


async def enable(context: Context, chain_id: UUID) -> OrganizationChain:
    """Let the organization use a chain; once more changes nothing."""
    row = await entry(context, chain_id)
    if not row.is_signum_deployed:
        why = f" {row.missing}" if row.missing else ""
        raise Conflict(f"Signum's contracts are not deployed on {row.display_name} in this installation.{why}")
    shown = await _looked_at(context, row, True)
    values = {"organization_id": context.organization_id, "chain_id": chain_id}
    fresh = insert(OrganizationChainRow).values(id=new_id(), created_at=now(), updated_at=now(), **values)
    made = await context.session.execute(fresh.on_conflict_do_nothing().returning(col(OrganizationChainRow.id)))
    if made.first() is not None:
        await _tell(context, row, "chain.enabled", is_enabled=True)
    return shown


async def disable(context: Context, chain_id: UUID) -> OrganizationChain:
    """Take a chain from the organization's; what lives there stays, and nothing new is begun."""
    row = await entry(context, chain_id)
    shown = await _looked_at(context, row, False)
    taken = sa.delete(OrganizationChainRow).where(
        col(OrganizationChainRow.organization_id) == context.organization_id,
        col(OrganizationChainRow.chain_id) == chain_id,
    )
    if (await context.session.execute(taken.returning(col(OrganizationChainRow.id)))).first() is not None:
        await _tell(context, row, "chain.disabled", is_enabled=False)
    return shown


async def _tell(context: Context, row: Any, action: str, *, is_enabled: bool) -> None:
    facts = {"xchain_eid": row.xchain_eid, "display_name": row.display_name, "enabled": True}
    before, after = (None, facts) if is_enabled else (facts, None)
    await tell(context.session, context.organization_id, action, ("chain", row.id), before, after)


async def entry(context: Context, chain_id: UUID) -> Any:
    """A chain of the organization's network, as a row of columns. 404 where there is none, 400 where it is of another
    network or no EVM."""
    row = (await context.session.execute(sa.select(CHAINS).where(CHAINS.c.id == chain_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such chain in the registry.")
    rules.check_usable(row.display_name, row.vm_type, row.environment, context.network)
    return row


def _columns(row: Any) -> dict[str, Any]:
    status, error = rules.state(row.status, row.last_error, row.checked_at, now())
    return {**row._mapping, "id": str(row.id), "status": status, "last_error": error}


async def _looked_at(context: Context, row: Any, is_enabled: bool) -> OrganizationChain:
    """The chain as it will be shown; before anything is written, as its node is asked."""
    addresses = (await contracts(context.session))[row.xchain_eid]
    async with db.paused(context.session):
        return await _shown(row, is_enabled, addresses, (await _alarms())[row.xchain_eid])


async def _shown(
    row: Any, is_enabled: bool, addresses: dict[str, str], open_alarms: list[ChainAlarm]
) -> OrganizationChain:
    currency = await quotes.terms(row.xchain_eid, addresses.get("quote_token"))
    return OrganizationChain(
        **_columns(row),
        terms=_terms(row) if row.vm_type is VmType.EVM else None,
        alarms=open_alarms,
        enabled=is_enabled,
        market_factory_address=addresses.get("market_factory"),
        attestation_registry_address=addresses.get("registry"),
        endpoint_address=addresses.get("endpoint"),
        quote_token_address=addresses.get("quote_token"),
        quote_symbol=currency.symbol if currency else None,
        quote_decimals=currency.decimals if currency else None,
    )


def _terms(row: Any) -> Terms:
    terms = terms_of(row.xchain_eid)
    return Terms(summary=durations.success(row.xchain_eid, terms), **asdict(terms))
