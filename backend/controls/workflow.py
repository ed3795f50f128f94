"""What is done for an accepted control: its acts on each chain in turn, each told by its event, with the reason."""

from typing import Any

from backend.assets import records
from backend.assets.models import DeploymentRow
from backend.assets.writing import write
from backend.chain import indexer, token
from backend.chain.calls import Call
from backend.chain.models import TransactionStatus
from backend.chain.transactions import find
from backend.controls import calls
from backend.controls.schemas import ControlKind
from backend.errors import Conflict
from backend.workflows import Run, StepNotes, workflow


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
    assert row.token_address is not None
    eid, at = row.chain_eid, row.token_address
    reason = f"Reason: {run.arguments['reason']}" if run.arguments["reason"] else ""
    step.detail = reason
    owner = await token.owner(eid, at)
    call = await _call(run, act, eid, at, owner)
    outcome = await write(run, step, call, act, eid=eid, signer=owner, label=calls.TITLES[act].lower())
    told = calls.told(act, _event(outcome.events(calls.EVENTS[act]), at))
    step.detail = f"{told} {reason}".strip()
    if act in ("minted", "burned"):
        await _note_supply(run, row)
    await indexer.catch_up(eid, outcome.block_number)


async def _call(run: Run, act: str, eid: int, at: str, owner: str) -> Call:
    """The call that was stored in an earlier run, as it was then; else the one for what holds now."""
    before = await find(run.key(act, eid))
    if before is not None and before.status is not TransactionStatus.FAILED:
        return Call(before.to_address, before.data, before.value or 0)
    return await calls.call_of(act, eid, at, owner, run.arguments)


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
