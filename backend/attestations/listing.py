"""Read attestations with their party and their state on chain."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.attestations import rules
from backend.attestations.models import EXPIRY, AttestationRow
from backend.attestations.schemas import (
    REVOKE,
    Attestation,
    AttestationDetail,
    AttestationList,
    AttestationParty,
    AttestationProof,
    AttestationRead,
    AttestationStatus,
)
from backend.auth.principal import Context
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.models import finality_of
from backend.core import db
from backend.core.errors import NotFound, SignumError
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.parties.service import PARTIES
from backend.requests.waiting import awaits_approval

TABLE = sa.inspect(AttestationRow).local_table
LIST = Listing.of(
    TABLE.c,
    "created_at",
    "updated_at",
    names=(PARTIES.c.name, PARTIES.c.email),
    codes=(TABLE.c.uid, TABLE.c.tx_hash, TABLE.c.wallet_address, TABLE.c.party_id),
    expires_at=sa.literal_column(EXPIRY.text.replace("expires_at", "attestations.expires_at"), TABLE.c.expires_at.type),
)
TIMEOUT = 4.0
"""Seconds that a chain has to prove an attestation."""
_NOW = sa.bindparam("chain_now", callable_=clock.chain_now, type_=sa.DateTime(timezone=True))
_LAPSED = sa.and_(TABLE.c.status == AttestationStatus.ACTIVE, TABLE.c.expires_at <= _NOW)
STATUS = sa.case(
    (_LAPSED, sa.literal(AttestationStatus.EXPIRED, type_=TABLE.c.status.type)), else_=TABLE.c.status
).label("status")
"""An active attestation past its expiry has expired, even before the sweep marks it."""

REVOKER = f"""
  (select coalesce(u.display_name, u.email) from requests r join users u on u.id = r.created_by
   where r.subject_id = attestations.id and r.kind = '{REVOKE}' and r.status not in ('failed', 'denied')
   order by r.created_at desc limit 1)
"""  # noqa: S608 - a constant
"""The name of the person who asked for a revocation; null for an API key, and for an organization above."""
_LABEL = """
  (select w.label from wallets w
   where w.organization_id = attestations.organization_id and w.address = attestations.wallet_address limit 1)
"""


async def page(
    context: Context, page: Page, status: AttestationStatus | None, party_id: UUID | None, expiring_days: int | None
) -> AttestationList:
    """Return a page of the organization's attestations."""
    query = where_given(_query(context), (STATUS.element, status), (TABLE.c.party_id, party_id))
    if status is not None:  # with an index; a lapsed one is still stored as active
        stored = [status, *([AttestationStatus.ACTIVE] if status is AttestationStatus.EXPIRED else [])]
        query = query.where(TABLE.c.status.in_(stored))
    if expiring_days is not None:
        until = clock.chain_now() + timedelta(days=expiring_days)
        query = query.where(STATUS.element == AttestationStatus.ACTIVE, TABLE.c.expires_at <= until)
    shown, paging = await page.read(context.session, query)
    return AttestationList(attestations=[_record(r) for r in shown], **paging)


async def one(context: Context, attestation_id: UUID) -> AttestationDetail:
    """Return an attestation with its proof; 404 if it does not belong to this organization."""
    row = (await context.session.execute(_query(context).where(TABLE.c.id == attestation_id))).one_or_none()
    if row is None:
        raise NotFound("There is no attestation with this ID in this organization.")
    record = _record(row)
    async with db.paused(context.session):
        return await _detailed(record)


async def of_holders(context: Context, asset_id: UUID, page: Page) -> tuple[list[AttestationDetail], str | None]:
    """Return a page of the organization's attestations of accounts that have received an asset, on the chains where
    they did, each with its current state on chain; and the next page's cursor."""
    received = sa.text(
        "exists (select from token_transfers t where t.asset_id = :asset and t.chain_eid = attestations.chain_eid "
        "and t.to_address = attestations.wallet_address)"
    ).bindparams(asset=asset_id)
    query = _query(context).where(received)
    shown, paging = await page.read(context.session, query)
    async with db.paused(context.session):
        return list(await asyncio.gather(*(_detailed(_record(row)) for row in shown))), paging["nextCursor"]


async def _detailed(record: AttestationRead) -> AttestationDetail:
    return AttestationDetail(**record.model_dump(), proof=await _proof(record))


def _query(context: Context) -> sa.Select[Any]:
    columns = [c for c in TABLE.c if c.name != "status"]
    party = [PARTIES.c.name.label("party_name"), PARTIES.c.email.label("party_email")]
    texts = [
        sa.literal_column(REVOKER, sa.Text()).label("revoked_by_name"),
        sa.literal_column(_LABEL, sa.Text()).label("wallet_label"),
    ]
    return (
        sa.select(
            *columns, STATUS, *party, *texts, finality_of(TABLE.c.chain_eid, TABLE.c.tx_hash), awaits_approval(TABLE)
        )
        .join(PARTIES, PARTIES.c.id == TABLE.c.party_id)
        .where(TABLE.c.organization_id == context.organization_id)
    )


def _record(row: Any) -> AttestationRead:
    values = dict(row._mapping)
    party = AttestationParty(id=row.party_id, name=values.pop("party_name"), email=values.pop("party_email"))
    return AttestationRead(**values, schema_=values["schema_name"], party=party)


async def _proof(record: Attestation) -> AttestationProof | None:
    """Return the chain's state; None if it has no attestation yet or does not answer."""
    if record.uid is None:
        return None
    try:
        async with asyncio.timeout(TIMEOUT):
            at = (await contracts_of(record.chain_eid)).registry
            found = await registry.attestation(record.chain_eid, at, record.uid)
    except (SignumError, TimeoutError):
        return None
    return _compared(record, at, found) if found.exists else None


def _compared(record: Attestation, at: str, found: registry.Attestation) -> AttestationProof:
    ends = datetime.fromtimestamp(found.expires_at, UTC) if found.expires_at else None
    has_lapsed = ends is not None and ends <= clock.chain_now()
    return AttestationProof(
        chain_eid=record.chain_eid,
        registry_address=at,
        attester=found.attester,
        is_valid=found.is_valid,
        kyc_level=found.level,
        accredited=found.accredited,
        country=found.country,
        expires_at=ends,
        revoked=found.revoked_at > 0,
        block_number=found.block_number,
        agrees=rules.agrees(record.status, is_same(record, found), found.is_valid, has_lapsed),
    )


def is_same(record: Attestation | AttestationRow, found: registry.Attestation) -> bool:
    """Return whether the chain's attestation matches the record."""
    ends = rules.seconds(record.expires_at)
    said = (record.wallet_address, record.kyc_level, record.country, record.accredited, ends)
    return said == (found.subject, found.level, found.country, found.accredited, found.expires_at)
