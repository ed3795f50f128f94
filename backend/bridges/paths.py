"""The path of a bridge: whether enough DVNs verify its packets, and its settings on both tokens."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.assets.models import DeploymentRow
from backend.assets.transaction_step import write
from backend.bridges import rules
from backend.chain.bindings import token
from backend.chain.chain_models import ChainRow
from backend.chain.deployment.contracts import contracts_of
from backend.chain.layerzero import paths, verifiers
from backend.chain.layerzero.paths import Receiving, Sending
from backend.chain.models import TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.transactions.execution import find
from backend.core import db
from backend.core.db import now
from backend.core.errors import Conflict
from backend.core.fields import Environment, timestamp
from backend.requests.runs import Run, StepNotes


async def check(session: AsyncSession, source_eid: int, destination_eid: int) -> None:
    """Raise 409 if the path includes a mainnet and requires fewer than two DVNs in one of its directions. Both
    directions count: the token at either end mints what the verifiers confirm."""
    chains = await chains_of(session, source_eid, destination_eid)
    if not any(chain.environment is Environment.MAINNET for chain in chains.values()):
        return
    for one, other in ((source_eid, destination_eid), (destination_eid, source_eid)):
        names = (chains[one].display_name, chains[other].display_name)
        verifiers.check_verifiers(paths.required_dvns(one, other), names, (one, other))


async def check_open(
    session: AsyncSession, source: DeploymentRow, destination: DeploymentRow | None, amount: int
) -> None:
    """Raise 409 with its resolution if the issuer paused the path, or the remaining limit is too low, at either end."""
    ends = [(source, destination.chain_eid), (destination, source.chain_eid)] if destination else []
    chains = await chains_of(session, *(row.chain_eid for row, _ in ends))
    found = [(row, other) for row, other in ends if row.token_address]
    asset_path = f"/orgs/{source.organization_id}/assets/{source.asset_id}"
    async with db.paused(session):
        states = [await token.path(row.chain_eid, str(row.token_address), other) for row, other in found]
    for (row, other), state in zip(found, states, strict=True):
        names = (chains[row.chain_eid].display_name, chains[other].display_name)
        path = rules.Path(names, (row.chain_eid, other), asset_path)
        rules.check_open(state.is_paused, state.available if state.window else None, amount, path)


async def notes(session: AsyncSession, source_eid: int, destination_eid: int) -> list[str]:
    """Return the warnings of a plan about a path that a mainnet would not allow."""
    if node_urls.is_embedded(source_eid) or paths.required_dvns(source_eid, destination_eid) >= verifiers.LEAST_DVNS:
        return []
    chains = await chains_of(session, source_eid, destination_eid)
    return [verifiers.few_verifiers(chains[source_eid].display_name, chains[destination_eid].display_name)]


async def chains_of(session: AsyncSession, *eids: int) -> dict[int, Any]:
    """Return chains by endpoint ID: their names, environments and currencies."""
    columns = (ChainRow.xchain_eid, ChainRow.display_name, ChainRow.environment, ChainRow.native_currency_symbol)
    rows = await session.execute(sa.select(*map(col, columns)).where(col(ChainRow.xchain_eid).in_(eids)))
    return {row.xchain_eid: row for row in rows}


def are_kept(one: int, other: int) -> bool:
    """Return whether a path can be configured: on public chains, and where the settings name it."""
    is_named = paths.of(one, other) is not None or paths.of(other, one) is not None
    return is_named or not node_urls.is_embedded(one)


async def configure(run: Run, step: StepNotes, row: DeploymentRow, other: DeploymentRow) -> None:
    """Configure a token's end of the path as in the settings, and read it back. This happens before the tokens set each
    other as peers, so that no packet is accepted from other verifiers. Raises Conflict if the chain holds another
    configuration."""
    eid, remote = row.chain_eid, other.chain_eid
    if not are_kept(eid, remote):
        return
    assert row.token_address is not None
    at = (await contracts_of(eid)).endpoint
    calls = await paths.changes(eid, at, row.token_address, remote)
    if calls:
        owner = await token.owner(eid, row.token_address)
        await together(*(_write(run, step, name, call, eid, remote, owner) for name, call in calls.items()))
        left = await paths.changes(eid, at, row.token_address, remote)
        if left:
            raise Conflict(f"The path's configuration on chain differs from what was written: {', '.join(left)}.")
    await _note(run, row, remote, *await paths.both(eid, at, row.token_address, remote))


async def _write(run: Run, step: StepNotes, name: str, call: Any, eid: int, remote: int, owner: str) -> None:
    key = f"path:{remote}:{name}"
    before = await find(run.key(key, eid))
    if before is not None and before.status is TransactionStatus.CONFIRMED:
        key = f"{key}.{run.attempt}"  # written in an earlier attempt, and changed since
    await write(run, step, call, key, eid=eid, signer=owner, label=f"set {name.replace('-', ' ')}")


async def _note(run: Run, row: DeploymentRow, remote: int, sends: Sending, receives: Receiving) -> None:
    async with run.transaction() as session:
        mine = await session.get_one(DeploymentRow, row.id, with_for_update=True)
        mine.paths = {**mine.paths, str(remote): shown(sends, receives)}


def shown(sends: Sending, receives: Receiving) -> dict[str, Any]:
    """Return the configuration read from a token's end of a path, in the row's format."""
    return {
        "sends": _end(sends) | {"executor": sends.executor, "enforced_options": sends.options},
        "receives": _end(receives),
        "read_at": timestamp(now()),
    }


def _end(end: Sending | Receiving) -> dict[str, Any]:
    return {
        "library": end.library,
        "is_default_library": not end.is_pinned,
        "confirmations": end.verifiers.confirmations,
        "required_dvns": list(end.verifiers.required),
        "optional_dvns": list(end.verifiers.optional),
        "optional_threshold": end.verifiers.threshold,
    }


async def together(*works: Coroutine[Any, Any, None]) -> None:
    """Run all concurrently. If one fails, the others end before its error is raised: nothing continues in the
    background after a failed step. (A task group would wrap the error, and treat a cancelled child as done.)"""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
