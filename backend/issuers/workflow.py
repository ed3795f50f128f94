"""What the agents do for issuers: `addAttester` on each chain, and the hierarchy after a move."""

from backend.chain import registry
from backend.chain.codec import organization_key
from backend.chain.deployment import contracts_of, operator
from backend.chain.transactions import execute
from backend.chains import service as chains
from backend.errors import Conflict, SignumError
from backend.issuers import lineage, service
from backend.issuers.models import IssuerRow
from backend.issuers.schemas import IssuerStatus
from backend.wallets.models import WalletRow
from backend.workflows import Run, StepNotes, workflow


async def _failed(run: Run, error: SignumError) -> None:
    async with run.transaction() as session:
        await service.fail_pending(session, run.organization_id, run.arguments["chains"])


@workflow("issuer.register", on_failure=_failed)
async def register(run: Run) -> None:
    """Each chain on its own: one that does not answer keeps no other from being registered."""
    problems = []
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
    """Lineage, attester, and both read back before the row says so."""
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
    """Whether the chain has the attester for this organization with these terms."""
    told = await registry.attester(eid, at, address)
    is_ours = int(told.organization_key, 16) == int.from_bytes(organization_key(run.organization_id))
    return told.active and is_ours and (told.name, told.max_kyc_level, told.can_revoke_others) == terms


@workflow("organization.lineage")
async def follow_move(run: Run) -> None:
    """After a move: the new path above the organization, on every chain that knows it. The subject is who moved."""
    async with run.step("lineage") as step:
        async with run.transaction() as session:
            places = [eid for eid, found in (await chains.contracts(session)).items() if "registry" in found]
        problems = [p for eid in sorted(places) if (p := await _follow_on(run, eid, step))]
        if problems:
            raise problems[0]
        step.detail = "The chains have the new hierarchy"


async def _follow_on(run: Run, eid: int, step: StepNotes) -> SignumError | None:
    """One chain; what went wrong is returned, so that the other chains follow all the same."""
    try:
        if await lineage.is_known(eid, run.subject_id):
            step.tx_hash = await lineage.write(run, eid, run.subject_id) or step.tx_hash
    except SignumError as error:
        return error
    return None
