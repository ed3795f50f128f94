"""What services read back from a chain and write, read back again: terms of markets, rules of tokens, attestations and
attesters."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets.models import DeploymentRow
from backend.attestations import states
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.chain import market, registry, token
from backend.chain.codec import organization_key
from backend.chain.deployment import contract_address
from backend.chain.market import MarketInfo
from backend.chain.rpc import connect
from backend.issuers.models import IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.markets.models import MarketRow
from backend.reconciliation.differences import Difference

FOUND_REVOKED = "Found revoked on the chain."


async def rules(eid: int, addresses: Sequence[str]) -> None:
    """Write the rules that are in force in each token."""
    rpc = await connect(eid)
    for address in addresses:
        if not await rpc.has_code(address):
            continue
        told = (await token.rules(eid, address)).as_dict()
        here = sa.update(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address) == address
        )
        async with db.worker() as session:
            await session.execute(here.values(applied_rules=told))


async def tokens_of(eid: int, addresses: Sequence[str]) -> list[str]:
    """The tokens that some markets trade."""
    found = sa.select(col(MarketRow.rwa_token_address)).where(
        col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).in_(addresses)
    )
    async with db.worker() as session:
        return sorted({str(address) for address in await session.scalars(found)})


async def markets(eid: int, addresses: Sequence[str]) -> None:
    """Write what each market's contract was deployed with."""
    rpc = await connect(eid)
    for address in addresses:
        if not await rpc.has_code(address):
            continue
        told = await market.info(eid, address)
        here = sa.update(MarketRow).where(col(MarketRow.chain_eid) == eid, col(MarketRow.market_address) == address)
        async with db.worker() as session:
            await session.execute(here.values(**_terms(told)))


def _terms(told: MarketInfo) -> dict[str, object]:
    facts = asdict(told.rules) | {"blocked_countries": list(told.rules.blocked_countries)}
    return {
        "rwa_token_address": told.token,
        "quote_token_address": told.quote,
        "taker_fee_bps": told.taker_fee_bps,
        "maker_fee_bps": told.maker_fee_bps,
        **facts,
    }


async def attesters(eid: int, differences: Sequence[Difference]) -> None:
    """Note that a wallet which the registry does not let attest for its organization is not registered."""
    at = await contract_address(eid, "registry")
    for address in sorted({difference.subject for difference in differences}) if at else ():
        told = await registry.attester(eid, str(at), address)
        async with db.worker() as session:
            query = sa.select(IssuerWalletRow).filter_by(chain_eid=eid, address=address)
            for row in await session.scalars(query.with_for_update()):
                if not told.active or told.organization_key != "0x" + organization_key(row.organization_id).hex():
                    row.status = IssuerStatus.FAILED


async def attestations(eid: int, differences: Sequence[Difference]) -> None:
    """Write what the registry says of each attestation. One that it does not have stays as it is."""
    at = await contract_address(eid, "registry")
    for row_id in sorted({difference.subject for difference in differences}) if at else ():
        async with db.worker() as session:
            row = await session.get_one(AttestationRow, UUID(row_id))
        told = await registry.attestation(eid, str(at), str(row.uid))
        if told.exists and told.subject == row.wallet_address:
            await _write(row.id, told)


async def _write(row_id: UUID, told: registry.Attestation) -> None:
    async with db.worker() as session:
        row = await session.get_one(AttestationRow, row_id, with_for_update=True)
        ends = datetime.fromtimestamp(told.expires_at, UTC) if told.expires_at else None
        row.kyc_level, row.country, row.accredited, row.expires_at = told.level, told.country, told.accredited, ends
        if told.revoked_at and row.status is not AttestationStatus.REVOKED:
            await states.change(session, row, status=AttestationStatus.REVOKED, revocation_reason=FOUND_REVOKED)
        elif told.is_valid and row.status is not AttestationStatus.ACTIVE:
            await states.change(session, row, status=AttestationStatus.ACTIVE, revocation_reason=None)
