"""Workflows of an accepted asset: its first token, and changes of its rules on every chain."""

from collections.abc import Sequence

from backend.assets import cap_moves, caps, deployment, order_cancellations, records, service, states
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import NOTHING, Held, Terms
from backend.assets.schemas import AssetStatus
from backend.assets.terms import terms_of, token_rules
from backend.assets.transaction_step import write
from backend.chain.bindings import token
from backend.chain.errors import Undone
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import Denied, SignumError
from backend.core.units import grouped
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow


async def asset_failed(run: Run, error: SignumError) -> None:
    """Mark the asset as failed: it could not be deployed."""
    eid = int(run.arguments["chain_eid"])
    await deployment.failed(run, run.subject_id, eid)
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, run.subject_id, lock=True)
        if asset.status is AssetStatus.DEPLOYING or isinstance(error, Undone):
            # A denied asset never existed: it is archived, and its symbol is available again.
            status, word = (
                (AssetStatus.ARCHIVED, "archived") if isinstance(error, Denied) else (AssetStatus.FAILED, "failed")
            )
            await states.change(session, asset, f"asset.{word}", status=status, failure=error.detail)


@workflow("asset.deploy", on_failure=asset_failed)
async def deploy(run: Run) -> None:
    """Deploy the token, set its rules and mint its supply; each is read back before the asset becomes active."""
    eid = int(run.arguments["chain_eid"])
    asset = await _begin(run)
    if asset is None:
        return
    async with run.step("token_created") as step:
        row = await deployment.create_token(run, step, asset.id, eid)
        step.detail = row.token_address
    async with run.step("rules_set") as step:
        await _first_rules(run, step, asset, row)
    if asset.initial_supply:
        async with run.step("supply_minted") as step:
            await _mint(run, step, asset, row)
    async with run.step("asset_active") as step:
        row = await deployment.activate(run, row.id, block_number=await (await connect(eid)).height())
        step.detail = f"{grouped(row.supply or 0, asset.decimals)} {asset.symbol} in the treasury."
        await _set_active(run)


async def _begin(run: Run) -> AssetRow | None:
    """Return the asset, marked as deploying; None if it was archived in the meantime."""
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, run.subject_id, lock=True)
        if asset.status is AssetStatus.ARCHIVED:
            return None
        if asset.status is AssetStatus.FAILED:
            await states.change(session, asset, status=AssetStatus.DEPLOYING, failure=None)
        return asset


async def _first_rules(run: Run, step: StepNotes, asset: AssetRow, row: DeploymentRow) -> None:
    rules = token_rules(terms_of(asset), [row.chain_eid], row.chain_eid)
    await deployment.set_rules(run, step, row, rules, "rules")
    step.detail = "Read back from the chain."


async def _mint(run: Run, step: StepNotes, asset: AssetRow, row: DeploymentRow) -> None:
    assert row.token_address is not None
    assert asset.initial_supply
    eid, at = row.chain_eid, row.token_address
    call = token.mint(at, await token.treasury(eid, at), asset.initial_supply)
    await write(run, step, call, "mint", eid=eid, signer=await token.owner(eid, at), label=f"mint {asset.symbol}")


async def update_failed(run: Run, error: SignumError) -> None:
    """Record that a change did not reach every chain: the asset stays usable and shows the error. A denied change did
    nothing, whether before a second person approved it or because its maker was revoked before it started."""
    await _settle(run, **({} if isinstance(error, Denied) else {"failure": error.detail}))


@workflow("asset.update", on_failure=update_failed, on_approval=service.queue)
async def update(run: Run) -> None:
    """Write this request's fields to the asset, set its rules on every chain that has the token, and read each back
    before the asset is active again."""
    terms, on_chain = await _started(run)
    async with run.transaction() as session:
        rows = await records.deployments(session, run.subject_id)
    shared = caps.are_set(terms) and len(records.active(rows)) > 1
    if on_chain:
        await _write(run, terms, rows, await caps.held(run, run.subject_id) if shared else NOTHING)
    for row in records.active(rows):
        if row.chain_eid in run.arguments.get("cancelling", []):
            async with run.step(order_cancellations.step_name(row.chain_eid)) as step:
                await order_cancellations.cancel(run, step, row)
    async with run.step("asset_active") as step:
        if on_chain and shared:
            await caps.share_out(run, step, run.subject_id, terms, "share")
        await _settle(run, **({"failure": None} if on_chain else {}))


@workflow("asset.share_caps", on_failure=update_failed, on_approval=cap_moves.queue)
async def share_caps(run: Run) -> None:
    """Write the chosen shares of the caps to the asset, and set them on every chain."""
    async with run.transaction() as session:
        terms = await cap_moves.apply(session, run.request_id)
        asset = await records.asset(session, run.organization_id, run.subject_id, lock=True)
        if run.attempt > 1 and asset.status is AssetStatus.ACTIVE:
            await states.change(session, asset, status=AssetStatus.UPDATING, failure=None)
    await caps.move(run, run.subject_id, terms)
    async with run.step("asset_active"):
        await _settle(run, failure=None)


async def _write(run: Run, terms: Terms, rows: Sequence[DeploymentRow], held: Held) -> None:
    chains = records.sharing(rows)
    wanted = {row.chain_eid: token_rules(terms, chains, row.chain_eid, held) for row in records.active(rows)}
    for row in caps.lower_first(records.active(rows), wanted):
        async with run.step(f"rules_{row.chain_eid}") as step:
            written = await deployment.set_rules(run, step, row, wanted[row.chain_eid], "rules")
            step.detail = "Read back from the chain." if written else "These rules are already set."


async def _started(run: Run) -> tuple[Terms, bool]:
    """Return the rules of this request, and whether chains get them; in a later attempt the asset's own, which newer
    requests may have changed."""
    async with run.transaction() as session:
        asset, written = await service.apply(session, run.request_id)
        if run.attempt == 1:
            return Terms.model_validate(written["terms"]), written["on_chain"]
        if asset.status is AssetStatus.ACTIVE:
            await states.change(session, asset, status=AssetStatus.UPDATING, failure=None)
        return terms_of(asset), written["on_chain"]


async def _settle(run: Run, **values: str | None) -> None:
    """Finish an update. If another one waits, the asset keeps its status, and that one finishes it."""
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, run.subject_id, lock=True)
        is_last = asset.request_id == run.request_id or run.attempt > 1
        status = AssetStatus.ACTIVE if is_last and asset.status is AssetStatus.UPDATING else asset.status
        action = "asset.failed" if values.get("failure") else "asset.updated"
        await states.change(session, asset, action, status=status, **values)


async def _set_active(run: Run) -> None:
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, run.subject_id, lock=True)
        if asset.status is AssetStatus.DEPLOYING:
            await states.change(session, asset, status=AssetStatus.ACTIVE, failure=None)
