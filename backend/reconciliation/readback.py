"""Repairs of values that services read back from a chain: terms of markets, rules of tokens, attestations and
attesters."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import DeploymentRow
from backend.attestations import states
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.chain.abi.codec import organization_key
from backend.chain.bindings import market, registry, token
from backend.chain.bindings.market import MarketInfo
from backend.chain.deployment.contracts import contract_address
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.issuers.models import IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.markets.models import MarketRow
from backend.reconciliation.differences import Difference

FOUND_REVOKED = "Found revoked on the chain."


async def rules(eid: int, addresses: Sequence[str]) -> None:
    """Write the current rules of each token."""
    rpc = await connect(eid)
    for address in addresses:
        if not await rpc.has_code(address):
            continue
        on_chain = (await token.rules(eid, address)).as_dict()
        here = sa.update(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address) == address
        )
        async with db.worker() as session:
            await session.execute(here.values(applied_rules=on_chain))


async def tokens_of(eid: int, addresses: Sequence[str]) -> list[str]:
    """Return the tokens that some markets trade."""
    found = sa.select(col(MarketRow.rwa_token_address)).where(
        col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).in_(addresses)
    )
    async with db.worker() as session:
        return sorted({str(address) for address in await session.scalars(found)})


async def markets(eid: int, addresses: Sequence[str]) -> None:
    """Write the terms each market's contract was deployed with."""
    rpc = await connect(eid)
    for address in addresses:
        if not await rpc.has_code(address):
            continue
        on_chain = await market.info(eid, address)
        here = sa.update(MarketRow).where(col(MarketRow.chain_eid) == eid, col(MarketRow.market_address) == address)
        async with db.worker() as session:
            await session.execute(here.values(**_terms(on_chain)))


def _terms(on_chain: MarketInfo) -> dict[str, object]:
    facts = asdict(on_chain.rules) | {"blocked_countries": list(on_chain.rules.blocked_countries)}
    return {
        "rwa_token_address": on_chain.token,
        "quote_token_address": on_chain.quote,
        "taker_fee_bps": on_chain.taker_fee_bps,
        "maker_fee_bps": on_chain.maker_fee_bps,
        **facts,
    }


async def attesters(eid: int, differences: Sequence[Difference]) -> None:
    """Mark a wallet as not registered if the registry does not let it attest for its organization."""
    at = await contract_address(eid, "registry")
    for address in sorted({difference.subject for difference in differences}) if at else ():
        on_chain = await registry.attester(eid, str(at), address)
        async with db.worker() as session:
            query = sa.select(IssuerWalletRow).filter_by(chain_eid=eid, address=address)
            for row in await session.scalars(query.with_for_update()):
                if (
                    not on_chain.active
                    or on_chain.organization_key != "0x" + organization_key(row.organization_id).hex()
                ):
                    row.status = IssuerStatus.FAILED


async def attestations(eid: int, differences: Sequence[Difference]) -> None:
    """Write the registry's state of each attestation. One that it does not have stays unchanged."""
    at = await contract_address(eid, "registry")
    for row_id in sorted({difference.subject for difference in differences}) if at else ():
        async with db.worker() as session:
            row = await session.get_one(AttestationRow, UUID(row_id))
        on_chain = await registry.attestation(eid, str(at), str(row.uid))
        if on_chain.exists and on_chain.subject == row.wallet_address:
            await _write(row.id, on_chain)


async def _write(row_id: UUID, on_chain: registry.Attestation) -> None:
    async with db.worker() as session:
        row = await session.get_one(AttestationRow, row_id, with_for_update=True)
        ends = datetime.fromtimestamp(on_chain.expires_at, UTC) if on_chain.expires_at else None
        row.kyc_level, row.country, row.accredited, row.expires_at = (
            on_chain.level,
            on_chain.country,
            on_chain.accredited,
            ends,
        )
        if on_chain.revoked_at and row.status is not AttestationStatus.REVOKED:
            await states.change(session, row, status=AttestationStatus.REVOKED, revocation_reason=FOUND_REVOKED)
        elif on_chain.is_valid and row.status is not AttestationStatus.ACTIVE:
            await states.change(session, row, status=AttestationStatus.ACTIVE, revocation_reason=None)
