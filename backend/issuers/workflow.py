"""Agent workflows of issuers: `addAttester` on each chain, and the hierarchy after a move."""

from backend.chain.abi.codec import organization_key
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.transactions.execution import execute
from backend.chains import service as chains
from backend.core.errors import Conflict, SignumError
from backend.issuers import lineage, service
from backend.issuers.models import IssuerRow
from backend.issuers.schemas import IssuerStatus
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow
from backend.wallets.models import WalletRow


async def _failed(run: Run, error: SignumError) -> None:
    async with run.transaction() as session:
        await service.fail_pending(session, run.organization_id, run.arguments["chains"])


@workflow("issuer.register", on_failure=_failed)
async def register(run: Run) -> None:
    """Register on each chain independently: a chain that does not answer does not block the others."""
    problems = []
    async with run.transaction() as session:
        await service.apply(session, run.request_id)
    for eid in run.arguments["chains"]:
        try:
            await _register_on(run, eid)
        except SignumError as error:
            problems.append(error)
            async with run.transaction() as session:
                await service.note(session, run.organization_id, eid, IssuerStatus.FAILED, None)
    if problems:
        raise problems[0]


async def _register_on(run: Run, eid: int) -> None:
    """Write lineage and attester, and read both back before the row is confirmed."""
    async with run.step(f"register:{eid}") as step:
        async with run.transaction() as session:
            issuer = await session.get_one(IssuerRow, run.subject_id)
            wallet = await session.get_one(WalletRow, issuer.wallet_id)
        await lineage.write(run, eid, run.organization_id)
        at = (await contracts_of(eid)).registry
        terms = (issuer.name, issuer.max_kyc_level, issuer.can_revoke_others)
        if not await _stands(run, eid, at, wallet.address, terms):
            call = registry.add_attester(at, wallet.address, run.organization_id, *terms)
            intent = call.intent(
                run.key("attester", eid, *terms),
                eid=eid,
                signer=await operator(),
                organization_id=run.organization_id,
                request_id=run.request_id,
                label="add attester",
            )
            step.tx_hash = (await execute(intent)).tx_hash
        if not await _stands(run, eid, at, wallet.address, terms):
            raise Conflict("The registry does not show the attester as it was added.")
        step.detail = f"{wallet.address} attests up to level {issuer.max_kyc_level}"
        async with run.transaction() as session:
            await service.note(session, run.organization_id, eid, IssuerStatus.REGISTERED, step.tx_hash)


async def _stands(run: Run, eid: int, at: str, address: str, terms: tuple[str, int, bool]) -> bool:
    """Return whether the chain has the attester for this organization with these terms."""
    response = await registry.attester(eid, at, address)
    is_ours = int(response.organization_key, 16) == int.from_bytes(organization_key(run.organization_id))
    return response.active and is_ours and (response.name, response.max_kyc_level, response.can_revoke_others) == terms


@workflow("organization.lineage")
async def follow_move(run: Run) -> None:
    """After a move, write the new path above the organization on every chain that knows it. The subject is the person
    who moved it."""
    async with run.step("lineage") as step:
        async with run.transaction() as session:
            places = [eid for eid, found in (await chains.contracts(session)).items() if "registry" in found]
        problems = [p for eid in sorted(places) if (p := await _follow_on(run, eid, step))]
        if problems:
            raise problems[0]
        step.detail = "The chains have the new hierarchy"


async def _follow_on(run: Run, eid: int, step: StepNotes) -> SignumError | None:
    """Update one chain; return its error, so that the other chains are still updated."""
    try:
        if await lineage.is_known(eid, run.subject_id):
            step.tx_hash = await lineage.write(run, eid, run.subject_id) or step.tx_hash
    except SignumError as error:
        return error
    return None
