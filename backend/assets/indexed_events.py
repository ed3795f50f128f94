"""Events of the assets' tokens: transfers, whose sum is the cap table, the current rules, pauses, and the markets that
may settle."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import DeploymentRow, RuleSetRow
from backend.chain.abi.outcome import Log
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.indexer import block_spans, state_events
from backend.chain.indexer.block_spans import Span
from backend.chain.models import StateEventRow, TokenBalanceRow, TokenTransferRow
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.daily_totals import tokens as daily_totals

_PAUSES = ("Paused", "Unpaused")
_STATES = (*_PAUSES, "VenueSet")
_KEPT = (*_STATES, "Frozen")
"""Events that replace a state. Freezes are read by block only, for the cap table."""
_FACTS: dict[type[TokenTransferRow] | type[RuleSetRow], Sequence[str]] = {
    TokenTransferRow: ("from_address", "to_address", "amount"),
    RuleSetRow: ("version", "rules"),
}
"""The fields that must match the logs."""
_MOVED = tuple(
    col(getattr(TokenTransferRow, name)) for name in ("asset_id", "created_at", "from_address", "to_address")
)
_RIGHT_BALANCES = sa.text("""
  with moved as (
    select organization_id, to_address as address, amount from token_transfers
    where asset_id = :asset and chain_eid = :eid
    union all
    select organization_id, from_address, -amount from token_transfers where asset_id = :asset and chain_eid = :eid
    union all
    select organization_id, address, 0 from token_balances where asset_id = :asset and chain_eid = :eid
  ),
  summed as (select organization_id, address, sum(amount) as balance from moved group by 1, 2 order by 2)
  insert into token_balances as b (organization_id, asset_id, chain_eid, address, balance)
  select organization_id, :asset, :eid, address, balance from summed
  on conflict (asset_id, chain_eid, address) do update set balance = excluded.balance
    where b.balance <> excluded.balance
  returning address
""")
"""Writes what differs from the sums of the transfers."""
EventRow = TokenTransferRow | RuleSetRow | StateEventRow


class Transfers:
    """The stream of `Transfer`, `RulesSet`, `Paused`, `Unpaused`, `VenueSet` and `Frozen` events of every token."""

    name = "transfers"

    def contracts(self, eid: int) -> sa.Select[Any, Any]:
        """Return the query of every token on the chain."""
        return sa.select(col(DeploymentRow.token_address), col(DeploymentRow.block_number)).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).is_not(None)
        )

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Insert new events, and set the state of each affected token."""
        owners = {
            str(row.token_address): row for row in await _deployments(session, eid, {log.address for log in logs})
        }
        rows = [
            row for log in logs if log.address in owners and (row := _row(eid, log, owners[log.address])) is not None
        ]
        moved = [row for row in rows if isinstance(row, TokenTransferRow)]
        new = await state_events.insert_new(session, moved)
        if new:
            await daily_totals.refresh(session, moved)
        for kind in (RuleSetRow, StateEventRow):
            new += await state_events.insert_new(session, [row for row in rows if isinstance(row, kind)])
        changed = {row.address for row in rows if isinstance(row, StateEventRow) and row.name in _STATES}
        await _set_states(session, eid, [owners[address] for address in changed])
        if new:
            await _set_supplies(session, [owner for owner in owners.values() if _is_minted(owner, rows)])
        return new

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Delete the events above a block, and set the state of each affected token."""
        await session.execute(
            sa.delete(RuleSetRow).where(col(RuleSetRow.chain_eid) == eid, col(RuleSetRow.block_number) > block)
        )
        gone = sa.delete(TokenTransferRow).where(
            col(TokenTransferRow.chain_eid) == eid, col(TokenTransferRow.block_number) > block
        )
        undone = list(await session.execute(gone.returning(*_MOVED)))
        await daily_totals.refresh(session, undone)
        theirs = sa.select(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.asset_id).in_({row.asset_id for row in undone})
        )
        await _set_supplies(session, (await session.scalars(theirs)).all())
        changed = await state_events.forget(session, eid, _KEPT, block)
        await _set_states(session, eid, await _deployments(session, eid, {address for address, _ in changed}))

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Replace the transfers, rules, pause and venues of a token with those of its logs."""
        (owner,) = await _deployments(session, eid, [address])
        rows = [row for log in logs if (row := _row(eid, log, owner)) is not None]
        wrong = 0
        for kind, facts in _FACTS.items():
            theirs = sa.and_(col(kind.chain_eid) == eid, col(kind.asset_id) == owner.asset_id)
            right = [row for row in rows if isinstance(row, kind)]
            gone = await block_spans.delete_wrong(session, theirs, span, right, kind, facts)
            await daily_totals.refresh(session, [row for row in gone if isinstance(row, TokenTransferRow)])
            wrong += len(gone)
        events = [row for row in rows if isinstance(row, StateEventRow)]
        wrong += len(await state_events.delete_wrong(session, eid, address, _KEPT, span, events))
        new = await self.apply(session, eid, logs)
        wrong += len((await session.execute(_RIGHT_BALANCES, {"asset": owner.asset_id, "eid": eid})).all())
        before = _derived(owner)
        await _set_states(session, eid, [owner])
        await _set_supplies(session, [owner])
        return max(wrong, new, before != _derived(owner))


def _derived(row: DeploymentRow) -> tuple[object, ...]:
    """Return the deployment's fields that are derived from its events."""
    return row.paused, row.venues, row.supply


def _is_minted(owner: DeploymentRow, rows: Sequence[EventRow]) -> bool:
    """Return whether some of the rows change a token's supply."""
    transfers = [row for row in rows if isinstance(row, TokenTransferRow) and row.asset_id == owner.asset_id]
    return any(ZERO_ADDRESS in (row.from_address, row.to_address) for row in transfers)


async def _set_supplies(session: db.Write, rows: Sequence[DeploymentRow]) -> None:
    """Set the supply of tokens to mints minus burns."""
    for row in rows:
        row.supply = await _supply(session, row)
    await session.flush()


async def _supply(session: db.Write, row: DeploymentRow) -> int:
    place = (row.asset_id, row.chain_eid, ZERO_ADDRESS)
    burnt = await session.get(TokenBalanceRow, place, populate_existing=True)
    return -(burnt.balance or 0) if burnt else 0


async def _deployments(session: db.Write, eid: int, addresses: Collection[str]) -> Sequence[DeploymentRow]:
    found = sa.select(DeploymentRow).where(
        col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).in_(addresses)
    )
    return (await session.scalars(found)).all()


async def _set_states(session: db.Write, eid: int, rows: Sequence[DeploymentRow]) -> None:
    """Set pause and venues of tokens from their newest events."""
    if not rows:
        return
    events = await state_events.newest_of(session, eid, _STATES, [str(row.token_address) for row in rows])
    for row in rows:
        theirs = [event for (address, _), event in events.items() if address == row.token_address]
        row.paused = any(event.name == "Paused" for event in theirs)
        allowed = [event for event in theirs if event.name == "VenueSet" and event.arguments["allowed"]]
        row.venues = [event.subject for event in sorted(allowed, key=lambda e: (e.block_number, e.log_index))]
    await session.flush()


def _row(eid: int, log: Log, owner: DeploymentRow) -> EventRow | None:
    name, values = log.decoded() or ("", {})
    if name in _PAUSES:
        return state_events.event_row(owner.organization_id, eid, log, name, {})
    if name == "Frozen":
        frozen = {"amount": values["amount"]}
        return state_events.event_row(owner.organization_id, eid, log, name, frozen, values["account"])
    if name == "VenueSet":
        allowed = {"allowed": values["allowed"]}
        return state_events.event_row(owner.organization_id, eid, log, name, allowed, values["venue"])
    place: dict[str, Any] = {
        "organization_id": owner.organization_id,
        "asset_id": owner.asset_id,
        "chain_eid": eid,
        "tx_hash": log.tx_hash,
        "log_index": log.log_index,
        "block_number": log.block_number,
    }
    at = datetime.fromtimestamp(log.timestamp, UTC)
    if name == "RulesSet":
        return RuleSetRow(
            created_at=at, version=values["version"], rules=TokenRules.of_abi(values["rules"]).as_dict(), **place
        )
    if name == "Transfer":
        amounts = {"from_address": values["from"], "to_address": values["to"], "amount": values["value"]}
        return TokenTransferRow(created_at=at, **amounts, **place)
    return None
