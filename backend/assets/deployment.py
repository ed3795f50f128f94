"""Deployment of an asset's token: its contract, and its rules read back. Shared by assets and bridges."""

from uuid import UUID

from backend.assets import records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import Deployment, DeploymentStatus
from backend.assets.transaction_step import write
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.indexer import indexer
from backend.chain.models import TransactionStatus
from backend.chain.transactions.execution import find
from backend.core.changes import publish, shown
from backend.core.errors import Conflict
from backend.issuers import lineage
from backend.requests.runs import Run, StepNotes
from backend.wallets import signing_wallets


async def begin(run: Run, asset_id: UUID, eid: int) -> DeploymentRow:
    """Return the asset's deployment on a chain, marked as deploying unless it is active."""
    async with run.transaction() as session:
        rows = await records.deployments(session, asset_id)
        row = next((r for r in rows if r.chain_eid == eid), None)
        if row is None:
            row = DeploymentRow(organization_id=run.organization_id, asset_id=asset_id, chain_eid=eid)
            session.add(row)
        elif row.status is DeploymentStatus.FAILED:
            row.status = DeploymentStatus.DEPLOYING
        return row


async def create_token(run: Run, step: StepNotes, asset_id: UUID, eid: int) -> DeploymentRow:
    """Deploy the asset's token on a chain, once. No account can hold it before its rules are set."""
    row = await begin(run, asset_id, eid)
    if row.token_address:
        step.tx_hash = row.tx_hash
        return row
    contracts = await contracts_of(eid)
    await lineage.write(run, eid, run.organization_id)
    async with run.transaction() as session:
        asset: AssetRow = await records.asset(session, run.organization_id, asset_id)
        wallet = await signing_wallets.treasury(session, run.organization_id)
    call = token.deploy(
        name=asset.name,
        symbol=asset.symbol,
        decimals=asset.decimals,
        organization_id=run.organization_id,
        registry=contracts.registry,
        endpoint=contracts.endpoint,
        owner=wallet.address,
        treasury=wallet.address,
    )
    outcome = await write(run, step, call, "token", eid=eid, signer=wallet.address, label=f"deploy {asset.symbol}")
    return await _note(run, row.id, outcome.created, outcome.tx_hash, outcome.block_number)


async def _note(run: Run, deployment_id: UUID, address: str, tx_hash: str, block_number: int) -> DeploymentRow:
    async with run.transaction() as session:
        row: DeploymentRow = await session.get_one(DeploymentRow, deployment_id)
        row.token_address, row.tx_hash, row.block_number = address, tx_hash, block_number
        return row


async def set_rules(run: Run, step: StepNotes, row: DeploymentRow, rules: TokenRules, key: str) -> bool:
    """Set rules on a token, as its owner, and read them back; return False if they were already set."""
    assert row.token_address is not None
    eid, at = row.chain_eid, row.token_address
    before = await find(run.key(key, eid))
    if await token.rules_version(eid, at) > 0 and await token.rules(eid, at) == rules:
        step.tx_hash = before.tx_hash if before else None
        await applied(run, row.id, rules)
        return False
    if before is not None and before.status is TransactionStatus.CONFIRMED:
        key = f"{key}.{run.attempt}"  # sent in an earlier attempt, and replaced since
    owner = await token.owner(eid, at)
    await write(run, step, token.set_rules(at, rules), key, eid=eid, signer=owner, label="set rules")
    if await token.rules(eid, at) != rules:
        raise Conflict(
            "The rules on chain differ from those that were sent, because of another change. Send the update again."
        )
    await applied(run, row.id, rules)
    return True


async def applied(run: Run, deployment_id: UUID, rules: TokenRules) -> None:
    """Record what a chain has confirmed."""
    async with run.transaction() as session:
        row: DeploymentRow = await session.get_one(DeploymentRow, deployment_id)
        row.applied_rules = rules.as_dict()


async def activate(run: Run, deployment_id: UUID, *, block_number: int) -> DeploymentRow:
    """Read the supply back and mark a token as active; its holders are in the tables when this returns."""
    async with run.transaction() as session:
        row: DeploymentRow = await session.get_one(DeploymentRow, deployment_id)
    assert row.token_address is not None
    supply = await token.total_supply(row.chain_eid, row.token_address)
    async with run.transaction() as session:
        row = await session.get_one(DeploymentRow, deployment_id)
        was, row.status, row.supply = row.status, DeploymentStatus.ACTIVE, supply
        if was is not DeploymentStatus.ACTIVE:
            answer = shown(Deployment, row)
            await publish(session, row.organization_id, "asset.deployed", ("asset", row.asset_id), None, answer)
    await indexer.catch_up(row.chain_eid, block_number)
    return row


async def failed(run: Run, asset_id: UUID, eid: int) -> None:
    """Mark a failed deployment; the next attempt uses its contract, if there is one."""
    async with run.transaction() as session:
        for row in await records.deployments(session, asset_id):
            if row.chain_eid == eid and row.status is DeploymentStatus.DEPLOYING:
                row.status = DeploymentStatus.FAILED
