"""What is done for an accepted control: its acts on each chain in turn, each told by its event, with the reason."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from backend.assets import records
from backend.assets.models import DeploymentRow
from backend.assets.writing import write
from backend.chain import indexer, lost_transactions, token
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable
from backend.chain.models import TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.terms import terms_of
from backend.chain.transactions import find
from backend.controls import calls
from backend.controls.schemas import ControlKind
from backend.errors import Conflict
from backend.markets import escrow
from backend.markets.models import MarketRow
from backend.workflows import Run, StepNotes, workflow

MOST_RECOVERIES = 50
"""Transactions of one recovery; each ends up to `escrow.MOST` orders."""


async def control(run: Run) -> None:
    """The acts of the request, on every chain it names."""
    transactions: list[str | None] = []
    for eid in run.arguments["chains"]:
        row = await _token(run, eid)
        for act in run.arguments["acts"]:
            async with run.step(f"{act}_{eid}") as step:
                await _do(run, step, act, row)
            transactions.append(step.tx_hash)
    told = {"acts": run.arguments["acts"], **calls.asked(run.arguments), "tx_hashes": transactions}
    run.tells("control.confirmed", ("asset", run.subject_id), told)


for _kind in ControlKind:
    workflow(f"token.{_kind}")(control)


async def _token(run: Run, eid: int) -> DeploymentRow:
    async with run.transaction() as session:
        for row in records.active(await records.deployments(session, run.subject_id)):
            if row.chain_eid == eid:
                return row
    raise Conflict("The asset has no active token on this chain any more.")


async def _do(run: Run, step: StepNotes, act: str, row: DeploymentRow) -> None:
    """Send an act by the token's owner; the tables and the supply show it when this returns."""
    step.detail = _reason(run)
    if act == "recovered":
        told = await _recover(run, step, row)
    else:
        outcome = await _send(run, step, act, act, row)
        told = calls.told(act, _event(outcome.events(calls.EVENTS[act]), str(row.token_address)))
    step.detail = f"{told} {_reason(run)}".strip()
    if act in ("minted", "burned"):
        await _note_supply(run, row)


def _reason(run: Run) -> str:
    return f"Reason: {run.arguments['reason']}" if run.arguments["reason"] else ""


async def _recover(run: Run, step: StepNotes, row: DeploymentRow) -> str:
    """Everything of the lost wallet, in as many transactions as its open orders need; those that it places meanwhile,
    with a key that somebody may have found, end too."""
    lost, new = run.arguments["lost_address"], run.arguments["new_address"]
    amount = orders = quote = 0
    for number in range(MOST_RECOVERIES):
        key = "recovered" if number == 0 else f"recovered:{number}"
        outcome = await _send(run, step, "recovered", key, row)
        amount += _event(outcome.events("Recovered"), str(row.token_address))["amount"]
        orders += len(outcome.events("OrderStatus"))
        quote += sum(event["amount"] for event in outcome.events("OrdersRecovered"))
        if not any(ids for _, ids in await _open_orders(run, row)):
            return calls.recovered(lost, new, amount, orders, quote)
    raise Conflict(f"{lost} places orders as fast as they are ended. Revoke its attestation, then recover it again.")


async def _open_orders(run: Run, row: DeploymentRow) -> list[tuple[MarketRow, list[int]]]:
    async with run.transaction() as session:
        return await escrow.open_orders(session, run.subject_id, row.chain_eid, run.arguments["lost_address"])


async def _send(run: Run, step: StepNotes, act: str, key: str, row: DeploymentRow) -> Outcome:
    """One transaction of an act; the tables show it when this returns."""
    eid, at = row.chain_eid, str(row.token_address)
    owner = await token.owner(eid, at)
    call = await _call(run, act, key, row, owner)
    outcome = await write(run, step, call, key, eid=eid, signer=owner, label=calls.TITLES[act].lower())
    await indexer.catch_up(eid, outcome.block_number)
    return outcome


async def _call(run: Run, act: str, key: str, row: DeploymentRow, owner: str) -> Call:
    """The call that was stored in an earlier run, as it was then; else the one for what holds now."""
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
    """Return a call whose amount follows from the state of the chain. While a reorganization has transactions of ours,
    that state lacks what they will do again, so it is read anew once they are there. Raises ChainUnavailable."""
    ends = time.monotonic() + lost_transactions.LASTS.total_seconds()
    while True:
        found = await call()
        if act not in calls.CALCULATED or not await lost_transactions.exist(row.chain_eid):
            return found
        if time.monotonic() > ends:
            raise ChainUnavailable(
                f"Transactions that a reorganization of the chain {row.chain_eid} took back are not mined again yet."
            )
        await asyncio.sleep(terms_of(row.chain_eid).block_time)


def _event(events: list[dict[str, Any]], at: str) -> dict[str, Any]:
    """The token's own word that it has happened: the last of its events, as what it does first is undone by it."""
    ours = [e for e in events if e["_address"] == at]
    if not ours:
        raise Conflict("The transaction was mined, but the token does not say that it was done.")
    return ours[-1]


async def _note_supply(run: Run, row: DeploymentRow) -> None:
    assert row.token_address is not None
    supply = await token.total_supply(row.chain_eid, row.token_address)
    async with run.transaction() as session:
        mine: DeploymentRow = await session.get_one(DeploymentRow, row.id)
        mine.supply = supply
