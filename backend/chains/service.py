"""Chains: the chain list, and the chains that an organization uses."""

import asyncio
from collections import defaultdict
from dataclasses import asdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.auth.principal import Context
from backend.chain import alarms
from backend.chain.chain_models import ChainContractRow, ChainRow
from backend.chain.rpc import durations
from backend.chain.rpc.terms import terms_of
from backend.chains import new_activity, paths, quote_currencies, rules
from backend.chains.models import OrganizationChainRow
from backend.chains.schemas import BridgePath, Chain, ChainAlarm, OrganizationChain, Terms
from backend.core import db
from backend.core.changes import publish
from backend.core.db import new_id, now
from backend.core.errors import BadRequest, Conflict, NotFound
from backend.core.fields import Environment, Network, VmType
from backend.core.pagination import where_given
from backend.core.recorded_time import recorded_now

CHAINS = sa.inspect(ChainRow).local_table
ORDER = (CHAINS.c.priority, CHAINS.c.display_name)


async def list_chains(
    session: AsyncSession, environment: Environment | None, vm_type: VmType | None, deployed: bool | None
) -> list[Chain]:
    """Return every chain of the chain list that matches the filters, by priority."""
    query = sa.select(CHAINS).order_by(*ORDER)
    query = where_given(query, (CHAINS.c.environment, environment), (CHAINS.c.vm_type, vm_type))
    if deployed is not None:
        query = query.where(CHAINS.c.is_signum_deployed.is_(deployed))
    return [Chain(**_columns(row)) for row in await session.execute(query)]


async def by_eid(session: AsyncSession, eid: int, pointer: str | None = "/chain_eid") -> Any:
    """Return the chain with an endpoint ID, as a row of columns. 400 if it is unknown."""
    row = (await session.execute(sa.select(CHAINS).where(CHAINS.c.xchain_eid == eid))).one_or_none()
    if row is None:
        raise BadRequest(f"There is no chain with the endpoint ID {eid} in the chain list.", pointer=pointer)
    return row


async def usable(context: Context, eid: int, pointer: str | None = "/chain_eid") -> Any:
    """Return a chain that the request may operate on: 400 if it is unknown, not an EVM chain, or on the other
    network."""
    row = await by_eid(context.session, eid, pointer)
    rules.check_usable(row.display_name, row.vm_type, row.environment, context.network, pointer)
    return row


async def check_network(context: Context, *eids: int) -> None:
    """Raise 400 if a chain of the resource belongs to the other network than the credential or organization."""
    for eid in eids:
        await usable(context, eid, None)


async def enabled(session: AsyncSession, organization_id: UUID, network: Network | None = None) -> list[Any]:
    """Return the chains an organization has enabled (of one network, if given), by priority, as rows of columns."""
    query = (
        sa.select(CHAINS)
        .join(OrganizationChainRow, col(OrganizationChainRow.chain_id) == CHAINS.c.id)
        .where(col(OrganizationChainRow.organization_id) == organization_id)
        .order_by(*ORDER)
    )
    if network is not None:
        query = query.where(CHAINS.c.environment.in_(rules.environments(network)))
    return list(await session.execute(query))


async def usable_names(context: Context) -> dict[UUID, str]:
    """Return the names of the EVM chains of the request's network, by ID, by priority."""
    query = sa.select(CHAINS.c.id, CHAINS.c.display_name).where(
        CHAINS.c.vm_type == VmType.EVM, CHAINS.c.environment.in_(rules.environments(context.network))
    )
    return {row.id: row.display_name for row in await context.session.execute(query.order_by(*ORDER))}


async def contracts(session: AsyncSession) -> dict[int, dict[str, str]]:
    """Return endpoint ID to the addresses of our contracts there, by name."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    query = sa.select(col(ChainContractRow.chain_eid), col(ChainContractRow.name), col(ChainContractRow.address))
    for eid, name, address in await session.execute(query):
        found[eid][name] = address
    return found


async def of_network(session: AsyncSession, network: Network) -> list[Any]:
    """Return every chain of a network, by priority, as rows of columns."""
    query = sa.select(CHAINS).where(CHAINS.c.environment.in_(rules.environments(network))).order_by(*ORDER)
    return list(await session.execute(query))


async def for_organization(context: Context) -> list[OrganizationChain]:
    """Return every chain of the organization's network, enabled or not, with the contracts there."""
    chosen = {c.id for c in await enabled(context.session, context.organization_id)}
    addresses = await contracts(context.session)
    rows = await of_network(context.session, context.network)
    leaving, busy = await paths.of_chains(context, rows), await new_activity.in_progress(context)
    async with db.paused(context.session):
        open_ones = await _alarms()
        shown = (_shown(row, row.id in chosen, addresses[row.xchain_eid], open_ones[row.xchain_eid]) for row in rows)
        found = await asyncio.gather(*shown)
    return [_with(chain, leaving.get(chain.xchain_eid or 0, []), busy) for chain in found]


def _with(chain: OrganizationChain, leaving: list[BridgePath], busy: dict[int, int]) -> OrganizationChain:
    more = {"paths": leaving, "requests_in_progress": busy.get(chain.xchain_eid or 0, 0)}
    return chain.model_copy(update=more)


async def _alarms() -> dict[int, list[ChainAlarm]]:
    """Return endpoint ID to its open alarms. Their subjects may belong to one organization and are omitted."""
    found: dict[int, list[ChainAlarm]] = defaultdict(list)
    async with db.worker() as session:
        for row in await alarms.list_open(session):
            found[row.chain_eid].append(ChainAlarm(kind=row.kind, detail=row.detail, since=row.created_at))
    return found


async def enable(context: Context, chain_id: UUID) -> OrganizationChain:
    """Enable a chain for the organization; repeating it changes nothing."""
    row = await entry(context, chain_id)
    if not row.is_signum_deployed:
        why = f" {row.missing}" if row.missing else ""
        raise Conflict(f"Signum's contracts are not deployed on {row.display_name} in this installation.{why}")
    shown = await _looked_at(context, row, True)
    values = {"organization_id": context.organization_id, "chain_id": chain_id}
    fresh = insert(OrganizationChainRow).values(
        id=new_id(), created_at=recorded_now(), updated_at=recorded_now(), **values
    )
    made = await context.session.execute(fresh.on_conflict_do_nothing().returning(col(OrganizationChainRow.id)))
    if made.first() is not None:
        await _publish(context, row, "chain.enabled", is_enabled=True)
    return shown


async def disable(context: Context, chain_id: UUID) -> OrganizationChain:
    """Disable a chain for the organization: nothing new starts there, requests in progress finish, and existing
    resources stay."""
    row = await entry(context, chain_id)
    shown = await _looked_at(context, row, False)
    taken = sa.delete(OrganizationChainRow).where(
        col(OrganizationChainRow.organization_id) == context.organization_id,
        col(OrganizationChainRow.chain_id) == chain_id,
    )
    if (await context.session.execute(taken.returning(col(OrganizationChainRow.id)))).first() is not None:
        await _publish(context, row, "chain.disabled", is_enabled=False)
    return shown


async def _publish(context: Context, row: Any, action: str, *, is_enabled: bool) -> None:
    facts = {"xchain_eid": row.xchain_eid, "display_name": row.display_name, "enabled": True}
    before, after = (None, facts) if is_enabled else (facts, None)
    await publish(context.session, context.organization_id, action, ("chain", row.id), before, after)


async def entry(context: Context, chain_id: UUID) -> Any:
    """Return a chain of the organization's network, as a row of columns. 404 if it is unknown, 400 if it belongs to
    another network or is not an EVM chain."""
    row = (await context.session.execute(sa.select(CHAINS).where(CHAINS.c.id == chain_id))).one_or_none()
    if row is None:
        raise NotFound("There is no chain with this ID in the chain list.")
    rules.check_usable(row.display_name, row.vm_type, row.environment, context.network)
    return row


def _columns(row: Any) -> dict[str, Any]:
    status, error = rules.state(row.status, row.last_error, row.checked_at, now())
    return {**row._mapping, "id": str(row.id), "status": status, "last_error": error}


async def _looked_at(context: Context, row: Any, is_enabled: bool) -> OrganizationChain:
    """Return the chain as it will be shown; called before anything is written, because its node is queried."""
    addresses = (await contracts(context.session))[row.xchain_eid]
    busy = await new_activity.in_progress(context)
    async with db.paused(context.session):
        chain = await _shown(row, is_enabled, addresses, (await _alarms())[row.xchain_eid])
    return _with(chain, [], busy)


async def _shown(
    row: Any, is_enabled: bool, addresses: dict[str, str], open_alarms: list[ChainAlarm]
) -> OrganizationChain:
    currency = await quote_currencies.terms(row.xchain_eid, addresses.get("quote_token"))
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
