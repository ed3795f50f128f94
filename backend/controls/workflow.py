"""Workflow of an accepted control: its acts on each chain in turn, each confirmed by its event, with the reason."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.assets.models import DeploymentRow
from backend.assets.transaction_step import write
from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import indexer
from backend.chain.models import TransactionStatus
from backend.chain.rpc.terms import terms_of
from backend.chain.transactions import lost_transactions
from backend.chain.transactions.execution import find
from backend.controls import calls, lost_attestations, wording
from backend.controls.rules import SUPPLY
from backend.controls.schemas import ControlKind
from backend.controls.wording import Wording
from backend.core.errors import Conflict
from backend.core.units import grouped
from backend.markets import escrow
from backend.markets.models import MarketRow
from backend.requests.lanes import Lane
from backend.requests.runs import Run, StepNotes
from backend.requests.service import approver_name, kind_of
from backend.requests.workflows import workflow

MOST_RECOVERIES = 50
"""Transactions of one recovery; each cancels up to `escrow.MOST` orders."""


async def control(run: Run) -> None:
    """Run the acts of the request on every chain it names."""
    transactions: list[str | None] = []
    for eid in run.arguments["chains"]:
        row = await _token(run, eid)
        for act in run.arguments["acts"]:
            async with run.step(f"{act}_{eid}") as step:
                await _do(run, step, act, row)
            transactions.append(step.tx_hash)
        if run.arguments.get("revokes"):
            transactions += await _revoke(run, row)
    answer = {"acts": run.arguments["acts"], **calls.requested(run.arguments), "tx_hashes": transactions}
    async with run.transaction() as session:
        answer["control"] = (await kind_of(session, run.request_id)).removeprefix("token.")
        if approver := await approver_name(session, run.request_id):
            answer["approved_by"] = approver
    run.publish("control.confirmed", ("asset", run.subject_id), answer)


for _kind in ControlKind:
    workflow(f"token.{_kind}", lane=Lane.ORDINARY if _kind in SUPPLY else Lane.URGENT)(control)


async def _revoke(run: Run, row: DeploymentRow) -> list[str | None]:
    """Revoke the attestation of a recovered wallet, so that no key of it can use the token again; return the
    transactions."""
    lost, new = run.arguments["lost_address"], run.arguments["new_address"]
    async with run.step(f"{lost_attestations.KEY}_{row.chain_eid}") as step:
        done = await lost_attestations.revoke(run, step, row, lost, new)
        step.detail = f"{done} {await lost_attestations.remaining(run, row, lost)}".strip()
    return [step.tx_hash] if step.tx_hash else []


async def _token(run: Run, eid: int) -> DeploymentRow:
    async with run.transaction() as session:
        for row in records.active(await records.deployments(session, run.subject_id)):
            if row.chain_eid == eid:
                return row
    raise Conflict("The asset no longer has an active token on this chain.")


async def _do(run: Run, step: StepNotes, act: str, row: DeploymentRow) -> None:
    """Send an act from the token's owner; the tables and the supply show it when this returns."""
    step.detail = _reason(run)
    if act == "recovered":
        answer = await _recover(run, step, row)
        if not run.arguments.get("revokes"):
            answer = f"{answer} {await lost_attestations.remaining(run, row, run.arguments['lost_address'])}".strip()
    else:
        outcome = await _send(run, step, act, act, row)
        event = _event(outcome.events(calls.EVENTS[act]), str(row.token_address))
        answer = (await _wording(run, *wording.addresses_of(event))).done(act, event)
    step.detail = f"{answer} {_reason(run)}".strip()


def _reason(run: Run) -> str:
    return f"Reason: {run.arguments['reason']}" if run.arguments["reason"] else ""


async def _recover(run: Run, step: StepNotes, row: DeploymentRow) -> str:
    """Recover everything of the lost wallet, in as many transactions as its open orders need. Orders placed in the
    meantime, perhaps by a thief of the key, are cancelled too."""
    lost, new = run.arguments["lost_address"], run.arguments["new_address"]
    amount = orders = quote = 0
    for number in range(MOST_RECOVERIES):
        key = "recovered" if number == 0 else f"recovered:{number}"
        outcome = await _send(run, step, "recovered", key, row)
        amount += _event(outcome.events("Recovered"), str(row.token_address))["amount"]
        orders += len(outcome.events("OrderStatus"))
        quote += sum(event["amount"] for event in outcome.events("OrdersRecovered"))
        if not any(ids for _, ids in await _open_orders(run, row)):
            words = (await _wording(run, lost, new)).moved(amount, lost, new)
            return words + await _ended(run, row, orders, quote)
    raise Conflict(
        f"{lost} places orders as fast as they are cancelled. Revoke its attestation, then recover it again."
    )


async def _wording(run: Run, *addresses: str) -> Wording:
    async with run.transaction() as session:
        return await wording.of_asset(session, run.organization_id, run.subject_id, addresses)


async def _ended(run: Run, row: DeploymentRow, orders: int, quote: int) -> str:
    """Return what a recovery took out of markets; `quote` is in base units of their currency."""
    if not orders and not quote:
        return ""
    words = f" {orders} open order{'' if orders == 1 else 's'} cancelled"
    if not quote:
        return f"{words}."
    query = sa.select(col(MarketRow.quote_symbol), col(MarketRow.quote_decimals)).where(
        col(MarketRow.asset_id) == run.subject_id,
        col(MarketRow.chain_eid) == row.chain_eid,
        col(MarketRow.quote_decimals).is_not(None),
    )
    async with run.transaction() as session:
        currency = (await session.execute(query.limit(1))).one()
    return f"{words}, and {grouped(quote, currency.quote_decimals)} {currency.quote_symbol} moved."


async def _open_orders(run: Run, row: DeploymentRow) -> list[tuple[MarketRow, list[int]]]:
    async with run.transaction() as session:
        return await escrow.open_orders(session, run.subject_id, row.chain_eid, run.arguments["lost_address"])


async def _send(run: Run, step: StepNotes, act: str, key: str, row: DeploymentRow) -> Outcome:
    """Send one transaction of an act; the tables show it when this returns."""
    eid, at = row.chain_eid, str(row.token_address)
    owner = await token.owner(eid, at)
    call = await _call(run, act, key, row, owner)
    outcome = await write(run, step, call, key, eid=eid, signer=owner, label=calls.LABELS[act])
    await indexer.catch_up(eid, outcome.block_number, outcome.read_at)
    return outcome


async def _call(run: Run, act: str, key: str, row: DeploymentRow, owner: str) -> Call:
    """Return the call stored by an earlier run, otherwise the call for the current state."""
    before = await find(run.key(key, row.chain_eid))
    if before is not None and before.status is not TransactionStatus.FAILED:
        return Call(before.to_address, before.data, before.value or 0)
    arguments = run.arguments
    if act == "recovered":
        held = await escrow.held(await _open_orders(run, row), arguments["lost_address"])
        arguments = arguments | {"orders": escrow.batch(held)}
    at = str(row.token_address)
    return await _calculated(lambda: calls.call_of(act, row.chain_eid, at, owner, arguments), act, row)


async def _calculated(call: Callable[[], Awaitable[Call]], act: str, row: DeploymentRow) -> Call:
    """Return a call whose amount depends on the state of the chain. While a reorg has removed our transactions, that
    state lacks their effects, so it is read again once they are mined again: none may be missing before the read, when
    it could lack one that is mined during it, nor after it. Raises ChainUnavailable."""
    if act not in calls.CALCULATED:
        return await call()
    ends = time.monotonic() + lost_transactions.LASTS.total_seconds()
    while True:
        were_lost = await lost_transactions.exist(row.chain_eid)
        found = await call()
        if not were_lost and not await lost_transactions.exist(row.chain_eid):
            return found
        if time.monotonic() > ends:
            raise ChainUnavailable(
                f"Transactions that a reorganization of the chain {row.chain_eid} removed are not mined again yet."
            )
        await asyncio.sleep(terms_of(row.chain_eid).block_time)


def _event(events: list[dict[str, Any]], at: str) -> dict[str, Any]:
    """Return the token's event that confirms the act: the last one, because it undoes what the act did first."""
    ours = [e for e in events if e["_address"] == at]
    if not ours:
        raise Conflict("The transaction was mined, but the token's event that confirms the act is missing.")
    return ours[-1]
